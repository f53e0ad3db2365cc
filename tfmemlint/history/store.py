"""The objects and references of a git repository that a stranger may have made, opened by dulwich within limits.

dulwich opens what lies below ``.git`` as it is: a named pipe in the place of a reference is waited for without end, and
an object is made as large as it says. So what is no regular file is refused before it is opened, and the size of an
object is read before the object is.
"""

from __future__ import annotations

import os
import stat
import zlib
from collections.abc import Iterator
from mmap import mmap

from dulwich.object_store import BaseObjectStore, DiskObjectStore
from dulwich.objects import ShaFile
from dulwich.pack import Pack
from dulwich.refs import DiskRefsContainer

from tfmemlint.history.errors import LIMIT_BYTES, HistoryError, TooLargeError
from tfmemlint.sources.regular import read_regular, read_text

MAX_ALTERNATES = 20
"""Other folders of objects that are looked into."""
MAX_CHAIN = 5_000
"""Deltas on top of each other; git writes 4,095 at most."""
_TOO_LARGE = f"{{}}: is larger than {LIMIT_BYTES // 2**20} MiB"
_DELTAS = OFS_DELTA, REF_DELTA = 6, 7


def refuse_special(*paths: str) -> None:
    """Refuse files that are there and are no regular files.

    Raises:
        HistoryError: there is one.
    """
    for path in paths:
        try:
            found = os.stat(path)
        except (OSError, ValueError):
            continue
        if not stat.S_ISREG(found.st_mode) and not stat.S_ISDIR(found.st_mode):
            raise HistoryError(f"{path}: is no regular file")


class References(DiskRefsContainer):
    """The references of a repository."""

    def read_loose_ref(self, name: bytes) -> bytes | None:
        """Return what is in the file of a reference."""
        refuse_special(os.fsdecode(self.refpath(name)))
        return super().read_loose_ref(name)  # type: ignore[arg-type]

    def get_packed_refs(self) -> dict[bytes, bytes]:  # type: ignore[override]
        """Return the references that are in one file."""
        refuse_special(os.path.join(os.fsdecode(self.path), "packed-refs"))
        return super().get_packed_refs()  # type: ignore[return-value]


class Objects(DiskObjectStore):
    """A folder of objects, and those that it names besides."""

    def __init__(self, path: str, *, alone: bool = False) -> None:
        """Open the folder; ``alone``: without others.

        Raises:
            HistoryError: something in it is no regular file.
        """
        super().__init__(path)
        for folder in (path, *(os.path.join(path, name) for name in ("info", "info/commit-graphs", "pack"))):
            names = os.listdir(folder) if os.path.isdir(folder) else []
            refuse_special(*(os.path.join(folder, name) for name in names))
        self._others: list[BaseObjectStore] | None = [] if alone else None
        self._all_packs: list[Pack] | None = None

    @property
    def alternates(self) -> list[BaseObjectStore]:
        """The other folders, each once, however often and in what circles they name each other."""
        if self._others is None:
            places = [place for place in _all_alternates(os.fspath(self.path)) if os.path.isdir(place)]
            self._others = [Objects(place, alone=True) for place in places]
        return self._others

    def _get_loose_object(self, sha: bytes) -> ShaFile | None:
        path = os.fsdecode(self._get_shafile_path(sha))  # type: ignore[arg-type]
        refuse_special(path)
        if os.path.isfile(path) and _size_of_loose(path) > LIMIT_BYTES:
            raise TooLargeError(_TOO_LARGE.format(os.path.basename(path)[:12]))
        return super()._get_loose_object(sha)  # type: ignore[arg-type]

    def get_raw(self, name: bytes) -> tuple[int, bytes]:
        """Return the kind and the content of an object.

        Raises:
            HistoryError: it is larger than `LIMIT_BYTES`. KeyError: it is not there.
        """
        if self._all_packs is None:
            self._all_packs = list(self.packs)
        for pack in self._all_packs:
            if name in pack and _size_in_pack(pack, name) > LIMIT_BYTES:  # type: ignore[operator]
                raise TooLargeError(_TOO_LARGE.format(name[:12].decode("ascii", "replace")))
        return super().get_raw(name)  # type: ignore[arg-type]


def _size_of_loose(path: str) -> int:
    """Return the size in bytes of an object in a file of its own, as the file says it; 0 where it can't be told."""
    try:
        start = zlib.decompressobj().decompress(read_regular(path, 128), 64)
        return int(start.partition(b"\0")[0].split()[1])
    except (OSError, ValueError, IndexError, zlib.error):
        return 0


def _all_alternates(path: str) -> Iterator[str]:
    """Yield the folders that a folder of objects names, and those that they name."""
    pending, seen = [path], {os.path.realpath(path)}
    while pending:
        folder = pending.pop(0)
        for line in read_text(os.path.join(folder, "info", "alternates"), 2**16).split("\n"):
            other = os.path.realpath(os.path.join(folder, line))
            if not line or line.startswith("#") or other in seen or len(seen) > MAX_ALTERNATES:
                continue
            seen.add(other)
            pending.append(other)
            yield other


def _size_in_pack(pack: Pack, name: bytes) -> int:
    """Return the largest size in bytes that reading an object of a pack asks for, as the pack says it."""
    data = pack.data._buffer()
    offset = pack.index.object_offset(name)  # type: ignore[arg-type]
    most = 0
    for _ in range(MAX_CHAIN):
        kind, size, at = _header(data, offset)
        most = max(most, size)
        if kind not in _DELTAS:
            return most
        if kind == OFS_DELTA:
            back, at = _distance(data, at)
            base = offset - back
        else:
            base = pack.index.object_offset(bytes(data[at : at + 20]))  # type: ignore[arg-type]
            at += 20
        most = max(most, *_sizes_of_delta(bytes(data[at : at + 64])))
        offset = base
    raise HistoryError(f"{name.hex()[:12]}: is made of more than {MAX_CHAIN} deltas")


def _header(data: bytes | mmap, at: int) -> tuple[int, int, int]:
    """Return the kind and the size in bytes of an object in a pack, and where it goes on (gitformat-pack(5))."""
    byte = data[at]
    kind, size, shift = byte >> 4 & 7, byte & 15, 4
    while byte & 0x80:
        at += 1
        byte = data[at]
        size |= (byte & 0x7F) << shift
        shift += 7
    return kind, size, at + 1


def _distance(data: bytes | mmap, at: int) -> tuple[int, int]:
    """Return how many bytes before a delta its base is, and where the delta goes on."""
    byte = data[at]
    value = byte & 0x7F
    while byte & 0x80:
        at += 1
        byte = data[at]
        value = (value + 1 << 7) | (byte & 0x7F)
    return value, at + 1


def _sizes_of_delta(compressed: bytes) -> tuple[int, int]:
    """Return the sizes in bytes of what a delta is applied to, and of what it makes."""
    start = zlib.decompressobj().decompress(compressed, 24)
    sizes, at = [], 0
    for _ in range(2):
        size, shift = 0, 0
        while True:
            byte = start[at]
            size |= (byte & 0x7F) << shift
            shift, at = shift + 7, at + 1
            if not byte & 0x80:
                break
        sizes.append(size)
    return sizes[0], sizes[1]
