"""TF1 code as people wrote it: what is found in it, what the fixes make of it, and what they keep."""

from __future__ import annotations

import ast
import importlib.util
import io
import re
import subprocess
import sys
import tokenize
from collections import Counter
from pathlib import Path

import pytest

from tests.fixture_files import READ, read_text, strip_markers
from tests.legacy import LEGACY, legacy_paths
from tfmemlint.engine.check_source import check_source
from tfmemlint.fixes.compute_fix import Options
from tfmemlint.fixes.loop import Fixed, fix_source
from tfmemlint.knowledge.releases import Target
from tfmemlint.model.finding import Finding, Severity
from tfmemlint.rulekit.rule import Rule, rules
from tfmemlint.sources import Source

RULES: tuple[Rule, ...] = tuple(rule for rule in rules() if rule.severity is not Severity.ADVICE)
KINDS = {
    "mutated": 10,
    "late": 6,
    "share": 3,
    "helper": 4,
    "inline": 4,
    "horovod": 5,
    "estimator": 3,
    "keras": 4,
    "interactive": 3,
    "eager": 2,
    "stats": 3,
    "graph": 5,
}
"""How many files there are of each idiom, at least; a name begins with its idiom."""


def _named(path: Path) -> str:
    return path.stem


def _target(header: dict[str, str]) -> Target:
    return Target.parse(header["target"]) if "target" in header else Target.newest()


def _found(path: Path, text: str, target: Target) -> list[Finding]:
    return check_source(Source(path.name, text), RULES, target)


def _fixed(path: Path, text: str, header: dict[str, str], width: int | None = None) -> Fixed:
    target = _target(header)
    memory = header.get("memory", READ)
    return fix_source(
        Source(path.name, text),
        rules=RULES,
        target=target,
        check=lambda source: check_source(source, RULES, target),
        options=Options(
            unsafe=True,
            gpu_memory_mib=float(memory) if memory != READ else None,
            read_gpu_memory="memory" in header,
            line_length_of=lambda _: width,
        ),
    )


def _is_gone(comment: str, text: str, fixed: str) -> bool:
    """True if the code is gone that a comment follows, or stands above."""
    lines = [line for line in text.splitlines() if line.strip()]
    row = next(row for row, line in enumerate(lines) if comment in line)
    code = next(code for line in lines[row:] if (code := line.split("#")[0].strip()))
    return code not in fixed


def _comments(text: str) -> Counter[str]:
    tokens = tokenize.generate_tokens(io.StringIO(text).readline)
    return Counter(token.string.strip() for token in tokens if token.type == tokenize.COMMENT)


@pytest.mark.parametrize("path", legacy_paths(), ids=_named)
def test_the_findings_are_those_expected(path: Path) -> None:
    text, expectations, header = strip_markers(read_text(path))
    found = _found(path, text, _target(header))
    expected = Counter((row, code) for row, codes in expectations.items() for code in codes)
    told = "\n".join(f"{finding.span.row}: {finding.code} {finding.message}" for finding in found)
    assert Counter((finding.span.row, finding.code) for finding in found) == expected, told


@pytest.mark.parametrize("path", legacy_paths(), ids=_named)
def test_the_fixed_text_is_as_judged_and_stays_so(path: Path) -> None:
    text, _, header = strip_markers(read_text(path))
    fixed = _fixed(path, text, header)
    judged = path.with_name(f"{path.stem}.fixed.py")
    assert fixed.text == (read_text(judged) if judged.exists() else text)
    ast.parse(fixed.text)
    assert _fixed(path, fixed.text, header).text == fixed.text
    left = "\n".join(
        f"{finding.span.row}: {finding.code} {finding.message} ({finding.withheld})" for finding in fixed.findings
    )
    assert bool(fixed.findings) == ("withheld" in header), left


@pytest.mark.parametrize("path", legacy_paths(), ids=_named)
def test_every_comment_and_every_line_end_is_kept(path: Path) -> None:
    text, _, header = strip_markers(read_text(path))
    fixed = _fixed(path, text, header).text
    lost = _comments(text) - _comments(fixed)
    # What is said of growth goes with the growth.
    assert not [comment for comment in lost if "grow" not in comment or not _is_gone(comment, text, fixed)]
    assert ("\r\n" in fixed) == ("\r\n" in text)
    assert "\r\n" not in text or fixed.count("\r\n") == fixed.count("\n")


@pytest.mark.parametrize("path", legacy_paths(), ids=_named)
def test_no_file_is_left_half_way(path: Path) -> None:
    """Where something of a file's sessions stays as it was, so does all of it, or it did not run before either."""
    text, _, header = strip_markers(read_text(path))
    fixed = _fixed(path, text, header)
    if fixed.findings and fixed.text != text:
        assert "raises" in header, "it ran before"
        assert header["raises"].startswith(("AttributeError", "ImportError", "ModuleNotFoundError"))


@pytest.mark.slow
@pytest.mark.skipif(importlib.util.find_spec("ruff") is None, reason="ruff is not installed")
@pytest.mark.parametrize("width", [88, 120])
def test_what_was_formatted_stays_formatted(width: int, tmp_path: Path) -> None:
    before, after = tmp_path / "before", tmp_path / "after"
    before.mkdir()
    after.mkdir()
    for path in legacy_paths():
        text, _, header = strip_markers(read_text(path))
        (before / path.name).write_text(text, encoding="utf-8")
        (after / path.name).write_text(_fixed(path, text, header, width).text, encoding="utf-8")
    unformatted = _unformatted(before, width)
    formatted = {path.name for path in legacy_paths()} - unformatted
    assert len(formatted) >= 10, "there is little to see"
    assert not _unformatted(after, width) & formatted


def _unformatted(folder: Path, width: int) -> set[str]:
    command = [sys.executable, "-m", "ruff", "format", "--isolated", "--check", "--line-length", str(width), "."]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    return set(re.findall(r"([\w.]+\.py)\b", done.stdout))


def test_each_idiom_is_there_as_often_as_it_is_written() -> None:
    there = Counter(path.stem.split("_")[0] for path in legacy_paths())
    assert {name: there[name] for name in KINDS if there[name] < KINDS[name]} == {}
    assert set(there) == set(KINDS)


def test_no_fixed_side_lacks_its_original() -> None:
    fixed = {path.name.removesuffix(".fixed.py") for path in LEGACY.glob("*.fixed.py")}
    assert fixed <= {path.stem for path in legacy_paths()}
