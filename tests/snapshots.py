"""The snapshots: what ``tfmemlint check`` prints for each fixture with something wrong, and what ``fix`` changes.

``tests/snapshots`` has a plain text file for each rule. `pages` makes the texts; ``tools/make_snapshots.py`` writes
them, and ``test_snapshots.py`` compares them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

from tests import fixture_runs
from tests.fixture_files import FIXTURES, ROOT, SETTINGS, fixture_paths, is_chosen, settings_paths
from tests.program_files import program_folders, read_program

SNAPSHOTS = ROOT / "tests" / "snapshots"
COMMAND = "python3 tools/run.py update"

_HEAD = """\
What `tfmemlint check` prints for each fixture below, and the changes of `tfmemlint fix --diff --unsafe-fixes`.
Made by `{command}`; tests/test_snapshots.py compares it.
"""
_LINE = f"\n{'=' * 100}\n"
"""What is above each fixture."""


def pages(wanted: str = "") -> dict[str, Callable[[], str]]:
    """The names of the snapshot files, as seen from ``tests/snapshots``, each with the function that makes its text.

    Args:
        wanted: a rule's code, whose snapshots alone are given; "" for all.
    """
    return {
        name: lambda fixtures=fixtures: _page(fixtures)  # type: ignore[misc]
        for name, fixtures in _groups().items()
        if wanted in ("", Path(name).stem)
    }


def stored() -> dict[str, str]:
    """The snapshot files as they are, by their names."""
    return {
        path.relative_to(SNAPSHOTS).as_posix(): path.read_bytes().decode() for path in sorted(SNAPSHOTS.rglob("*.txt"))
    }


def only_entries_of(kept: str, made: str) -> str:
    """A snapshot without the fixtures that ``made`` leaves out, as it does where one rule is tested."""
    if is_chosen(()):
        return kept
    head, *entries = kept.split(_LINE)
    wanted = {_fixture(entry) for entry in made.split(_LINE)[1:]}
    return _LINE.join([head, *(entry for entry in entries if _fixture(entry) in wanted)])


def _fixture(entry: str) -> str:
    """The name of the fixture that an entry of a snapshot is about."""
    return entry.split("\n", 1)[0]


def _groups() -> dict[str, list[Path]]:
    """The fixtures of each snapshot file: of a rule, of the programs whose first finding is a rule's, of settings."""
    found: dict[str, list[Path]] = {}
    for path in fixture_paths("bad"):
        found.setdefault(f"{path.parent.name}.txt", []).append(path)
    for folder in program_folders("bad"):
        code = min(read_program(folder).expected)[2]
        found.setdefault(f"programs/{code}.txt", []).append(folder)
    for path in settings_paths("bad"):
        found.setdefault(f"settings/{path.parent.name}.txt", []).append(path)
    if is_chosen(()):
        found["settings/projects.txt"] = sorted((SETTINGS / "projects").glob("bad_*"))
    return found


def _page(fixtures: list[Path]) -> str:
    return "".join([_HEAD.format(command=COMMAND), *(line for path in fixtures for line in _entry(path))])


def _entry(fixture: Path) -> Iterator[str]:
    command = " ".join(["tfmemlint check", *fixture_runs.options(fixture)])
    yield f"{_LINE}{fixture.relative_to(FIXTURES).as_posix()}\n$ {command}\n\n"
    run = fixture_runs.check(fixture)
    yield run.out + run.err
    diff = fixture_runs.diff(fixture)
    if diff:
        yield f"\n{diff}"
