"""The release that the files of a directory are for: what its project says, the nearest directory first."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from tfmemlint.project.listing import Listings, Probes, called
from tfmemlint.project.roots import outermost, project_root

if TYPE_CHECKING:
    from tfmemlint.knowledge.releases import Target
    from tfmemlint.project.targets.stated import Stated
    from tfmemlint.project.targets.versions import Releases

_DEEPEST = 64
_LARGEST = 16 * 2**20
_MOST = 5_000
"""Entries of a directory that are looked at."""

_NAMED = frozenset({"pyproject.toml", "setup.py", "setup.cfg", "Pipfile", "Pipfile.lock", "pdm.lock", "pylock.toml"})
_NAMED |= {"poetry.lock", "uv.lock", "conda-lock.yml", "conda-lock.yaml"}
_INSTALLS = re.compile(rb"pip3?\s+install|%tensorflow_version")
"""Without this, no notebook says anything."""
_PARTS = ("require", "constraint", "env", "conda", "dockerfile", "containerfile")
"""What the names of other files have in them that may say something."""


@dataclass(frozen=True, slots=True)
class FoundTarget:
    """What a project says of the TensorFlow that it runs on.

    Attributes:
        directory: where it says so; "" where nothing is said. stated: all statements there.
        used: those that count: what is run with, where that is said; else what is tested with.
        first, last: the known releases that they admit; None where nothing is said, or it can't be read.
    """

    directory: str = ""
    stated: tuple[Stated, ...] = ()
    used: tuple[Stated, ...] = ()
    first: Target | None = None
    last: Target | None = None

    @property
    def target(self) -> Target | None:
        """The release to judge for: the newest that is admitted, which is what pip installs; with the oldest."""
        if self.first is None or self.last is None or self.first == self.last:
            return self.last
        return replace(self.last, oldest=self.first)


@dataclass(slots=True)
class Finder:
    """Reads the files of projects, each once.

    Attributes:
        notes: what could not be read, and why, in words for people.
    """

    notes: list[str] = field(default_factory=list)
    _read: dict[str, bytes | None] = field(default_factory=dict)
    _of: dict[str, FoundTarget] = field(default_factory=dict)
    _own: dict[str, FoundTarget | None] = field(default_factory=dict)
    _listings: Listings = field(default_factory=Probes)

    def of_file(self, path: str) -> FoundTarget:
        """What the project of a file says; nothing for one that has no project. A notebook may say it itself."""
        if path.endswith(".ipynb"):
            if path not in self._own:
                self._own[path] = self._said_by(path)
            own = self._own[path]
            if own is not None:
                return own
        return self.of_directory(os.path.dirname(os.path.abspath(path)))

    def found(self) -> list[FoundTarget]:
        """All that was found so far, each once."""
        own = (found_by_file for found_by_file in self._own.values() if found_by_file is not None)
        return list(dict.fromkeys((*self._of.values(), *own)))

    def of_directory(self, directory: str) -> FoundTarget:
        """What the nearest directory that says something says, from ``directory`` up to the repository's root, or,
        where there is none, the project's."""
        passed: list[str] = []
        found: FoundTarget | None = None
        top = ""
        for _ in range(_DEEPEST):
            found = self._of.get(directory)
            if found is not None or directory in outermost():
                break
            passed.append(directory)
            found = self._said_in(directory)
            if found is not None or self._listings.has(directory, ".git"):
                break
            top = top or self._top(directory)
            if directory == top:
                break
            directory = os.path.dirname(directory)
        found = found or FoundTarget()
        for inner in passed:
            self._of[inner] = found
        return found

    def _top(self, directory: str) -> str:
        """Where to stop: a repository's root, where there is one above."""
        above = directory
        for _ in range(_DEEPEST):
            if above in outermost():
                break
            if self._listings.has(above, ".git"):
                return above
            above = os.path.dirname(above)
        return project_root(os.path.join(directory, "_"), self._listings)

    def _said_by(self, path: str) -> FoundTarget | None:
        from tfmemlint.project.targets.notebooks import of_notebook

        shown = called(path)
        data = self._bytes(shown)
        stated = list(of_notebook(shown, data)) if data is not None and _INSTALLS.search(data) else []
        if not stated:
            return None
        # What comes last holds.
        return _settled(os.path.dirname(os.path.abspath(path)), stated[-1:])

    def _said_in(self, directory: str) -> FoundTarget | None:
        stated = list(
            dict.fromkeys(statement for name in _names(directory) for statement in self._stated(directory, name))
        )
        return _settled(directory, stated) if stated else None

    def _stated(self, directory: str, name: str) -> Iterator[Stated]:
        from tfmemlint.project.targets.files import concerns, read_as

        path = called(os.path.join(directory, name))
        data = self._bytes(path)
        if data is None or not concerns(name, data):
            return
        try:
            yield from read_as(name, path, data, self._bytes)
        except ValueError as error:
            self.notes.append(f"{path}: not read for the release of TensorFlow: {error}")

    def _bytes(self, path: str) -> bytes | None:
        if path not in self._read:
            try:
                with open(path, "rb") as file:
                    data = file.read(_LARGEST + 1)
                self._read[path] = data if len(data) <= _LARGEST else None
            except (OSError, ValueError) as error:
                self._read[path] = None
                if not isinstance(error, FileNotFoundError):
                    reason = getattr(error, "strerror", None) or error
                    self.notes.append(f"{path}: not read for the release of TensorFlow: {reason}")
        return self._read[path]


def _names(directory: str) -> list[str]:
    """The files in a directory that may say something, in a fixed order."""
    found: list[str] = []
    try:
        with os.scandir(directory) as scan:
            for count, entry in enumerate(scan):
                if count >= _MOST:
                    break
                if _speaks(entry.name):
                    if entry.is_file():
                        found.append(entry.name)
                    elif entry.name == "requirements" and entry.is_dir():
                        inner = (name for name in os.listdir(entry.path) if name.endswith((".txt", ".in")))
                        found += [os.path.join(entry.name, name) for name in inner]
    except (OSError, ValueError):
        return []
    return sorted(found)


def _speaks(name: str) -> bool:
    lower = name.lower()
    return name in _NAMED or (not lower.endswith(".py") and any(part in lower for part in _PARTS))


def _settled(directory: str, stated: list[Stated]) -> FoundTarget:
    """What all statements of a directory come to.

    Those of one file are alternatives (extras, platforms, packages): any of their releases will do. Files speak of one
    and the same program, so that all of them hold; where they contradict each other, any will do. What limits others
    (``constraints.txt``) holds besides, unless nothing is left.
    """
    used = [statement for statement in stated if not statement.weak] or stated
    from tfmemlint.project.targets.versions import ANY, known

    asked: dict[str, Releases] = {}
    limits: Releases = ANY
    for statement in used:
        if statement.releases is None:
            continue
        if statement.constraint:
            limits = (limits & statement.releases) or limits
        else:
            asked[statement.path] = asked.get(statement.path, frozenset()) | statement.releases
    readable = [statement for statement in used if statement.releases is not None]
    if not readable:
        return FoundTarget(directory, tuple(stated), tuple(used))
    together = ANY.intersection(*asked.values()) if asked else ANY
    if known(together) is None:
        together = frozenset().union(*asked.values())
    together = (together & limits) or together
    span = known(together)
    if span is None:
        return FoundTarget(directory, tuple(stated), tuple(used))
    return FoundTarget(directory, tuple(stated), tuple(used), *span)


_finder = Finder()


def reset_cache() -> Finder:
    """Begin a run: files are read anew."""
    global _finder
    _finder = Finder()
    return _finder


def current() -> Finder:
    """The finder of the run that is going on."""
    return _finder
