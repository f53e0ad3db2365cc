"""Reading regular files only, up to a size: the one door through which bytes of a checked tree come in.

It imports nothing that takes time: most files are done when their bytes were searched.
"""

from __future__ import annotations

import errno
import os
import stat

TYPE_CHECKING = False  # importing `typing` takes longer than searching a file
if TYPE_CHECKING:
    from typing import BinaryIO

_FLAGS = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_BINARY", 0)
"""Without O_NONBLOCK, opening a FIFO that nobody writes to never returns."""

MAX_TEXT_BYTES = 32 * 2**20
"""A larger file is data, not a program that a person wrote."""
NOTEBOOK = ".ipynb"
MAX_NOTEBOOK_BYTES = 256 * 2**20
"""Most of a large notebook is output, which is skipped."""
TEXT_BYTES = 4 * 2**20
"""Bytes; a larger ignore file, attributes file or the like was written by no person."""


class Unreadable(Exception):
    """A file that can't be read as Python text; the message states the reason, ``row`` the place (0: the whole
    file)."""

    def __init__(self, message: str, row: int = 0) -> None:
        super().__init__(message)
        self.row = row


def can_name_a_file(path: str) -> bool:
    """True if the system could have a file of this name: none has a NUL in it, or half of a surrogate pair."""
    try:
        return b"\0" not in os.fsencode(path)
    except UnicodeEncodeError:
        return False


def open_regular(path: str | os.PathLike[str]) -> BinaryIO:
    """Open a regular file to read.

    Raises:
        OSError: it can't be opened, or is a FIFO, a socket, a device or a directory.
    """
    handle = os.open(path, _FLAGS)
    try:
        if not stat.S_ISREG(os.fstat(handle).st_mode):
            raise OSError(errno.EINVAL, "not a regular file", os.fspath(path))
    except BaseException:
        os.close(handle)
        raise
    return open(handle, "rb")  # which closes it where it fails: a second time would close another file


def read_regular(path: str | os.PathLike[str], limit_bytes: int) -> bytes:
    """Return at most the first ``limit_bytes`` bytes of a regular file.

    Raises:
        OSError: it can't be opened, or is a FIFO, a socket, a device or a directory.
    """
    with open_regular(path) as file:
        size = os.fstat(file.fileno()).st_size
        # Python asks the kernel for as many bytes as are to be read, and gives back what is not needed, but never the
        # mapping itself: a process that keeps 60,000 files read to a large limit can map nothing more.
        data = file.read(min(size + 1, limit_bytes))
        return data if len(data) <= size else data + file.read(limit_bytes - len(data))


def read_text(path: str | os.PathLike[str], limit_bytes: int = TEXT_BYTES) -> str:
    """Return a regular file as text, whatever its bytes; "" where it can't be read or is larger than the limit."""
    try:
        data = read_regular(path, limit_bytes + 1)
    except (OSError, ValueError):
        return ""
    return data.decode("utf-8", "replace") if len(data) <= limit_bytes else ""


def read_bytes(path: str | os.PathLike[str]) -> bytes:
    """Return a file's bytes.

    Raises:
        Unreadable: it can't be opened, or is not a regular file.
    """
    try:
        return read_regular(path, (MAX_NOTEBOOK_BYTES if os.fspath(path).endswith(NOTEBOOK) else MAX_TEXT_BYTES) + 1)
    except OSError as error:
        raise Unreadable(error.strerror or str(error)) from None
