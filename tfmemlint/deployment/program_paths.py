"""The project file that a launch refers to: from the current directory, and from the files that an image has copied.

If a path may refer to more than one file, it refers to none.
"""

from __future__ import annotations

import fnmatch
import os
import posixpath
from collections.abc import Callable, Iterable, Iterator, Sequence

from tfmemlint.deployment.containers import Copied
from tfmemlint.model.configuration import HERE, ProgramStart
from tfmemlint.model.records import dataclass

Find = Callable[[ProgramStart], "str | None"]
"""A function that returns the project file that a program start refers to; None if it is unknown."""

asked: set[str] = set()
"""All files and directories that were asked for, there or not: they may be outside of a project."""


def reset_cache() -> None:
    """Forget what was asked for."""
    asked.clear()


@dataclass(frozen=True, slots=True)
class OnHost:
    """Programs that are started in the project itself.

    Attributes:
        script: the directory of the file that starts them.
        bases: the directories in which that file may have been started.
    """

    script: str
    bases: tuple[str, ...]

    def __call__(self, start: ProgramStart) -> str | None:
        directory = start.directory
        if directory is None:
            return None
        if directory.startswith(HERE):
            return _only(_existing([f"{self.script}/{directory[len(HERE) :]}"], start))
        if directory.startswith("/"):
            return None
        return _only(_existing([posixpath.join(base, directory) for base in self.bases], start))


@dataclass(frozen=True, slots=True)
class InImage:
    """Programs in an image.

    Attributes:
        copied: the project files that it contains.
        contexts: the directories in which its build may have started.
    """

    copied: tuple[Copied, ...]
    contexts: tuple[str, ...]

    def __call__(self, start: ProgramStart) -> str | None:
        directory = start.directory
        if directory is None or directory.startswith(HERE):
            return None
        for name in _names(start):
            if not name.startswith("/") and not directory.startswith("/"):
                continue
            found = self._source(posixpath.normpath(posixpath.join(directory or "/", name)))
            if found is not None:
                return found
        return None

    def _source(self, path: str) -> str | None:
        for copied in reversed(self.copied):
            found: set[str] = set()
            for context in self.contexts:
                files = set(_sources(copied, path, context))
                asked.update(files)
                found.update(file for file in files if os.path.isfile(file))
            if found:
                return _only(found)
        return None


def _sources(copied: Copied, path: str, context: str) -> Iterator[str]:
    """Yield the project files that a file of an image may be a copy of."""
    inner = posixpath.relpath(path, copied.target)
    for source in copied.sources:
        place = os.path.normpath(
            os.path.join(
                context, source.lstrip("/") if not os.path.isabs(source) or not os.path.exists(source) else source
            )
        )
        asked.update((place, source) if os.path.isabs(source) else (place,))
        if os.path.isdir(place):
            if not inner.startswith(".."):
                yield os.path.normpath(os.path.join(place, inner))
        elif "*" in source or "?" in source:
            if "/" not in inner and inner != "." and fnmatch.fnmatch(inner, os.path.basename(source)):
                yield os.path.join(os.path.dirname(place), inner)
        elif path == (posixpath.join(copied.target, os.path.basename(place)) if copied.into else copied.target):
            yield place


def _names(start: ProgramStart) -> list[str]:
    """Return the files that a start may refer to, as written."""
    if start.module:
        module = start.module.replace(".", "/")
        return [f"{module}.py", f"{module}/__main__.py"]
    return [start.program] if start.program else []


def _existing(bases: Sequence[str], start: ProgramStart) -> set[str]:
    names = [name for name in _names(start) if not name.startswith(("/", "~", HERE))]
    places = {os.path.normpath(os.path.join(base, name)) for base in bases for name in names}
    asked.update(places)
    return {place for place in places if os.path.isfile(place)}


def _only(found: Iterable[str]) -> str | None:
    files = {os.path.normpath(file) for file in found}
    return files.pop() if len(files) == 1 else None
