"""The state of directory trees: a short name that is another one as soon as anything in them has changed.

Nothing is read: each entry counts with its kind, size and times, and its number in the file system. The time at which
an entry was changed (``st_ctime``) is the system's own; no program sets it.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable, Iterator

from tfmemlint.project.listing import MARKERS
from tfmemlint.project.roots import outermost
from tfmemlint.sources.walking import CONFIGURATIONS, NEVER_READ

MAX_ENTRIES = 200_000
"""Entries of a tree beyond which its state is not told: asking for that many takes a second."""
NAMES_ABOVE = frozenset(
    {
        *CONFIGURATIONS, *MARKERS, ".gitignore", ".gitattributes", "__init__.py", "conftest.py", ".ruff.toml",
        "ruff.toml", ".flake8", ".editorconfig",
    }
)  # fmt: skip
"""Names that a run asks for in the directories above those that it is given."""
_OF_GIT = (os.path.join(".git", "info", "exclude"), os.path.join(".git", "info", "attributes"))
_OF_PROJECTS = MARKERS - {".git", "pytest.ini", ".pytest.ini"}


class Changing(Exception):
    """Nothing short tells the state of a tree."""


def is_project_of_its_own(directory: str) -> bool:
    """Return True if no file below a directory belongs to a project, a package or tests that begin above it."""
    top = os.path.abspath(directory)
    if os.path.realpath(top) != top or top in outermost() or os.path.lexists(os.path.join(top, "__init__.py")):
        return False
    if not any(os.path.lexists(os.path.join(top, name)) for name in sorted(_OF_PROJECTS | {".git"})):
        return False
    return not any(os.path.lexists(os.path.join(above, "conftest.py")) for above in _above(top))


def state_of(tops: Iterable[str], leave_out: str = "") -> tuple[list[object], int]:
    """Return the state of everything below some directories, and of what is looked at above them, with the time of the
    latest change in nanoseconds.

    Args:
        tops: the directories. leave_out: the absolute path of one below them that does not count.

    Raises:
        Changing: the trees are too large, or a link leads out of them.
    """
    found: list[object] = []
    latest = 0
    count = 0
    for top in sorted(map(os.path.abspath, tops)):
        for directory in (top, *_above(top)):
            for name in (*sorted(NAMES_ABOVE), *_OF_GIT):
                about = about_file(os.path.join(directory, name))
                latest = max(latest, *about[-2:])
                found.append(about)
        within = os.path.join(top, "")
        pending = [top]
        while pending:
            directory = pending.pop()
            if directory == leave_out:
                continue
            found.append(directory)
            try:
                with os.scandir(directory) as scan:
                    entries = sorted(scan, key=lambda entry: entry.name)
            except OSError as error:
                found.append(error.errno)
                continue
            count += len(entries)
            if count > MAX_ENTRIES:
                raise Changing
            in_bytecode = os.path.basename(directory) == "__pycache__"
            for entry in entries:
                if in_bytecode and entry.name.endswith(".pyc"):
                    continue
                about = _about(entry.stat(follow_symlinks=False))
                if stat.S_ISLNK(about[0]):
                    found.append(_target(entry.path, within))
                    latest = max(latest, *about_file(entry.path)[-2:])
                elif stat.S_ISDIR(about[0]):
                    found.append((entry.name, about[0]))
                    if entry.name not in NEVER_READ:
                        pending.append(entry.path)
                    continue
                elif entry.name.endswith(".pyc"):
                    found.append(entry.name)
                    continue
                latest = max(latest, *about[-2:])
                found.append((entry.name, *about))
    return found, latest


def about_file(path: str) -> tuple[int, ...]:
    """Return what the file system says of a file, or of what a link leads to: its times come last. Of a directory only
    that it is one."""
    try:
        about = _about(os.stat(path))
    except (OSError, ValueError):
        return 0, 0, 0
    return (about[0], 0, 0) if stat.S_ISDIR(about[0]) else about


def _about(found: os.stat_result) -> tuple[int, ...]:
    return found.st_mode, found.st_size, found.st_ino, found.st_mtime_ns, found.st_ctime_ns


def _target(path: str, within: str) -> tuple[object, ...]:
    """Return where a link leads, and the state of the file there.

    Raises:
        Changing: to a directory outside of the tree, or to one of those that are left out.
    """
    real = os.path.realpath(path)
    if os.path.isdir(real):
        inner = os.path.join(real, "")
        if not inner.startswith(within) or not NEVER_READ.isdisjoint(inner[len(within) :].split(os.sep)):
            raise Changing
    return os.path.basename(path), real, *about_file(path)


def _above(directory: str) -> Iterator[str]:
    """Yield the directories above one, the nearest first."""
    above = os.path.dirname(directory)
    while above != directory:
        yield above
        directory, above = above, os.path.dirname(above)
