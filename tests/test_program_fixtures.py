"""Programs of several files: what is found in each of their files, whichever of them are named."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from pathlib import Path

import pytest

from tests.program_files import ProgramFixture, program_folders, read_program
from tfmemlint.config.selection import Layer, Selection
from tfmemlint.engine.check_source import check_source
from tfmemlint.engine.context import RunContext
from tfmemlint.engine.run import run
from tfmemlint.knowledge.releases import Target
from tfmemlint.model.finding import Finding, Severity
from tfmemlint.rulekit.rule import rules
from tfmemlint.sources import Source

Places = Counter[tuple[str, int, str]]

_FOUND: dict[Path, tuple[Finding, ...]] = {}


def _found(names: Iterable[str], fixture: ProgramFixture) -> list[Finding]:
    outcomes = run([(name, True) for name in names], RunContext(selection=_selection(fixture), explain_fixes="never"))
    return [finding for outcome in outcomes for finding in outcome.findings]


def _found_in_all(fixture: ProgramFixture) -> tuple[Finding, ...]:
    """What is found where all files of a program are named; all tests of a program ask, and are told the same."""
    if fixture.folder not in _FOUND:
        _FOUND[fixture.folder] = tuple(_found(fixture.modules, fixture))
    return _FOUND[fixture.folder]


def _selection(fixture: ProgramFixture) -> Selection | None:
    """The rules that run by default, and the advice that the fixture expects; None for the former alone."""
    expected = {code for _, _, code in fixture.expected}
    advice = tuple(rule.code for rule in rules() if rule.severity is Severity.ADVICE and rule.code in expected)
    return Selection.resolve(rules(), [Layer(extend_select=advice)]) if advice else None


def _places(findings: Iterable[Finding]) -> Places:
    return Counter((finding.path, finding.span.row, finding.code) for finding in findings)


def _words(findings: Iterable[Finding]) -> str:
    return "\n".join(
        f"{finding.path}:{finding.span.row}: {finding.code} {finding.severity.value} {finding.message}"
        for finding in findings
    )


@pytest.fixture
def fixture(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> ProgramFixture:
    """One program in the current directory, as a user would have it."""
    program = read_program(request.param)
    if program.known:
        request.applymarker(pytest.mark.xfail(reason=program.known, strict=True))
    program.put(tmp_path)
    monkeypatch.chdir(tmp_path)
    return program


each = pytest.mark.parametrize("fixture", program_folders(), ids=lambda path: path.name, indirect=True)


@each
def test_a_program_gives_the_findings_that_are_expected(fixture: ProgramFixture) -> None:
    _holds(fixture)


@pytest.mark.slow
@each
def test_what_a_file_is_told_does_not_depend_on_which_files_are_named(fixture: ProgramFixture) -> None:
    _holds(fixture)  # what is known to be wrong is wrong as a whole
    for name in fixture.modules:
        found = _found([name], fixture)
        places = _places(found)
        here = Counter({place: count for place, count in fixture.expected.items() if place[0] == name})
        assert Counter({place: count for place, count in places.items() if place[0] == name}) == here, _words(found)
        assert places <= fixture.expected, _words(found)


@each
def test_the_file_that_a_program_starts_in_tells_all_that_comes_of_it(fixture: ProgramFixture) -> None:
    _holds(fixture)
    wanted = set(fixture.expected) - set(_by_themselves(fixture))
    found = {place for start in fixture.starts for place in _places(_found([start.path], fixture))}
    missing = wanted - found
    assert not missing, f"not said where only the file is named that it starts in: {sorted(missing)}"


def test_every_bad_program_expects_something_and_no_good_one_does() -> None:
    for folder in program_folders():
        assert bool(read_program(folder).expected) is folder.name.startswith("bad_"), folder.name


def _holds(fixture: ProgramFixture) -> None:
    found = _found_in_all(fixture)
    assert _places(found) == fixture.expected, _words(found)
    severities = {start.header["severity"] for start in fixture.starts if "severity" in start.header}
    for severity in severities:
        assert {finding.severity.value for finding in found} == {severity}, _words(found)


def _by_themselves(fixture: ProgramFixture) -> Places:
    """What is found in each file read on its own."""
    found: Places = Counter()
    for name in fixture.modules:
        source = Source(name, fixture.texts[name])
        found.update(
            _places(check_source(source, RunContext(selection=_selection(fixture)).rules_for(name), Target.newest()))
        )
    return found
