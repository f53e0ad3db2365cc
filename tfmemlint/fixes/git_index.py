"""git's index, read as data. Source: gitformat-index(5).

Asking git itself would mean to obey the repository: ``git status`` runs what ``core.fsmonitor``, filters and hooks of
its configuration name. A library that reads repositories (dulwich, pygit2) brings a network client, or a binary, for
the sake of this one file.
"""

from __future__ import annotations

import os
import struct
from functools import lru_cache

from tfmemlint.model.records import dataclass
from tfmemlint.sources.regular import read_regular

LIMIT_BYTES = 512 * 2**20
"""An index of some five million files."""
_STAT = struct.Struct(">10I")
_EXTENDED, _STAGE, _NAME_LENGTH = 0x4000, 0x3000, 0x0FFF


class UnknownIndexError(Exception):
    """The index is not written as it is known here."""


@dataclass(frozen=True, slots=True)
class IndexEntry:
    """One file in the index.

    Attributes:
        digest: of the content, as a blob. stage: 0, or 1 to 3 in a merge that isn't finished.
        stat: ctime and mtime in seconds and nanoseconds, inode and size in bytes, each modulo 2**32.
    """

    digest: bytes
    stage: int
    stat: tuple[int, int, int, int, int, int]

    def vouches_for(self, found: os.stat_result, index_mtime_ns: int) -> bool:
        """True if git takes the file for unchanged without reading it."""
        mtime_ns = found.st_mtime_ns
        if mtime_ns >= index_mtime_ns:
            # It may have been written once more after the index was, within one tick of the clock.
            return False
        real = (*divmod(found.st_ctime_ns, 10**9), *divmod(mtime_ns, 10**9), found.st_ino, found.st_size)
        return self.stat == tuple(value % 2**32 for value in real)


@dataclass(frozen=True, slots=True)
class Index:
    """An index: its entries by path, and when it was written."""

    entries: dict[bytes, list[IndexEntry]]
    mtime_ns: int


def read_index(path: str, digest_size: int) -> Index:
    """Return the index in a file; an empty one where there is no such file.

    Args:
        digest_size: bytes of a content's name: 20 for SHA-1, 32 for SHA-256.

    Raises:
        UnknownIndexError: it can't be read, or is of a kind that is not known here.
    """
    try:
        found = os.stat(path)
    except FileNotFoundError:
        return Index({}, 0)
    except OSError as error:
        raise UnknownIndexError(str(error)) from None
    return _read(path, digest_size, (found.st_mtime_ns, found.st_size, found.st_ino))


@lru_cache(maxsize=4)
def _read(path: str, digest_size: int, state: tuple[int, int, int]) -> Index:
    try:
        data = read_regular(path, LIMIT_BYTES + 1)
    except OSError as error:
        raise UnknownIndexError(str(error)) from None
    if len(data) > LIMIT_BYTES:
        raise UnknownIndexError("too large")
    try:
        return Index(_entries(data, digest_size), state[0])
    except (struct.error, IndexError, ValueError) as error:
        raise UnknownIndexError(str(error)) from None


def _entries(data: bytes, digest_size: int) -> dict[bytes, list[IndexEntry]]:
    magic, version, count = struct.unpack_from(">4sII", data)
    if magic != b"DIRC" or version not in (2, 3, 4):
        raise UnknownIndexError(f"version {version}")
    entries: dict[bytes, list[IndexEntry]] = {}
    at, name = 12, b""
    for _ in range(count):
        start = at
        ctime, ctime_ns, mtime, mtime_ns, _dev, ino, _mode, _uid, _gid, size = _STAT.unpack_from(data, at)
        digest = data[at + 40 : at + 40 + digest_size]
        at += 40 + digest_size
        (flags,) = struct.unpack_from(">H", data, at)
        at += 4 if flags & _EXTENDED else 2
        if version == 4:
            stripped, at = _number(data, at)
            if stripped > len(name):
                raise UnknownIndexError("a name that is shorter than nothing")
            end = data.index(b"\0", at)
            name = name[: len(name) - stripped] + data[at:end]
            at = end + 1
        else:
            length = flags & _NAME_LENGTH
            end = at + length if length < _NAME_LENGTH else data.index(b"\0", at)
            name = data[at:end]
            # Padded with one to eight zeros to a multiple of eight.
            at = start + (end - start + 8) // 8 * 8
        entry = IndexEntry(digest, (flags & _STAGE) >> 12, (ctime, ctime_ns, mtime, mtime_ns, ino, size))
        entries.setdefault(name, []).append(entry)
    _refuse_unknown_extensions(data, at, digest_size)
    return entries


def _refuse_unknown_extensions(data: bytes, at: int, digest_size: int) -> None:
    """Refuse extensions that change the meaning of the entries.

    Raises:
        UnknownIndexError: an extension changes what the entries mean, as that of a split index (``link``) does, or the
            file ends too early.
    """
    while at < len(data) - digest_size:
        name, size = struct.unpack_from(">4sI", data, at)
        # Those that begin with a capital may be ignored; "sdir" says that an entry may stand for a whole directory.
        if not b"A" <= name[:1] <= b"Z" and name != b"sdir":
            raise UnknownIndexError(f"extension {name!r}")
        at += 8 + size
    if at != len(data) - digest_size:
        raise UnknownIndexError("it is cut off")


def _number(data: bytes, at: int) -> tuple[int, int]:
    """Return a number of variable length, and where it ends."""
    value = data[at] & 0x7F
    while data[at] & 0x80:
        at += 1
        value = (value + 1 << 7) | (data[at] & 0x7F)
    return value, at + 1
