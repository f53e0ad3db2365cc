"""Check a fixture as a user's file is checked: on disk, through the triggers of the rules."""

from __future__ import annotations

import difflib
import os
import tempfile
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tfmemlint.api import Finding, check, fix
from tfmemlint.testing.markers import strip_markers

_KINDS = ("bad", "ok")


@dataclass(frozen=True, slots=True)
class FixtureResult:
    """The findings in a fixture, beside its claims.

    Attributes:
        path: the fixture.
        expected: the rows and codes that its comments claim.
        findings: what was found, in the text without these comments.
        fixed: the text after the fixes, unsafe ones included.
        problems: what is not as it should be, a sentence each; none if all is well.
    """

    path: Path
    expected: tuple[tuple[int, str], ...]
    findings: tuple[Finding, ...]
    fixed: str
    problems: tuple[str, ...]


def fixtures_in(folder: str | os.PathLike[str]) -> list[Path]:
    """Return the fixtures below a folder, in a fixed order: files and notebooks that begin with ``bad_`` or ``ok_``."""
    found = (path for kind in _KINDS for path in Path(folder).rglob(f"{kind}_*") if path.is_file())
    return sorted(path for path in found if ".fixed." not in path.name and path.suffix != ".pyc")


def check_fixture(path: str | os.PathLike[str], *, rule: str | None = None) -> None:
    """Check that a fixture is judged as its comments claim.

    - All that is claimed is found, and nothing else, by the usual rules and the fixture's own.
    - A ``bad_`` fixture claims something of its own rule, and an ``ok_`` fixture claims nothing of it.
    - The fix, unsafe ones included, gives ``bad_x.fixed.py``, and changes nothing where there is no such file. Fixing
      twice changes nothing more.

    Args:
        path: the fixture.
        rule: the code of its rule; None for the name of its folder.

    Raises:
        AssertionError: something is not so; the text has all of it.
        ValueError: a claim can't be read.
        ConfigError: no rule has that code: the package that brings it is not installed.
    """
    result = examine_fixture(path, rule=rule)
    if result.problems:
        raise AssertionError(f"{result.path}:\n" + "\n".join(f"- {problem}" for problem in result.problems))


def examine_fixture(path: str | os.PathLike[str], *, rule: str | None = None) -> FixtureResult:
    """Return what is found in a fixture, as `check_fixture` judges it.

    Raises:
        ValueError, ConfigError: as for `check_fixture`.
    """
    place = Path(path)
    code = place.parent.name if rule is None else rule
    text, claims, header = strip_markers(_read(place))
    expected = Counter((row, each) for row, codes in claims.items() for each in codes)
    options: dict[str, Any] = {"extend_select": code, "isolated": True}
    if "target" in header:
        options["target_version"] = header["target"]
    if "memory" in header:
        options["gpu_memory"] = f"{header['memory']}MiB"
    with tempfile.TemporaryDirectory(prefix="tfmemlint-fixture-") as folder:
        (Path(folder) / "pyproject.toml").touch()
        file = Path(folder) / place.name
        _write(file, text)
        findings = check(file, **options).findings
        fixed = _fixed(file, options)
        again = _fixed(file, options)
    found = Counter((finding.place.row, finding.code) for finding in findings)
    problems = [f"line {row}: {each} is expected, and is not found" for row, each in (expected - found).elements()]
    for row, each in (found - expected).elements():
        (message, *_) = (finding.message for finding in findings if (finding.place.row, finding.code) == (row, each))
        problems.append(f"line {row}: {each} is found, and is not expected: {message}")
    problems += _problems_of_kind(place, code, {each for _, each in expected})
    problems += _problems_of_fix(place, text, fixed, again)
    return FixtureResult(place, tuple(sorted(expected.elements())), findings, fixed, tuple(problems))


def _problems_of_kind(path: Path, code: str, claimed: set[str]) -> list[str]:
    if path.name.startswith("bad_") and code not in claimed:
        return [f"a bad_ fixture of {code} has a line that ends in '# expect: {code}'"]
    if path.name.startswith("ok_") and code in claimed:
        return [f"an ok_ fixture of {code} has no line that ends in '# expect: {code}'"]
    return []


def _problems_of_fix(path: Path, text: str, fixed: str, again: str) -> list[str]:
    beside = path.with_name(f"{path.stem}.fixed{path.suffix}")
    wanted = _read(beside) if beside.exists() else text
    problems = []
    if fixed != wanted:
        lines = difflib.unified_diff(
            wanted.splitlines(), fixed.splitlines(), beside.name, "what the fix makes", lineterm=""
        )
        what = "the fix gives another text" if beside.exists() else f"the fix changes it, and there is no {beside.name}"
        problems.append("\n".join([f"{what}:", *lines]))
    if again != fixed:
        problems.append("fixing twice is not the same as fixing once")
    return problems


def _fixed(file: Path, options: dict[str, Any]) -> str:
    fix(file, unsafe=True, write=True, allow_dirty=True, **options)
    return _read(file)


def _read(path: Path) -> str:
    """Return a text with the line ends of the file."""
    return path.read_bytes().decode("utf-8")


def _write(path: Path, text: str) -> None:
    path.write_bytes(text.encode("utf-8"))
