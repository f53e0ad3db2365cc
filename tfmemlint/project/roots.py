"""The root of a file's package and of its project, and the directories in which its program finds modules."""

from __future__ import annotations

import os
from functools import lru_cache

from tfmemlint.project.imports import scan
from tfmemlint.project.kinds import Kind
from tfmemlint.project.listing import MARKERS, Listings, Probes
from tfmemlint.project.search import SearchPath
from tfmemlint.sources.regular import read_regular

LARGEST_PROJECT = 20_000
"""Files beyond which nobody looks for programs that import a module."""
_DEEPEST = 64
_SOURCES = ("src", "lib", "python")
"""Directories below a project's root in which packages are kept that are imported without that prefix."""
_LARGEST = 32 * 2**20
_MOST_DIRECTORIES = 5_000
_LEFT_OUT = frozenset({"__pycache__", "_build", "build", "dist", "node_modules", "venv"})
"""Directories that nobody checks, and from which nobody imports."""


def package_root(path: str, listings: Listings | None = None) -> tuple[str, str]:
    """The directory that has to be on the search path to import a file, and the name that it then has.

    A directory whose name is no identifier is no package, whatever is in it: that is how pytest has it too.
    """
    listings = listings or Probes()
    path = os.path.abspath(path)
    directory, base = os.path.split(path)
    stem = base.removesuffix(".py").removesuffix(".pyw")
    parts = [] if stem == "__init__" else [stem]
    for _ in range(_DEEPEST):
        above, name = os.path.split(directory)
        if not name.isidentifier() or not listings.is_package(directory):
            break
        parts.append(name)
        directory = above
    return directory, ".".join(reversed(parts)) or stem


def project_root(path: str, listings: Listings | None = None) -> str:
    """The directory of the project that a file belongs to: the nearest one with a file that projects have, but for
    those within a package; else that of the package as a whole, or of the file.

    It is never above a repository's root, and neither the home directory nor the file system's root, unless the file
    stands right there.
    """
    listings = listings or Probes()
    own = os.path.dirname(os.path.abspath(path))
    outside = outermost()
    directory = outer = own
    for _ in range(_DEEPEST):
        if directory in outside:
            break
        if listings.has(directory, ".git"):
            return directory
        package = listings.is_package(directory)
        if not package and any(listings.has(directory, name) for name in _OF_PROJECTS):
            return directory
        if package and (directory == own or outer == os.path.join(directory, os.path.basename(outer))):
            outer = directory
        directory = os.path.dirname(directory)
    return outer


_OF_PROJECTS = sorted(MARKERS - {".git", "pytest.ini", ".pytest.ini"})


def is_project(directory: str, listings: Listings) -> bool:
    """Return True if a directory is a project: it has a file that projects have, or it is a package."""
    return listings.is_package(directory) or any(listings.has(directory, name) for name in sorted(MARKERS))


def outermost() -> frozenset[str]:
    """Directories that are no project: the home directory, what is above it, and the file system's root."""
    return _outermost(os.path.abspath(os.path.expanduser("~")))


@lru_cache(maxsize=8)
def _outermost(home: str) -> frozenset[str]:
    found = {os.path.realpath(home), os.path.abspath(os.sep)}
    while home not in found:
        found.add(home)
        home = os.path.dirname(home)
    return frozenset(found)


def search_path(
    entry_path: str, *, kind: Kind, data: bytes | None = None, listings: Listings | None = None
) -> SearchPath:
    """The directories in which a program finds the project's modules.

    A script's own directory comes first. One that is a part of a package may also be run with ``python -m``, and then
    that directory isn't searched: names for which this makes a difference are not located. ``data``: the bytes of the
    script, where they are at hand.
    """
    listings = listings or Listings()
    path = os.path.abspath(entry_path)
    own = os.path.dirname(path)
    package, name = package_root(path, listings)
    project = project_root(path, listings)
    rest = [package, project, *_source_directories(project, listings)]
    ambiguous = False
    if kind is Kind.TEST:
        # pytest puts the directory of each conftest.py on the path when it comes to it.
        rest[1:1] = [package_root(conftest, listings)[0] for conftest in reversed(conftests(path, listings))]
    elif kind is Kind.SCRIPT:
        ambiguous = own != package
        if not ambiguous and b"from" in (text := _bytes(path, data)) and any(word.level for word in scan(text)):
            # As a module it belongs to a package without `__init__.py`.
            ambiguous, rest = True, rest[1:]
    # A project that is a package as a whole: what stands beside it is not the project's.
    foreign = _is_above(package, project) and (listings.has(project, ".git") or package in outermost())
    places = ([own] if kind is Kind.SCRIPT else []) + _once(rest)
    return SearchPath(
        tuple(places if ambiguous else _once(places)),
        ambiguous=ambiguous,
        only={package: name.partition(".")[0]} if foreign else None,
        listings=listings,
    )


def conftests(path: str, listings: Listings | None = None) -> tuple[str, ...]:
    """The ``conftest.py`` files that pytest loads before a test file, the outermost first."""
    listings = listings or Probes()
    path = os.path.abspath(path)
    directory = os.path.dirname(path)
    top = pytest_root(path, listings)
    found: list[str] = []
    for _ in range(_DEEPEST):
        conftest = os.path.join(directory, "conftest.py")
        if conftest != path and listings.has(directory, "conftest.py"):
            found.append(conftest)
        if directory == top or os.path.dirname(directory) == directory:
            break
        directory = os.path.dirname(directory)
    return tuple(reversed(found))


def pytest_root(path: str, listings: Listings | None = None) -> str:
    """The directory from which pytest takes ``conftest.py`` files: the nearest one that configures pytest; else the
    repository's, where there is one; else the project's."""
    listings = listings or Probes()
    directory = os.path.dirname(os.path.abspath(path))
    outside = outermost()
    for _ in range(_DEEPEST):
        if directory in outside:
            break
        for name, word in _CONFIGURES_PYTEST:
            if listings.has(directory, name) and (not word or word in _bytes(os.path.join(directory, name), None)):
                return directory
        if listings.has(directory, ".git"):
            return directory
        directory = os.path.dirname(directory)
    return project_root(path, listings)


_CONFIGURES_PYTEST = (
    ("pytest.ini", b""),
    (".pytest.ini", b""),
    ("pyproject.toml", b"[tool.pytest"),
    ("tox.ini", b"[pytest]"),
    ("setup.cfg", b"[tool:pytest]"),
)


def is_whole(files: set[str], listings: Listings) -> bool:
    """Return True if these files are all Python files of their projects: then nothing else can be imported."""
    pending = list({project_root(file, listings) for file in {os.path.dirname(path): path for path in files}.values()})
    seen = set(pending)
    while pending:
        if len(seen) > _MOST_DIRECTORIES:
            return False
        directory = pending.pop()
        listing = listings.of(directory)
        if any(name.endswith(".py") and os.path.join(directory, name) not in files for name in listing.files):
            return False
        below = {os.path.join(directory, name) for name in listing.directories if name not in _LEFT_OUT}
        pending.extend(below - seen)
        seen |= below
    return True


def _source_directories(project: str, listings: Listings) -> list[str]:
    found: list[str] = []
    below = listings.of(project).directories
    for name in _SOURCES:
        place = os.path.join(project, name)
        if name not in below or listings.is_package(place):
            continue
        if name == "src" or any(
            listings.is_package(os.path.join(place, name)) for name in listings.of(place).directories
        ):
            found.append(place)
    return found


def _is_above(directory: str, other: str) -> bool:
    return directory != other and other.startswith(os.path.join(directory, ""))


def _once(places: list[str]) -> list[str]:
    return list(dict.fromkeys(places))


def _bytes(path: str, data: bytes | None) -> bytes:
    if data is not None:
        return data
    try:
        return read_regular(path, _LARGEST)
    except (OSError, ValueError):
        return b""
