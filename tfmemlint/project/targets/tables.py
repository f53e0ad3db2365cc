"""Requirements in ``pyproject.toml``, ``Pipfile``, ``setup.cfg`` and ``Pipfile.lock``."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

from tfmemlint.model.patterns import late_pattern
from tfmemlint.project.targets.stated import Stated, of_package, of_requirement, package
from tfmemlint.project.targets.versions import Unreadable
from tfmemlint.sources.config_files.tables import parse_ini, parse_toml

WEAK = late_pattern(
    r"(?:^|[-_. /])(?:dev|develop|development|tests?|testing|ci|lint|linting|mypy|typing|types|style|quality|build|"
    r"benchmarks?|examples?|tools?)(?=$|[-_. /0-9])",
    re.IGNORECASE,
)
"""Names of groups and files that are not what a program runs with."""
DOCS = late_pattern(
    r"(?:^|[-_. /])(?:docs?|documentation|sphinx|rtd|readthedocs|mkdocs)(?=$|[-_. /0-9])", re.IGNORECASE
)
"""Names of groups and files that only the documentation is made with: they pin old releases, and are no evidence."""


def of_pyproject(path: str, text: str) -> Iterator[Stated]:
    """PEP 621's dependencies, PEP 735's groups, and those of Poetry, PDM, uv and Hatch.

    Raises:
        ValueError: the file is not TOML.
    """
    table = _toml(text)
    rows = _Rows(text)
    sources = _of(table, "tool", "uv", "sources")
    elsewhere = {name for source in (sources if isinstance(sources, dict) else {}) if (name := package(str(source)))}
    for listed, weak, constraint in _lists(table):
        for line in listed if isinstance(listed, list) else ():
            if not isinstance(line, str):
                continue
            found = of_requirement(line, path, rows.of(line), weak=weak, constraint=constraint)
            if found is None:
                continue
            if any(package(written) in elsewhere for written in re.split(r"[^A-Za-z0-9._-]", line, maxsplit=1)[:1]):
                sourced = _source(sources, found)
                yield sourced if sourced is not None else found
            else:
                yield found
    for group, weak in _poetry(table):
        yield from _of_mapping(path, group, rows, weak=weak)


def _source(sources: Any, found: Stated) -> Stated | None:
    """Return what ``[tool.uv.sources]`` makes of a requirement: a wheel's address, a tag, or what isn't known."""
    for name, value in sources.items():
        if package(str(name)) is None or not isinstance(value, dict) or "index" in value or "workspace" in value:
            continue
        address = value.get("url") or (f"{value.get('git')}@{value.get('tag') or value.get('rev') or ''}")
        other = of_requirement(str(address), found.path, found.row) if "://" in str(address) else None
        if other is not None:
            return other
        return Stated(found.path, found.row, found.text, None, "it comes from elsewhere", found.weak)
    return None


def _lists(table: Any) -> Iterator[tuple[object, bool, bool]]:
    """Lists of requirements, whether they are weak, and whether they only limit."""
    yield _of(table, "project", "dependencies"), False, False
    for keys, always in (
        (("project", "optional-dependencies"), False),
        (("dependency-groups",), False),
        (("tool", "pdm", "dev-dependencies"), True),
    ):
        for name, listed in _items(_of(table, *keys)):
            if not DOCS.search(name):
                yield listed, always or WEAK.search(name) is not None, False
    yield _of(table, "tool", "uv", "dev-dependencies"), True, False
    for key in ("constraint-dependencies", "override-dependencies"):
        yield _of(table, "tool", "uv", key), False, True
    for name, environment in _items(_of(table, "tool", "hatch", "envs")):
        for key in ("dependencies", "extra-dependencies"):
            if not DOCS.search(name):
                yield _of(environment, key), True, False


def _poetry(table: Any) -> Iterator[tuple[object, bool]]:
    yield _of(table, "tool", "poetry", "dependencies"), False
    yield _of(table, "tool", "poetry", "dev-dependencies"), True
    for name, group in _items(_of(table, "tool", "poetry", "group")):
        if not DOCS.search(name):
            yield _of(group, "dependencies"), WEAK.search(name) is not None


def of_pipfile(path: str, text: str) -> Iterator[Stated]:
    """The packages of a ``Pipfile``.

    Raises:
        ValueError: the file is not TOML.
    """
    table, rows = _toml(text), _Rows(text)
    yield from _of_mapping(path, _of(table, "packages"), rows, weak=False, dialect="pip")
    yield from _of_mapping(path, _of(table, "dev-packages"), rows, weak=True, dialect="pip")


def _of_mapping(path: str, group: object, rows: _Rows, *, weak: bool, dialect: str = "poetry") -> Iterator[Stated]:
    """``tensorflow = "^2.4"``, or a table, or a list of tables for several platforms."""
    for name, value in _items(group):
        known = package(name)
        if known is None:
            continue
        for entry in value if isinstance(value, list) else [value]:
            version = entry if isinstance(entry, str) else _of(entry, "version")
            row = rows.key(name)
            if not isinstance(version, str):
                address = str(
                    _of(entry, "url") or f"{_of(entry, 'git')}@{_of(entry, 'tag') or _of(entry, 'rev') or ''}"
                )
                found = of_requirement(address, path, row, weak=weak) if "://" in address else None
                yield found or Stated(path, row, name, None, "it comes from elsewhere", weak)
                continue
            text = f'{name} = "{version}"'
            marker = _of(entry, "markers")
            other = isinstance(marker, str) and of_requirement(f"{name};{marker}", path, row)
            platform = _of(entry, "platform")
            elsewhere = bool(other and other.weak) or (isinstance(platform, str) and platform != "linux")
            try:
                yield Stated(path, row, text, of_package(known, version, dialect), weak=weak or elsewhere)
            except Unreadable as error:
                yield Stated(path, row, text, None, str(error), weak or elsewhere)


def of_setup_cfg(path: str, text: str) -> Iterator[Stated]:
    """The requirements in ``setup.cfg``.

    Raises:
        ValueError: the file can't be read.
    """
    import configparser

    parser = configparser.ConfigParser(interpolation=None, strict=False)
    parse_ini(text, parser)
    rows = _Rows(text)
    listed = [("install_requires", parser.get("options", "install_requires", fallback=""), False)]
    listed += [("tests_require", parser.get("options", "tests_require", fallback=""), True)]
    if parser.has_section("options.extras_require"):
        listed += [
            (name, value, WEAK.search(name) is not None) for name, value in parser["options.extras_require"].items()
        ]
    for name, value, weak in listed:
        for line in value.splitlines() if not DOCS.search(name) else ():
            line = re.sub(r"(?:^|\s)#.*", "", line).strip()
            found = of_requirement(line, path, rows.of(line), weak=weak) if line else None
            if found is not None:
                yield found


def of_pipfile_lock(path: str, text: str) -> Iterator[Stated]:
    """The release in a ``Pipfile.lock``.

    Raises:
        ValueError: the file is not JSON.
    """
    table, rows = json.loads(text), _Rows(text)
    for section, weak in (("default", False), ("develop", True)):
        for name, value in _items(_of(table, section)):
            known, version = package(name), _of(value, "version")
            if known is not None and isinstance(version, str):
                marker = _of(value, "markers")
                line = f"{name}{version}" + (f"; {marker}" if isinstance(marker, str) else "")
                found = of_requirement(line, path, rows.key(name), weak=weak)
                if found is not None:
                    yield found


class _Rows:
    """In which row of a file something stands."""

    def __init__(self, text: str) -> None:
        self._lines = text.splitlines()

    def of(self, words: str) -> int:
        """The first row with these words, which is not a comment; 1 if there is none."""
        rows = (row for row, line in enumerate(self._lines, 1) if words in line and not line.lstrip().startswith("#"))
        return next(rows, 1)

    def key(self, name: str) -> int:
        """The first row that begins with this key."""
        pattern = re.compile(rf"""\s*["']?{re.escape(name)}["']?\s*[=:]""")
        return next((row for row, line in enumerate(self._lines, 1) if pattern.match(line)), self.of(name))


def _toml(text: str) -> Any:
    try:
        return parse_toml(text)
    except ValueError as error:
        raise ValueError(f"it is not TOML: {' '.join(str(error).split())}") from None


def _of(table: Any, *keys: str) -> Any:
    for key in keys:
        table = table.get(key) if isinstance(table, dict) else None
    return table


def _items(table: object) -> list[tuple[str, Any]]:
    return [(str(name), value) for name, value in table.items()] if isinstance(table, dict) else []
