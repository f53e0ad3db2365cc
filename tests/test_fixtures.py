"""Every fixture: what is found in it, and what the fixes make of it, by the engine and by the command line.

The engine's tests show what the rules say of a text. The command line's show what a user gets: the files are on disk,
and the prefilter decides whether they are read.
"""

from __future__ import annotations

import ast
from collections import Counter
from pathlib import Path

import pytest
from _pytest.mark import ParameterSet

from tests import fixture_runs
from tests.fixture_files import FIXTURES, fixture_paths, read_text, strip_markers, without_comments
from tests.fixture_runs import Places
from tfmemlint.engine.check_source import check_source
from tfmemlint.fixes.loop import Fixed, Options, fix_source
from tfmemlint.knowledge.releases import Target
from tfmemlint.model.finding import Finding, Severity
from tfmemlint.rulekit.rule import Rule, rules
from tfmemlint.sources import Source

UNSAFE = Options(unsafe=True)

KNOWN = {
    "TFM208/bad_inventory.py": "an example in a docstring is reported as a program (TFM202) and as a text (TFM208)",
}
"""The fixtures on which the command line does not do yet what it should, and why."""


def _named(path: Path) -> str:
    return str(path.relative_to(FIXTURES))


def _known(paths: list[Path]) -> list[ParameterSet]:
    """The parameters of a test of the command line, some of which are known to fail."""
    marks = {name: pytest.mark.xfail(reason=why, strict=True) for name, why in KNOWN.items()}
    return [pytest.param(path, id=_named(path), marks=marks.get(_named(path), ())) for path in paths]


def _rules(path: Path) -> tuple[Rule, ...]:
    """The rules that run by default, and the one that the fixture's folder is named after."""
    return tuple(rule for rule in rules() if rule.severity is not Severity.ADVICE or rule.code == path.parent.name)


def _target(header: dict[str, str]) -> Target:
    return Target.parse(header["target"]) if "target" in header else Target.newest()


def _memory(header: dict[str, str]) -> float | None:
    return float(header["memory"]) if "memory" in header else None


def _found(path: Path, text: str, target: Target, memory: float | None) -> list[Finding]:
    return check_source(Source(path.name, text), _rules(path), target, memory)


def _fixed(path: Path, text: str, target: Target, memory: float | None) -> Fixed:
    return fix_source(
        Source(path.name, text),
        rules=_rules(path),
        target=target,
        check=lambda source: check_source(source, _rules(path), target, memory),
        options=UNSAFE,
    )


def _rows(findings: list[Finding]) -> Counter[tuple[int, str]]:
    return Counter((finding.span.row, finding.code) for finding in findings)


@pytest.mark.parametrize("path", [*fixture_paths("bad"), *fixture_paths("ok")], ids=_named)
def test_the_findings_are_those_expected(path: Path) -> None:
    text, expectations, header = strip_markers(read_text(path))
    expected = Counter((row, code) for row, codes in expectations.items() for code in codes)
    found = _found(path, text, _target(header), _memory(header))
    assert _rows(found) == expected, "\n".join(f"{one.span.row}: {one.code} {one.message}" for one in found)
    if path.name.startswith("bad_"):
        assert any(code == path.parent.name for _, code in expected), "it says nothing of its own rule"


@pytest.mark.parametrize("path", fixture_paths("bad"), ids=_named)
def test_the_fixed_side_is_as_judged(path: Path) -> None:
    text, _, header = strip_markers(read_text(path))
    target, memory = _target(header), _memory(header)
    fixed = _fixed(path, text, target, memory)
    left = [finding for finding in fixed.findings if finding.code == path.parent.name]
    fixed_path = path.with_name(f"{path.stem}.fixed.py")
    if not fixed_path.exists():
        assert fixed.text == text, "it has been fixed, but there is no .fixed.py"
        assert all(finding.withheld or not finding.fixable for finding in left)
        return
    assert fixed.text == read_text(fixed_path)
    assert not left, "\n".join(f"{one.span.row}: {one.code} {one.message} ({one.withheld})" for one in left)
    ast.parse(fixed.text)
    assert _fixed(path, fixed.text, target, memory).text == fixed.text


@pytest.mark.parametrize("path", _known([*fixture_paths("bad"), *fixture_paths("ok")]))
def test_the_command_reports_what_is_expected(path: Path) -> None:
    _, expectations, _ = strip_markers(read_text(path))
    expected = Places((path.name, row, code) for row, codes in expectations.items() for code in codes)
    run = fixture_runs.check(path)
    assert fixture_runs.places(run) == expected, run.out + run.err
    assert (run.code, run.err) == (1 if expected else 0, "")


@pytest.mark.parametrize("path", _known(fixture_paths("bad")))
def test_the_command_s_fix_is_as_judged(path: Path) -> None:
    fixed_path = path.with_name(f"{path.stem}.fixed.py")
    judged = read_text(fixed_path) if fixed_path.exists() else strip_markers(read_text(path))[0]
    fixed = fixture_runs.fix(path)
    assert fixed.texts[path.name] == judged
    assert fixed.again == fixed.texts
    assert not [finding for finding in fixed.left if finding["code"] == path.parent.name and finding["fix"]]


@pytest.mark.parametrize("path", fixture_paths("bad"), ids=_named)
def test_no_comment_is_needed_for_a_file_to_be_read(path: Path) -> None:
    text, _, header = strip_markers(read_text(path))
    bare = without_comments(text)
    found = _found(path, bare, _target(header), _memory(header))
    expected = {(finding.span.row, finding.code) for finding in found if finding.code == path.parent.name}
    run = fixture_runs.check_text(path, bare)
    reported = {(row, code) for _, row, code in fixture_runs.places(run)}
    assert expected <= reported, f"the prefilter passes over what the rule finds\n{run.out}{bare}"
