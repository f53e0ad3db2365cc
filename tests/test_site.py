"""The pages of the site: links lead somewhere, examples and commands do what the page says, and Sphinx builds them."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

import pytest
import yaml

from tests.checkout import ROOT
from tools.make_zh_blocks import differences
from tools.site.pages import DOCS, anchors, links, sections

pytestmark = pytest.mark.slow

PAGES = sorted(
    [ROOT / "README.md", ROOT / "README.zh.md", ROOT / "CONTRIBUTING.md", *DOCS.rglob("*.md")],
    key=lambda path: path.relative_to(ROOT).as_posix(),
)
EXAMPLES = ("index", "errors", "gpu-memory", "from-tf1", "ci", "how-it-works", "formats", "editors")
GUIDES = [ROOT / "README.zh.md", *(DOCS / f"{name}.md" for name in EXAMPLES)]
"""Pages whose examples and commands are run here; those of the others are run by the tests of what they are about, and
the Chinese pages have the blocks of the English ones."""
GENERATED = ("make_errors.py", "make_diagrams.py", "make_examples.py", "make_tf1.py", "make_zh_blocks.py")
NOT_RUN = (
    "docker ",
    "pip install",
    "git clone",
    "python3 tools/run.py",
    "cd ",
    "tfmemlint verify",
    "tfmemlint fit",
    "pre-commit",
)
"""Beginnings of commands that other tests run, or that need a network or TensorFlow."""
EDITED = "train.py"

_BLOCK = re.compile(
    r"(?P<marks>(?:<!-- [^>]*-->\n)*)^(?P<fence>`{3,})(?P<language>[\w-]+)\n(?P<text>.*?)^(?P=fence)$",
    re.MULTILINE | re.DOTALL,
)

each_page = pytest.mark.parametrize("path", PAGES, ids=lambda path: path.relative_to(ROOT).as_posix())
each_guide = pytest.mark.parametrize("path", GUIDES, ids=lambda path: path.relative_to(ROOT).as_posix())


def _blocks(path: Path, language: str) -> Iterator[tuple[str, str]]:
    """Yield the blocks of a language, each with the comments above it."""
    for match in _BLOCK.finditer(path.read_text(encoding="utf-8")):
        if match["language"] == language:
            yield match["marks"], match["text"]


def _commands(path: Path) -> list[str]:
    """Return the commands in the console blocks of a page, and in the scripts of its workflows."""
    lines = [line for _, text in _blocks(path, "console") for line in text.splitlines()]
    for _, text in _blocks(path, "yaml"):
        lines += re.findall(r"^\s*- (?:run: )?((?:tfmemlint|pip) .*)$", text, re.MULTILINE)
    return [line.removeprefix("$ ").partition("  #")[0].partition(" #")[0].strip() for line in lines]


@each_page
def test_links_lead_somewhere(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    wrong = []
    for target in links(text):
        name, _, anchor = target.partition("#")
        if "://" in target:
            continue
        file = Path(os.path.normpath(path.parent / name)) if name else path
        if not file.exists() or not file.is_relative_to(ROOT):
            wrong.append(f"{target}: no such file")
        elif anchor and file.suffix == ".md" and anchor not in anchors(file.read_text(encoding="utf-8")):
            wrong.append(f"{target}: no such heading")
    assert not wrong, "\n".join(wrong)


@each_guide
def test_an_example_is_found_if_the_page_says_so_and_only_then(path: Path, tmp_path: Path) -> None:
    files: dict[str, set[str]] = {}
    for number, (marks, text) in enumerate(_blocks(path, "python")):
        (tmp_path / f"example_{number}.py").write_text(text, encoding="utf-8")
        files[f"example_{number}.py"] = set(re.findall(r"TFM\d{3}", "".join(re.findall(r"<!-- found: .*? -->", marks))))
    if not files:
        return
    done = _tool(tmp_path, "check", "--no-cache", "--output-format", "concise", "--gpu-memory", "16GiB", *files)
    found: dict[str, set[str]] = {name: set() for name in files}
    for name, code in re.findall(r"^(\S+?):\d+:\d+: \w+: (TFM\d+)", done.stdout, re.MULTILINE):
        found[name].add(code)
    assert found == files, done.stdout + done.stderr


@each_guide
def test_a_fix_gives_what_the_page_shows(path: Path, tmp_path: Path) -> None:
    blocks = list(_blocks(path, "python"))
    for (_, before), (marks, after) in pairwise(blocks):
        if "<!-- fixed -->" in marks:
            file = tmp_path / EDITED
            file.write_text(before, encoding="utf-8")
            _tool(tmp_path, "fix", "--unsafe-fixes", "--gpu-memory", "16GiB", EDITED)
            assert file.read_text(encoding="utf-8") == after


@pytest.mark.slow
@each_guide
def test_commands_are_understood(path: Path, tmp_path: Path) -> None:
    for line in dict.fromkeys(_commands(path)):
        if not line or line.startswith(NOT_RUN):
            continue
        folder = tmp_path / "project"
        shutil.rmtree(folder, ignore_errors=True)
        shutil.copytree(ROOT / "fixtures" / "demo", folder)
        program, *arguments = shlex.split(line)
        assert program == "tfmemlint", f"this test cannot run {line!r}"
        done = _tool(folder, *arguments)
        assert done.returncode in (0, 1), f"{line}\n{done.stdout}{done.stderr}"
        assert not done.stderr.startswith("usage:"), f"{line}\n{done.stderr}"


@each_guide
def test_settings_in_a_page_can_be_read(path: Path) -> None:
    for _, text in _blocks(path, "yaml"):
        assert yaml.safe_load(text)


@pytest.mark.parametrize("path", sorted((DOCS / "zh").glob("*.md")), ids=lambda path: path.name)
def test_a_translated_page_has_only_blocks_of_the_english_one(path: Path) -> None:
    english = (DOCS / path.name).read_text(encoding="utf-8")
    assert differences(path.read_text(encoding="utf-8"), english) == []


def test_a_block_that_differs_by_more_than_a_comment_is_seen() -> None:
    english = "```console\ntfmemlint check .  # look\n```\n"
    same = "```console\ntfmemlint check --lang zh .  # 看\n```\n"
    other = same.replace("check", "fix")
    assert (differences(same, english), len(differences(other, english))) == ([], 1)


def test_the_index_lists_every_page() -> None:
    for index, language in ((DOCS / "index.md", ""), (DOCS / "zh" / "index.md", "zh/")):
        if not index.exists():
            continue
        listed = {name for _, pages in sections(index) for name in pages}
        there = {
            path.relative_to(index.parent).with_suffix("").as_posix()
            for path in index.parent.glob("*.md")
            if path.name != "index.md"
        }
        assert there <= listed, f"docs/{language}index.md leaves out {sorted(there - listed)}"


@pytest.mark.parametrize("script", GENERATED)
def test_what_is_generated_is_up_to_date(script: str) -> None:
    command = [sys.executable, f"tools/{script}", "--check"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, encoding="utf-8")
    assert done.returncode == 0, f"run: python tools/{script}\n{done.stdout}{done.stderr}"


def test_every_message_of_a_rule_was_measured() -> None:
    from tfmemlint.rulekit.rule import rules
    from tools.make_errors import messages, said

    seen = [text for message in messages().values() for text, (_, releases) in message.variants.items() if releases]
    claims = [
        match.groups()
        for path in (ROOT / "fixtures").rglob("*.py")
        for match in re.finditer(r"^# raises: (\w+): (.+)$", path.read_text(encoding="utf-8", errors="replace"), re.M)
    ]
    missing = [
        f"{rule.code}: {text}"
        for rule in rules()
        for text in said(rule)
        if not any(text.startswith(other) or other.startswith(text) for other in seen)
        and not any(text.startswith(kind) and part in text for kind, part in claims)
    ]
    assert not missing, "\n".join(missing)


@pytest.mark.parametrize("folder", [DOCS, DOCS / "zh"], ids=["English", "Chinese"])
def test_the_page_of_the_options_has_every_key(folder: Path) -> None:
    from tfmemlint.config.options import OPTIONS

    text = (folder / "options.md").read_text(encoding="utf-8")
    keys = set(re.findall(r"^\| `([a-z-]+)` \|", text, re.MULTILINE))
    assert {key for key in keys if not key.startswith("-")} == set(OPTIONS)


@pytest.mark.parametrize(
    "name",
    [
        "ci",
        "documents",
        "editors",
        "fit",
        "formats",
        "how-it-works",
        "mcp",
        "options",
        "plan",
        "programs",
        "settings",
        "targets",
        "verify",
    ],
)
def test_a_translation_names_the_same_options(name: str) -> None:
    english, chinese = [(folder / f"{name}.md").read_text(encoding="utf-8") for folder in (DOCS, DOCS / "zh")]
    named = re.compile(r"(?<![\w-])--[a-z][a-z-]+")
    assert {*named.findall(chinese)} - {"--lang"} == {*named.findall(english)} - {"--lang"}


def test_a_translation_has_the_same_figures_in_its_tables() -> None:
    """Tables of measurements are written anew now and then; the words in a row may stand in another order."""
    english, chinese = [
        [sorted(re.findall(r"\d+(?:[.,]\d+)*", row)) for row in re.findall(r"^\|.*$", text, re.MULTILINE)]
        for text in [(folder / "fit.md").read_text(encoding="utf-8") for folder in (DOCS, DOCS / "zh")]
    ]
    assert chinese == english


@pytest.mark.parametrize("folder", [DOCS, DOCS / "zh"], ids=["English", "Chinese"])
def test_the_page_of_the_formats_has_every_format(folder: Path) -> None:
    from tfmemlint.reporters.formats import FORMATS

    text = (folder / "formats.md").read_text(encoding="utf-8")
    assert [name for name in FORMATS if f"\n| `{name}` | " not in text] == []


def _examples_to_run(path: Path) -> dict[str, str]:
    """Return the examples of a page in which nothing is found, by the names of their files."""
    blocks = enumerate(_blocks(path, "python"))
    page = path.relative_to(ROOT).as_posix().replace("/", "_").removesuffix(".md").replace(".", "_")
    return {f"{page}/example_{number}.py": text for number, (marks, text) in blocks if "<!-- found:" not in marks}


@pytest.fixture(scope="module")
def verified(tmp_path_factory: pytest.TempPathFactory) -> subprocess.CompletedProcess[str]:
    """What TensorFlow makes of the examples of all guides, with one import of it."""
    folder = tmp_path_factory.mktemp("verified")
    names = []
    for page in GUIDES:
        for name, text in _examples_to_run(page).items():
            (folder / name).parent.mkdir(exist_ok=True)
            (folder / name).write_text(text, encoding="utf-8")
            names.append(name)
    return _tool(folder, "verify", "--device", "edge", "--gpus", "2", "--whole", *names)


@pytest.mark.slow
@pytest.mark.tensorflow
@each_guide
def test_the_examples_run_on_tensorflow(path: Path, verified: subprocess.CompletedProcess[str]) -> None:
    names = _examples_to_run(path)
    if names:
        assert verified.returncode == 0, f"{verified.stdout}{verified.stderr}"
        assert all(name in verified.stdout for name in names), verified.stdout


@pytest.mark.slow
def test_the_site_is_built_strictly_and_needs_no_network(tmp_path: Path) -> None:
    pytest.importorskip("sphinx")
    command = [sys.executable, "tools/make_site.py", "--out", str(tmp_path / "site")]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, encoding="utf-8")
    assert done.returncode == 0, done.stdout + done.stderr
    pages = list((tmp_path / "site").rglob("*.html"))
    assert len(pages) > 90
    loaded = re.compile(r"<(?:script|link|img)\b[^>]*(?:src|href)=\"(https?:[^\"]+)\"")
    outside = {url for page in pages for url in loaded.findall(page.read_text(encoding="utf-8"))}
    assert outside == set()


def _tool(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "tfmemlint", *arguments]
    return subprocess.run(
        command, cwd=folder, capture_output=True, text=True, encoding="utf-8", stdin=subprocess.DEVNULL
    )
