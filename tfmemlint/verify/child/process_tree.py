"""A program's processes: how much memory they hold, and an end for all of them.

Memory is known where the system has ``/proc`` (Linux); elsewhere only the time limit holds.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import signal
import sys
from pathlib import Path

_PROC = Path("/proc")
_SET_PDEATHSIG = 1
_SET_CHILD_SUBREAPER = 36


def adopt_orphans() -> None:
    """Become the parent of every descendant whose own parent ends, so that none can get away (Linux)."""
    _prctl(_SET_CHILD_SUBREAPER, 1)


def die_with_parent(number: signal.Signals) -> None:
    """Be sent a signal when the parent ends (Linux)."""
    _prctl(_SET_PDEATHSIG, int(number))


def _prctl(option: int, value: int) -> None:
    if sys.platform.startswith("linux"):
        with contextlib.suppress(OSError, AttributeError):
            ctypes.CDLL(None).prctl(option, value, 0, 0, 0)


def resident_mib(root: int) -> float:
    """Return the resident memory in MiB that ``root`` and its descendants have for themselves; 0 where it can't be
    known.
    """
    return sum(_own_kib(process) for process in [root, *_descendants(root)]) / 1024


def end_all(leader: int, *, waited: bool) -> None:
    """Kill ``leader`` with its process group, then whatever it left running elsewhere; ``waited``: it has ended."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(leader, signal.SIGKILL)
    if not waited:
        with contextlib.suppress(ProcessLookupError):
            os.kill(leader, signal.SIGKILL)
        os.waitpid(leader, 0)
    # What it left behind is this process's now.
    end_children(set())


def end_children(kept: set[int]) -> None:
    """Kill the children of this process other than ``kept``, and theirs, which come here only when those have ended."""
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
    """Return the parent of every process that can be seen."""
    found: dict[int, int] = {}
    if not _PROC.is_dir():
        return found
    for folder in _PROC.iterdir():
        if folder.name.isdigit():
            with contextlib.suppress(OSError, ValueError, IndexError):
                # The name stands in parentheses and may hold anything; what follows is in fixed places.
                fields = (folder / "stat").read_text(errors="replace").rpartition(")")[2].split()
                found[int(folder.name)] = int(fields[1])
    return found


def _own_kib(process: int) -> int:
    """What a process doesn't share with files: the server's libraries are no memory of the program's."""
    with contextlib.suppress(OSError, ValueError, IndexError):
        for line in (_PROC / str(process) / "status").read_text(errors="replace").splitlines():
            if line.startswith("RssAnon:"):
                return int(line.split()[1])
    return 0
