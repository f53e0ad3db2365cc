"""The triggers of rules: what they state is what the prefilter waits for, and no fixture is held back by it."""

from __future__ import annotations

import io
import re
import subprocess
import sys
import tokenize
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pytest

from tests.checkout import ROOT
from tests.fixture_files import FIXTURES, fixture_paths, read_text, strip_markers
from tests.for_each import for_each_file
from tfmemlint.facts.line_groups import required_words
from tfmemlint.facts.line_search import LineSearch
from tfmemlint.facts.prefilter import CONFIGURES, MATTERS, NAMES_GPU, about_tensorflow
from tfmemlint.knowledge import configuring, environment, names, purposes
from tfmemlint.knowledge.environment import Moment
from tfmemlint.rulekit import triggers
from tfmemlint.rulekit.rule import Rule, rules

RULES = {rule.code: rule for rule in rules()}
READ_IN_COMMENTS = {"TFM208", "TFM704", "TFM903", "TFM904", "TFM905"}
"""Rules about comments, of whose fixtures the comments are not taken out."""
OF_THE_RUN = {"TFM900", "TFM901", "TFM902"}
"""Rules that report what the run comes across; no file is read for them unless they are selected."""
_SETTINGS = ("settings", "texts")


def bare(text: str) -> str:
    """A program without its comments and without strings that are statements, such as docstrings."""
    lines = text.split("\n")
    alone = True
    try:
        for token in tokenize.generate_tokens(io.StringIO(text).readline):
            if token.type == tokenize.COMMENT or (token.type == tokenize.STRING and alone):
                _blank(lines, token)
            elif token.type not in (tokenize.NL, tokenize.INDENT, tokenize.DEDENT, tokenize.ENCODING):
                alone = token.type == tokenize.NEWLINE
    except (tokenize.TokenError, SyntaxError):
        return text
    return "\n".join(lines)


def _blank(lines: list[str], token: tokenize.TokenInfo) -> None:
    (row, column), (end_row, end_column) = token.start, token.end
    if row == end_row:
        lines[row - 1] = lines[row - 1][:column] + " " * (end_column - column) + lines[row - 1][end_column:]
        return
    lines[row - 1] = lines[row - 1][:column]
    lines[row : end_row - 1] = [""] * (end_row - row - 1)
    lines[end_row - 1] = " " * end_column + lines[end_row - 1][end_column:]


def expected_of(path: Path) -> Iterator[tuple[str, bytes]]:
    """The codes that a fixture expects, each with the bytes of the fixture without what the rule does not look at."""
    try:
        text, expected, _ = strip_markers(read_text(path))
    except (UnicodeDecodeError, SyntaxError):
        return
    python = path.suffix == ".py"
    for code in sorted({code for codes in expected.values() for code in codes}):
        shown = bare(text) if python and code not in READ_IN_COMMENTS else text
        yield code, shown.encode("utf-8", "surrogatepass")


@for_each_file(fixture_paths("bad"))
def test_a_rule_states_the_triggers_of_what_it_finds(path: Path) -> None:
    for code, data in expected_of(path):
        rule = RULES[code]
        assert rule.triggers is not None
        if rule.any_tensorflow_file:
            assert about_tensorflow(data)
        else:
            # A name that is put together while the program runs is in a file that other rules have read.
            put_together = b"getattr(" in data and triggers.scan(data) & MATTERS
            assert LineSearch.of(rule.triggers)(data) or put_together, f"none of the triggers of {code} is in it"


@for_each_file(fixture_paths("bad"))
def test_a_bad_file_is_read(path: Path) -> None:
    for code, data in expected_of(path):
        selected = RULES[code].any_tensorflow_file or RULES[code].any_file
        assert triggers.scan(data) & MATTERS or selected, f"without its comments it is not read for {code}"


def _program(path: Path) -> Path:
    return next(parent for parent in path.parents if parent.parent.name == "programs")


FILES_OF_PROGRAMS = sorted(path for path in (FIXTURES / "programs").glob("bad_*/**/*.py"))
FILES_OF_SETTINGS = sorted(path for path in (FIXTURES / "settings").glob("TFM*/bad_*") if ".fixed." not in path.name)


@for_each_file(FILES_OF_PROGRAMS, lambda path: "programs")
def test_a_file_of_a_bad_program_is_read(path: Path) -> None:
    for code, data in expected_of(path):
        found = triggers.scan(data)
        # A file without a trigger is read as a part of the program that configures something elsewhere.
        whole = b"\n".join(other.read_bytes() for other in sorted(_program(path).rglob("*.py")))
        whole_program = RULES[code].whole_program and triggers.scan(whole) & CONFIGURES
        assert found & (MATTERS | NAMES_GPU) or whole_program or RULES[code].any_file


@for_each_file(FILES_OF_SETTINGS)
def test_a_bad_configuration_file_is_read(path: Path) -> None:
    for code, data in expected_of(path):
        without_comments = re.sub(rb"(?m)^\s*#(?!SBATCH).*$", b"", data)
        assert triggers.scan_document(without_comments) & MATTERS
        if code not in OF_THE_RUN:
            assert LineSearch.of(RULES[code].triggers or ())(without_comments)


def test_every_rule_of_the_tool_states_its_triggers() -> None:
    for rule in RULES.values():
        assert rule.triggers is not None, f"{rule.code} states no triggers: every file about TensorFlow would be read"
        assert rule.triggers or rule.any_tensorflow_file or rule.code in OF_THE_RUN
        for pattern in (*rule.triggers, *rule.launch_triggers):
            assert required_words(pattern), f"{pattern!r} of {rule.code} has no word to look for"


def test_the_index_of_the_search_is_what_the_rules_state() -> None:
    done = subprocess.run(
        [sys.executable, "tools/make_search_index.py", "--check"], cwd=ROOT, capture_output=True, text=True
    )
    assert (done.returncode, done.stderr) == (0, "")


def test_the_rules_are_not_imported_to_know_their_triggers() -> None:
    script = (
        "import sys; from tfmemlint.rulekit.triggers import scan; scan(b'import tensorflow as tf\\ntf.config.x')\n"
        "print([name for name in sys.modules if name.startswith('tfmemlint.rules.')])"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


class _Silent(Rule):
    """A rule of another package that states no triggers."""

    code = "XYZ001"
    name = "xyz"


def test_a_rule_without_triggers_makes_every_tensorflow_file_be_read(monkeypatch: pytest.MonkeyPatch) -> None:
    data = b"import tensorflow as tf\nprint(tf.zeros([2]))\n"
    assert not triggers.scan(data) & MATTERS
    module = ModuleType("theirs")
    monkeypatch.setattr(_Silent, "__module__", "theirs")
    monkeypatch.setattr(_Silent, "__abstractmethods__", frozenset())
    vars(module)["_Silent"] = _Silent
    monkeypatch.setattr("tfmemlint.rulekit.other_packages.modules_of_others", lambda: (module,))
    triggers.triggers_of_others.cache_clear()
    triggers.prefilter.cache_clear()
    try:
        assert triggers.scan(data) & MATTERS
        assert not triggers.scan(b"import numpy as np\n") & MATTERS
    finally:
        triggers.triggers_of_others.cache_clear()
        triggers.prefilter.cache_clear()


def test_a_rule_of_another_package_is_heard_by_its_triggers(monkeypatch: pytest.MonkeyPatch) -> None:
    module = ModuleType("theirs")
    monkeypatch.setattr(_Silent, "__module__", "theirs")
    monkeypatch.setattr(_Silent, "__abstractmethods__", frozenset())
    monkeypatch.setattr(_Silent, "triggers", (r"\bfrobnicate\(",))
    vars(module)["_Silent"] = _Silent
    before = triggers.digest()
    monkeypatch.setattr("tfmemlint.rulekit.other_packages.modules_of_others", lambda: (module,))
    triggers.triggers_of_others.cache_clear()
    triggers.prefilter.cache_clear()
    try:
        assert triggers.scan(b"import tensorflow as tf\nfrobnicate(tf)\n") & MATTERS
        assert not triggers.scan(b"import tensorflow as tf\nfrob(tf)\n") & MATTERS
        assert triggers.digest() != before, "answers that were kept are of other triggers"
    finally:
        triggers.triggers_of_others.cache_clear()
        triggers.prefilter.cache_clear()


def test_the_words_of_configuring_are_those_that_can_come_too_late() -> None:
    for variable in configuring.VARIABLES:
        assert environment.read_at(variable) in (Moment.LISTING, Moment.DEVICES)
    for word in configuring.MADE_UP:
        name = f"tf.config.experimental.{word}"
        assert not names.ever_existed(name)
        assert purposes.purpose_of(name) is not None


@pytest.mark.parametrize(
    ("pattern", "words"),
    [
        ("memory_growth", {"memory_growth"}),
        (r"\bSession\(", {"Session("}),
        (r"(?:logical|virtual)_device", {"_device"}),
        (r"(?i:gpu:[1-9])", {"gpu:"}),
        (r"(?:TF_|CUDA_)\w*(?:GROW|MEM|FRACTION)", {"TF_", "CUDA_"}),
        (r"\w+", set()),
        (r"(?:memory)?", set()),
        (r"[Mm]emory|gpu", {"emory", "gpu"}),
    ],
)
def test_the_words_that_a_pattern_needs(pattern: str, words: set[str]) -> None:
    assert {word.text for word in required_words(pattern)} == words


@pytest.mark.parametrize(
    ("pattern", "words"),
    [
        ("(?i:Gpu)", {("gpu", True)}),
        ("(?i)Gpu", {("gpu", True)}),
        ("(?i:a(?-i:Gpu_Memory))", {("Gpu_Memory", False)}),
        ("(?i:(?s:Gpu))", {("gpu", True)}),
        ("(?s:Gpu)", {("Gpu", False)}),
    ],
)
def test_the_case_of_words_counts_as_it_does_in_the_pattern(pattern: str, words: set[tuple[str, bool]]) -> None:
    assert {(word.text, word.any_case) for word in required_words(pattern)} == words


@pytest.mark.parametrize(
    ("patterns", "text", "found"),
    [
        (["memory_growth"], b"x\nset_memory_growth(gpu)\n", True),
        (["memory_growth"], b"memory\ngrowth\n", False),
        ([r"(?i:gpu:[1-9])"], b"with tf.device('/Gpu:2'):", True),
        ([r"(?i:gpu:[1-9])"], b"with tf.device('/gpu:0'):", False),
        ([r"\w{40}"], b"a" * 40, True),
        (["memory_limit", "memory_info", "get_memory"], b"memory_inf\n...memory_info", True),
        ([], b"anything", False),
        (["a.b"], b"a\nb", False),
    ],
)
def test_lines_are_searched(patterns: list[str], text: bytes, found: bool) -> None:
    assert LineSearch.of(patterns)(text) is found
