"""A program's processes: measure their memory, and kill them all.

Memory is known where the system has ``/proc`` (Linux); elsewhere only the time limit is enforced.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import signal
import sys
from dataclasses import dataclass
from pathlib import Path

_PROC = Path("/proc")
_SET_PDEATHSIG = 1
_SET_CHILD_SUBREAPER = 36


def adopt_orphans() -> None:
    """Become the parent of every descendant whose own parent ends, so that none can escape (Linux)."""
    _prctl(_SET_CHILD_SUBREAPER, 1)


def die_with_parent(number: signal.Signals) -> None:
    """Arrange for a signal when the parent ends (Linux)."""
    _prctl(_SET_PDEATHSIG, int(number))


def _prctl(option: int, value: int) -> None:
    if sys.platform.startswith("linux"):
        with contextlib.suppress(OSError, AttributeError):
            ctypes.CDLL(None).prctl(option, value, 0, 0, 0)


@dataclass(frozen=True, slots=True)
class Usage:
    """The use of the machine by several processes.

    Attributes:
        mib: their resident memory, without that of files, in MiB. processes: their number.
    """

    mib: float
    processes: int


def used_by(root: int) -> Usage:
    """Return what ``root`` and its descendants use; memory is 0 if it isn't known."""
    tree = [root, *_descendants(root)]
    memory = [_own_kib(process) for process in tree]
    # All of them may see the same shared memory.
    shared = max(shared for _, shared in memory)
    return Usage((sum(own for own, _ in memory) + shared) / 1024, len(tree))


def end_all(leader: int, *, waited: bool) -> None:
    """Kill ``leader`` and its process group, then whatever it left running elsewhere; ``waited``: it has ended."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(leader, signal.SIGKILL)
    if not waited:
        with contextlib.suppress(ProcessLookupError):
            os.kill(leader, signal.SIGKILL)
        os.waitpid(leader, 0)
    # Processes that it left are children of this one now.
    end_children(set())


def end_children(kept: set[int]) -> None:
    """Kill the children of this process other than ``kept``, and those that become its children as theirs end."""
    for _ in range(1000):
        left = [process for process in _children(os.getpid()) if process not in kept]
        if not left:
            return
        for process in left:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.kill(process, signal.SIGKILL)
            with contextlib.suppress(ChildProcessError):
                os.waitpid(process, 0)


def _descendants(root: int) -> list[int]:
    parents = _parents()
    found: list[int] = []
    waiting = [root]
    while waiting:
        parent = waiting.pop()
        children = [process for process, its in parents.items() if its == parent]
        found += children
        waiting += children
    return found


def _children(parent: int) -> list[int]:
    return [process for process, its in _parents().items() if its == parent]


def _parents() -> dict[int, int]:
    """Return the parent of every visible process."""
    found: dict[int, int] = {}
    if not _PROC.is_dir():
        return found
    for folder in _PROC.iterdir():
        if folder.name.isdigit():
            with contextlib.suppress(OSError, ValueError, IndexError):
                # The name is in parentheses and may contain anything; the fields after it have fixed positions.
                fields = (folder / "stat").read_text(errors="replace").rpartition(")")[2].split()
                found[int(folder.name)] = int(fields[1])
    return found


def _own_kib(process: int) -> tuple[int, int]:
    """Return the memory of a process that is its own, and that which it may share, in KiB. Files are neither: the
    server's libraries are not the program's.
    """
    own = shared = 0
    with contextlib.suppress(OSError, ValueError, IndexError):
        for line in (_PROC / str(process) / "status").read_text(errors="replace").splitlines():
            if line.startswith("RssAnon:"):
                own = int(line.split()[1])
            elif line.startswith("RssShmem:"):
                shared = int(line.split()[1])
    return own, shared
