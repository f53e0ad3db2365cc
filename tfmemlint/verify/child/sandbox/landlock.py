"""Landlock: the kernel refuses a process to write, to read, and to signal others, except where a rule allows it.

Source: the kernel's ``Documentation/userspace-api/landlock.rst`` and ``linux/landlock.h``. Rights that a kernel doesn't
know are left out, by the version that it reports.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import stat
from collections.abc import Collection, Iterator

from tfmemlint.verify.child.sandbox import kernel

_CREATE_RULESET, _ADD_RULE, _RESTRICT_SELF = 444, 445, 446
_VERSION_FLAG, _RULE_PATH_BENEATH = 1, 1
_WRITE_FILE, _READ_FILE = 1 << 1, 1 << 2
_REMOVE_DIR, _REMOVE_FILE = 1 << 4, 1 << 5
_MAKE = 0b111_1111 << 6
_REFER, _TRUNCATE = 1 << 13, 1 << 14
_OF_FILES = _WRITE_FILE | _READ_FILE | _TRUNCATE
"""The rights that a rule for a file, not a folder, may name."""
_SCOPE_SIGNALS = 1 << 1
SIGNALS_SINCE = 6
"""The version from which signals to processes outside can be refused."""


class _Ruleset(ctypes.Structure):
    _fields_ = (("files", ctypes.c_uint64), ("network", ctypes.c_uint64), ("scoped", ctypes.c_uint64))


class _PathBeneath(ctypes.Structure):
    _pack_ = 1
    _fields_ = (("allowed", ctypes.c_uint64), ("parent", ctypes.c_int32))


def version() -> int:
    """Return the version of Landlock in this kernel; 0 if there is none."""
    try:
        return kernel.system_call(_CREATE_RULESET, None, ctypes.c_size_t(0), ctypes.c_uint32(_VERSION_FLAG))
    except OSError:
        return 0


def restrict(writable: Collection[str], hidden: Collection[str]) -> int:
    """Refuse this process to write outside of ``writable``, and to read files in ``hidden``.

    It can't be undone, and holds for all that the process starts.

    Args:
        writable: folders and files. hidden: folders and files, by their real paths; none to let it read everything.

    Returns:
        The version of Landlock; 0 if this kernel has none, and nothing is refused.

    Raises:
        OSError: the kernel refuses.
    """
    known = version()
    if not known:
        return 0
    writing = _WRITE_FILE | _REMOVE_DIR | _REMOVE_FILE | _MAKE
    writing |= (_REFER if known >= 2 else 0) | (_TRUNCATE if known >= 3 else 0)
    reading = _READ_FILE if hidden else 0
    rules = _Ruleset(writing | reading, 0, _SCOPE_SIGNALS if known >= SIGNALS_SINCE else 0)
    # An older kernel accepts a longer structure if what it does not know is zero.
    size = ctypes.c_size_t(ctypes.sizeof(rules))
    ruleset = kernel.system_call(_CREATE_RULESET, ctypes.byref(rules), size, ctypes.c_uint32(0))
    try:
        for path in writable:
            _allow(ruleset, path, writing | reading)
        if hidden:
            for path in _around(hidden, "/"):
                _allow(ruleset, path, reading)
        kernel.refuse_new_privileges()
        kernel.system_call(_RESTRICT_SELF, ruleset, ctypes.c_uint32(0))
    finally:
        os.close(ruleset)
    return known


def _allow(ruleset: int, path: str, rights: int) -> None:
    with contextlib.suppress(OSError):  # it has just gone, or can't be opened: nothing is allowed there
        descriptor = os.open(path, os.O_PATH | os.O_CLOEXEC)
        try:
            is_folder = stat.S_ISDIR(os.fstat(descriptor).st_mode)
            rule = _PathBeneath(rights if is_folder else rights & _OF_FILES, descriptor)
            kernel.system_call(_ADD_RULE, ruleset, _RULE_PATH_BENEATH, ctypes.byref(rule), ctypes.c_uint32(0))
        finally:
            os.close(descriptor)


def _around(hidden: Collection[str], folder: str) -> Iterator[str]:
    """Yield folders and files that together hold everything in ``folder`` but ``hidden``."""
    try:
        entries = list(os.scandir(folder))
    except OSError:
        return
    for entry in entries:
        if entry.path in hidden or entry.is_symlink():
            continue  # what a link leads to has rules of its own
        if any(path.startswith(f"{entry.path}/") for path in hidden):
            yield from _around(hidden, entry.path)
        else:
            yield entry.path
