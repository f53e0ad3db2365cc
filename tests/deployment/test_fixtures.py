"""Configuration files of ``fixtures/settings``: what is found in each, and what a fix makes of it."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from tests.fixture_files import SETTINGS, is_chosen, settings_paths, strip_markers
from tfmemlint.engine.context import RunContext
from tfmemlint.engine.results import FileResult
from tfmemlint.engine.run import run
from tfmemlint.model.finding import Severity
from tfmemlint.sources import walk
from tfmemlint.sources.kinds import ALL
from tfmemlint.sources.walking import Choice

FILES = settings_paths()
FIXED = shutil.ignore_patterns("*.fixed.*")
PROJECTS = sorted((SETTINGS / "projects").iterdir()) if is_chosen(()) else []


def _copied(path: Path, folder: Path) -> tuple[Path, dict[int, list[str]]]:
    """A file without its claims, in a project of its own; and the claims."""
    text, expected, _ = strip_markers(path.read_text(encoding="utf-8"))
    (folder / "pyproject.toml").touch()
    copy = folder / path.name
    copy.write_text(text, encoding="utf-8")
    return copy, expected


def _codes(outcome: FileResult) -> dict[int, list[str]]:
    found: dict[int, list[str]] = {}
    for finding in outcome.findings:
        found.setdefault(finding.span.row, []).append(finding.code)
    return {row: sorted(codes) for row, codes in found.items()}


@pytest.mark.parametrize("path", FILES, ids=lambda path: f"{path.parent.name}/{path.name}")
def test_the_findings_are_those_expected(path: Path, tmp_path: Path) -> None:
    copy, expected = _copied(path, tmp_path)
    (outcome,) = run([(str(copy), True)], RunContext(explain_fixes="never"))
    assert _codes(outcome) == {row: sorted(codes) for row, codes in expected.items()}
    assert bool(expected) is path.name.startswith("bad_")


@pytest.mark.parametrize("path", FILES, ids=lambda path: f"{path.parent.name}/{path.name}")
def test_the_fixed_side_is_what_a_fix_makes(path: Path, tmp_path: Path) -> None:
    copy, _ = _copied(path, tmp_path)
    before = copy.read_text(encoding="utf-8")
    run([(str(copy), True)], RunContext(fix=True, write=True, unsafe=True))
    fixed = path.with_name(path.stem + ".fixed" + path.suffix)
    after = copy.read_text(encoding="utf-8")
    assert after == (fixed.read_text(encoding="utf-8") if fixed.exists() else before)
    # Once more, nothing changes.
    run([(str(copy), True)], RunContext(fix=True, write=True, unsafe=True))
    assert copy.read_text(encoding="utf-8") == after


@pytest.mark.parametrize("folder", PROJECTS, ids=lambda path: path.name)
def test_environments_reach_the_programs(folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    root = tmp_path / folder.name
    shutil.copytree(folder, root, ignore=FIXED)
    expected = set()
    for path in sorted(root.rglob("*")):
        if path.is_file():
            text, rows, _ = strip_markers(path.read_text(encoding="utf-8"))
            path.write_text(text, encoding="utf-8")
            expected |= {
                (path.relative_to(root).as_posix(), row, code) for row, codes in rows.items() for code in codes
            }
    monkeypatch.chdir(root)
    files = walk(["."], Choice(kinds=ALL)).files
    outcomes = run([(path, False) for path in files], RunContext(explain_fixes="never"))
    findings = [finding for outcome in outcomes for finding in outcome.findings]
    found = {(Path(finding.path).as_posix(), finding.span.row, finding.code) for finding in findings}
    assert found == expected
    assert bool(expected) is folder.name.startswith("bad_")
    for one in findings:
        assert one.severity is Severity.WARNING
        steps = [step.path for step in one.trace]
        assert any(path != one.path for path in steps) and steps[-1].endswith(".py")
    # Whichever files are named, the same is found.
    for name in sorted({finding.path for finding in findings}):
        (alone,) = [one for one in run([(name, True)], RunContext(explain_fixes="never")) if one.path == name]
        assert alone.findings == [finding for finding in findings if finding.path == name]


@pytest.mark.parametrize("folder", PROJECTS, ids=lambda path: path.name)
def test_a_fix_changes_what_is_started(folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    root = tmp_path / folder.name
    shutil.copytree(folder, root, ignore=FIXED)
    wanted = {}
    for path in sorted(root.rglob("*")):
        if path.is_file():
            text, _, _ = strip_markers(path.read_text(encoding="utf-8"))
            path.write_text(text, encoding="utf-8")
            fixed = (folder / path.relative_to(root)).with_name(f"{path.stem}.fixed{path.suffix}")
            wanted[path] = fixed.read_text(encoding="utf-8") if fixed.exists() else text
    monkeypatch.chdir(root)
    files = [(path, True) for path in walk(["."], Choice(kinds=ALL)).files]
    for _ in range(2):  # a second time, nothing changes
        run(files, RunContext(fix=True, write=True, unsafe=True))
        assert {path: path.read_text(encoding="utf-8") for path in wanted} == wanted
