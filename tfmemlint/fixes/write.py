"""Files are replaced whole: an interrupted run leaves each one old or new.

The new text is written beside the file and renamed onto it. So a name that is one of several for the same file (a hard
link) becomes a file of its own, and the other names keep the old text: package managers link what lies in an
environment to their cache, and writing in place would change that as well. Whoever asked for the fix is told.
"""

from __future__ import annotations

import contextlib
import errno
import os
import re
import stat
import tempfile
import time
from functools import lru_cache
from pathlib import Path

from tfmemlint.sources.regular import read_regular
from tfmemlint.sources.walking import LITTER

CHANGED = "has changed since it was read, and was left unchanged: run tfmemlint again"
OUTSIDE = "is reached by a link that leads out of what was named, and was left unchanged: name it to have it fixed"
_NAME = re.compile(r"\.tfmemlint-(?P<machine>[0-9a-f]{12})-(?P<process>\d{1,10})-[^/\\]{1,20}\.tmp")
_DAY_SECONDS = 86_400


class ChangedError(Exception):
    """The file is not the one that was read any more."""


def replace_file(path: str | os.PathLike[str], data: bytes, expected: bytes | None = None) -> int:
    """Replace the content of ``path``; its mode and owner are kept, and where it is a link, its target is replaced.

    Args:
        expected: the content that the new one was made from.

    Returns:
        The number of other names (hard links) that the file had; they keep the old content.

    Raises:
        ChangedError: the content is not the expected one any more.
        OSError: the file can't be replaced. In either case it is as it was, and nothing is left beside it.
    """
    name = prepare_file(path, data, expected)
    target = Path(path).resolve(strict=True)
    links = target.stat().st_nlink
    try:
        Path(name).replace(target)
    except BaseException:
        with contextlib.suppress(OSError):
            Path(name).unlink()
        raise
    return links - 1


def prepare_file(path: str | os.PathLike[str], data: bytes, expected: bytes | None = None) -> str:
    """Write the new content of ``path`` beside it, ready to be renamed onto it, and return the name of that file.

    Args and errors are those of `replace_file`.
    """
    # Renaming onto a link would put a file in the link's place.
    target = Path(path).resolve(strict=True)
    found = target.stat()
    if not stat.S_ISREG(found.st_mode):
        raise OSError(errno.EINVAL, "not a regular file", str(path))
    if not os.access(target, os.W_OK):
        # A rename asks for no right on the file itself: without this, a write-protected file would be replaced.
        raise PermissionError(errno.EACCES, "Permission denied", str(path))
    _sweep_directory(target.parent)
    # The name does not depend on that of the file, which may be as long as names may be.
    prefix = f"{LITTER}{this_machine()}-{os.getpid()}-"
    handle, name = tempfile.mkstemp(prefix=prefix, suffix=".tmp", dir=target.parent)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        _take_after(name, target, found)
        if expected is not None and not _is_still(path, target, expected):
            raise ChangedError
    except BaseException:
        with contextlib.suppress(OSError):
            Path(name).unlink()
        raise
    return name


def _take_after(name: str, target: Path, found: os.stat_result) -> None:
    """Give the new file the owner, the mode and the extended attributes (access lists among them) of the old one."""
    with contextlib.suppress(OSError):
        os.chown(name, found.st_uid, found.st_gid)
    Path(name).chmod(stat.S_IMODE(found.st_mode))
    if hasattr(os, "listxattr"):
        with contextlib.suppress(OSError):
            for attribute in os.listxattr(target):
                with contextlib.suppress(OSError):
                    os.setxattr(name, attribute, os.getxattr(target, attribute))


def _is_still(path: str | os.PathLike[str], target: Path, expected: bytes) -> bool:
    """True if the file has the expected content, and nobody wrote it while it was compared."""
    before = target.stat()
    content = read_regular(target, len(expected) + 1)
    after = target.stat()
    same = (before.st_ino, before.st_mtime_ns, before.st_size) == (after.st_ino, after.st_mtime_ns, after.st_size)
    return same and content == expected and Path(path).resolve() == target


def is_litter(path: str | os.PathLike[str]) -> bool:
    """True for a name that this tool gives, on this machine, to a file that is to be renamed."""
    match = _NAME.fullmatch(Path(path).name)
    return match is not None and match["machine"] == this_machine()


def sweep(path: str | os.PathLike[str]) -> None:
    """Remove a file that a killed run has left, if this is one: written by this user on this machine, by a process
    that is gone."""
    match = _NAME.fullmatch(Path(path).name)
    if match is None or not is_litter(path):
        return
    with contextlib.suppress(OSError):
        found = os.lstat(path)
        own = not hasattr(os, "getuid") or found.st_uid == os.getuid()
        if stat.S_ISREG(found.st_mode) and own and not may_run(int(match["process"]), found.st_mtime):
            Path(path).unlink()


def may_run(process: int, written: float) -> bool:
    """True if a process may still be running that wrote a file at the time ``written``, in seconds."""
    if os.name == "nt":
        # There, asking for a process by a signal ends it.
        return time.time() - written < _DAY_SECONDS
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except (OSError, OverflowError):
        return True
    return True


@lru_cache(maxsize=256)
def _sweep_directory(directory: Path) -> None:
    """Sweep a directory, once a run."""
    with contextlib.suppress(OSError), os.scandir(directory) as entries:
        for path in [entry.path for entry in entries if entry.name.startswith(LITTER)]:
            sweep(path)


@lru_cache(maxsize=1)
def this_machine() -> str:
    """Return a name for this machine, or this container: elsewhere, the number of a process means another one."""
    import hashlib
    import platform

    space = ""
    with contextlib.suppress(OSError):
        space = str(Path("/proc/self/ns/pid").readlink())
    return hashlib.blake2b(f"{platform.node()}\0{space}".encode(), digest_size=6).hexdigest()
