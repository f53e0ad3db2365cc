"""A program's processes: measure their memory, and kill them all.

Memory is known where the system has ``/proc`` (Linux); elsewhere only the time limit is enforced.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import signal
import sys
import time
from dataclasses import dataclass

_PROC = "/proc"
MAX_SEARCH_SHARE = 0.003
"""The part of one processor that the search for descendants may take; a bound without a deeper reason."""
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
    return FamilyWatch(root).usage()


class FamilyWatch:
    """Looks at a process and its descendants, again and again.

    To find the descendants, every process of the machine is looked at. Where there are many, that would take a part of
    the processor time that the program needs itself, so it is done less often than their memory is read.
    """

    def __init__(self, root: int) -> None:
        self._root = root
        self._members = [root]
        self._next_search = 0.0

    def usage(self) -> Usage:
        """Return what they use now; memory is 0 if it isn't known."""
        if time.monotonic() >= self._next_search:
            begin = time.thread_time()
            self._members = [self._root, *_descendants(self._root)]
            self._next_search = time.monotonic() + (time.thread_time() - begin) / MAX_SEARCH_SHARE
        memory = [_own_kib(process) for process in self._members]
        # All of them may see the same shared memory.
        shared = max(shared for _, shared in memory)
        return Usage((sum(own for own, _ in memory) + shared) / 1024, len(self._members))


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
    try:
        names = os.listdir(_PROC)  # noqa: PTH208 (its paths would take most of the time)
    except OSError:
        return found
    for name in names:
        if name.isdigit():
            # The name is in parentheses and may contain anything; the fields after it have fixed positions.
            fields = _read(name, "stat").rpartition(b")")[2].split(None, 2)
            with contextlib.suppress(ValueError, IndexError):
                found[int(name)] = int(fields[1])
    return found


def _own_kib(process: int) -> tuple[int, int]:
    """Return the memory of a process that is its own, and that which it may share, in KiB. Files are neither: the
    server's libraries are not the program's.
    """
    found = {b"RssAnon": 0, b"RssShmem": 0}
    for line in _read(str(process), "status").splitlines():
        name, _, value = line.partition(b":")
        if name in found:
            with contextlib.suppress(ValueError, IndexError):
                found[name] = int(value.split()[0])
    return found[b"RssAnon"], found[b"RssShmem"]


def _read(process: str, name: str) -> bytes:
    """Return the beginning of a file about a process, long enough for all of it; empty if the process has ended."""
    try:
        descriptor = os.open(f"{_PROC}/{process}/{name}", os.O_RDONLY)
    except OSError:
        return b""
    try:
        return os.read(descriptor, 1 << 16)
    except OSError:
        return b""
    finally:
        os.close(descriptor)
