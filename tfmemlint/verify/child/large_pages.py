"""Large pages for a process that forks often: a fork copies an entry for each of its pages."""

from __future__ import annotations

import ctypes
import sys
from pathlib import Path

LARGE_BYTES = 2 << 20
"""The size of a large page of x86-64, and of ARM with pages of 4 KiB. Elsewhere the system refuses: no harm."""
_COLLAPSE = 25
"""``MADV_COLLAPSE`` of Linux 6.1 and newer."""
_MAPS = Path("/proc/self/maps")


def use_large_pages() -> int:
    """Move this process's own memory into large pages where the system can; return how many there are.

    A process that holds TensorFlow needs some 0.2 s for it, and 25 ms less for each program that it forks for.
    """
    if not sys.platform.startswith("linux"):
        return 0
    try:
        advise = ctypes.CDLL(None).madvise
        lines = _MAPS.read_text(encoding="utf-8", errors="replace").splitlines()
    except (OSError, AttributeError):
        return 0
    advise.argtypes = (ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int)
    places = [address for line in lines for address in _large_places(line)]
    return sum(advise(address, LARGE_BYTES, _COLLAPSE) == 0 for address in places)


def _large_places(line: str) -> range:
    """Return where large pages can lie in a mapping of ``/proc/PID/maps``: nowhere in a file's, or in a shared one."""
    place, allowed, _, _, file, *name = line.split(None, 5)
    if file != "0" or "w" not in allowed or "s" in allowed or (name and name[0].startswith("[stack")):
        return range(0)
    begin, _, end = place.partition("-")
    first = -(-int(begin, 16) // LARGE_BYTES) * LARGE_BYTES
    return range(first, int(end, 16) // LARGE_BYTES * LARGE_BYTES, LARGE_BYTES)
