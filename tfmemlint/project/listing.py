"""The entries of a directory, asked of the file system once; and the names by which files are reported."""

from __future__ import annotations

import os
from collections.abc import Iterable

MARKERS = frozenset(
    {".git", "pyproject.toml", "setup.py", "setup.cfg", "tox.ini", "requirements.txt", "pytest.ini", ".pytest.ini"}
)
"""Files, or a directory, that say where a project begins, besides Python's own."""

_EXTENSIONS = (".so", ".pyd")
_MOST = 20_000
"""Entries of a directory that are looked at. One with more holds data; of its modules nothing is known."""
_WIDEST = 200
"""Directories of one level in which a Python file is looked for."""


def graph_name(path: str) -> str:
    """Return the name of a file among those that a walk from the working directory finds: its path from there."""
    if not os.path.isabs(path):
        return os.path.normpath(path)
    try:
        return os.path.relpath(path)
    except ValueError:  # it is on another drive
        return os.path.normpath(path)


def called(path: str) -> str:
    """Return the name of the file at ``path`` in reports: its path from here where it is below, else the whole of it.
    Links stay as they are: a file goes by the name that a person knows it by."""
    place = os.path.abspath(path)
    try:
        here = os.path.relpath(place)
    except ValueError:  # it is on another drive
        return place
    return place if here.split(os.sep, 1)[0] == os.pardir else here


class Listing:
    """The modules in one directory.

    Attributes:
        directories: names of what can be a package. files: names of Python files and of `MARKERS`.
        compiled: modules that are no text: extensions, and byte code without its source.
        known: False if the directory is too large.
    """

    __slots__ = ("compiled", "directories", "files", "known")

    def __init__(self, directories: Iterable[str] = (), files: Iterable[str] = ()) -> None:
        self.directories = frozenset(directories)
        self.files = frozenset(files)
        self.compiled: frozenset[str] = frozenset()
        self.known = True

    @property
    def summary(self) -> tuple[list[str], list[str], list[str], bool]:
        """All of it, in an order that is always the same."""
        return sorted(self.directories), sorted(self.files), sorted(self.compiled), self.known


class Listings:
    """The listings of all directories that one run has asked for."""

    def __init__(self) -> None:
        self._of: dict[str, Listing] = {}

    def of(self, directory: str) -> Listing:
        """Return the entries of a directory; nothing if it can't be read."""
        listing = self._of.get(directory)
        if listing is None:
            listing = self._of[directory] = _read(directory)
        return listing

    def is_package(self, directory: str) -> bool:
        """Return True if a directory is a regular package."""
        return "__init__.py" in self.of(directory).files

    def has(self, directory: str, name: str) -> bool:
        """Return True if one of `MARKERS` or a Python file is in a directory."""
        listing = self.of(directory)
        return name in listing.files or (name == ".git" and name in listing.directories)

    def holds_python(self, directory: str, depth: int) -> bool:
        """Return True if a Python file is in a directory, at most ``depth`` levels down."""
        level = [directory]
        for _ in range(depth):
            below: list[str] = []
            for inner in level[:_WIDEST]:
                listing = self.of(inner)
                if any(name.endswith(".py") for name in listing.files):
                    return True
                below += (os.path.join(inner, name) for name in sorted(listing.directories) if name != ".git")
            level = below
        return False


class Probes(Listings):
    """The same answers for one question or two: asking for a file is faster than reading a directory."""

    def is_package(self, directory: str) -> bool:
        return os.path.isfile(os.path.join(directory, "__init__.py"))

    def has(self, directory: str, name: str) -> bool:
        path = os.path.join(directory, name)
        return os.path.exists(path) if name == ".git" else os.path.isfile(path)


def _read(directory: str) -> Listing:
    directories: list[str] = []
    files: list[str] = []
    compiled: list[str] = []
    bytecode: list[str] = []
    listing = Listing()
    try:
        with os.scandir(directory) as scan:
            for count, entry in enumerate(scan):
                if count >= _MOST:
                    listing.known = False
                    break
                name = entry.name
                try:
                    if name.endswith(".py") or name in MARKERS:
                        if entry.is_file():
                            files.append(name)
                        elif name == ".git" and entry.is_dir():
                            directories.append(name)
                    elif name.endswith(_EXTENSIONS):
                        compiled.append(name.partition(".")[0])
                    elif name.endswith(".pyc"):
                        bytecode.append(name[:-4])
                    elif name.isidentifier() and entry.is_dir():
                        directories.append(name)
                except OSError:
                    # A loop of links.
                    continue
    except (OSError, ValueError):
        pass
    listing.directories = frozenset(directories)
    listing.files = frozenset(files)
    listing.compiled = frozenset(compiled) | {name for name in bytecode if f"{name}.py" not in listing.files}
    return listing
