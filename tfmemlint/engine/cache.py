"""Results of earlier runs, by the contents of all files that they depend on: unchanged files are not analyzed again.

The entries of one working directory lie in one file of the user's cache directory, or of ``TFMEMLINT_CACHE_DIR``,
never in a project. The file is data (`tfmemlint.engine.cached_values`), one entry a line: the key, the day on which it
was last asked for, a checksum, and the value as JSON, which is read when somebody asks for it. What can't be read or
written is done without, in silence; nothing depends on it but the time.
"""

from __future__ import annotations

import hashlib
import os
import stat
import sys
import time
from collections.abc import Iterable
from dataclasses import field
from typing import Any

from tfmemlint.engine.cached_values import KINDS, decode, encode, has_findings
from tfmemlint.model.records import dataclass
from tfmemlint.sources.regular import open_regular

VARIABLE = "TFMEMLINT_CACHE_DIR"
"""Names another directory for the cache."""
_HEAD = b"tfmemlint cache 2"
"""The first line of a file."""
_DAYS = 30
"""The time for which an unused entry is kept."""
_MOST = 20_000
"""Entries in one file."""
LIMIT_BYTES = 64 * 1024 * 1024
"""Bytes of a file beyond which it is neither read nor written."""
_DAY_SECONDS = 86_400


def digest(*parts: object) -> str:
    """A short name for values that are told apart by their `repr`, and for bytes."""
    made = hashlib.blake2b(digest_size=16)
    for part in parts:
        data = part if isinstance(part, bytes) else repr(part).encode("utf-8", "surrogatepass")
        made.update(len(data).to_bytes(8, "big"))
        made.update(data)
    return made.hexdigest()


@dataclass(slots=True)
class Cache:
    """Values by their keys. Each is decoded when it is asked for.

    Attributes:
        path: the file; None for a cache that knows nothing and keeps nothing.
        for_fixes: no findings are taken from it. Whoever can write into it would write into the files that are fixed.
    """

    path: str | None = None
    _entries: dict[str, tuple[int, bytes]] = field(default_factory=dict)
    _changed: bool = False
    for_fixes: bool = False

    def __contains__(self, key: str) -> bool:
        """Return True if something was kept under ``key``, damaged or not."""
        return key in self._entries

    def get(self, key: str, *kinds: str) -> Any:
        """Return what was kept under ``key``; None for nothing, or what is of none of the ``kinds``."""
        found = self._entries.get(key)
        if found is None:
            return None
        day, line = found
        checksum, _, text = line.partition(b" ")
        try:
            if checksum != _checksum(text):
                raise ValueError("damaged")
            value = decode(text.decode("ascii"), kinds or KINDS)
        except Exception:  # whatever is wrong with it, it is found out anew
            del self._entries[key]
            return None
        if self.for_fixes and has_findings(value):
            return None
        if day != _today():
            self._entries[key] = (_today(), line)
            self._changed = True
        return value

    def put(self, key: str, value: object) -> None:
        """Keep ``value``."""
        if self.path is None:
            return
        try:
            text = encode(value).encode("ascii")
        except Exception:  # a rule of another package may put anything into a finding
            return
        self._entries[key] = (_today(), _checksum(text) + b" " + text)
        self._changed = True

    def save(self) -> None:
        """Write the file, where something in it is new."""
        if self.path is None or not self._changed:
            return
        import tempfile

        try:
            handle, name = tempfile.mkstemp(dir=os.path.dirname(self.path), prefix=_NEW)
            try:
                with os.fdopen(handle, "wb") as file:
                    file.writelines(self._lines())
                os.replace(name, self.path)
            except BaseException:
                os.unlink(name)
                raise
        except OSError:
            return
        self._changed = False

    def _lines(self) -> list[bytes]:
        """The lines of the file: the latest entries, as many as there is room for."""
        oldest = _today() - _DAYS
        entries = sorted((item for item in self._entries.items() if item[1][0] >= oldest), key=lambda item: -item[1][0])
        lines, room = [_HEAD + b"\n"], LIMIT_BYTES - len(_HEAD) - 1
        for key, (day, line) in entries[:_MOST]:
            whole = b"%b %d %b\n" % (key.encode(), day, line)
            room -= len(whole)
            if room < 0:
                break
            lines.append(whole)
        return lines


_NEW = ".new-"
"""Begins the name of a file that is being written."""


def _checksum(text: bytes) -> bytes:
    """Return a name for a text by which damage is told."""
    return hashlib.blake2b(text, digest_size=8).hexdigest().encode()


def open_cache(place: str, modules: Iterable[str] = (), name: str = "") -> Cache:
    """Return the cache for runs in the directory ``place``.

    Args:
        modules: the files of rules that other packages bring. name: what goes by one lies in a file of its own.
    """
    directory = _directory(_version(modules))
    if directory is None:
        return Cache()
    path = os.path.join(directory, f"{digest(os.path.abspath(place), *([name] if name else []))}.cache")
    return Cache(path, _read(path))


def _read(path: str) -> dict[str, tuple[int, bytes]]:
    try:
        with open_regular(path) as file:
            about = os.fstat(file.fileno())
            if not _is_ours(about) or about.st_size > LIMIT_BYTES:
                return {}
            data = file.read(LIMIT_BYTES + 1)
    except OSError:
        return {}
    head, *lines = data.split(b"\n")
    if head != _HEAD:
        return {}
    entries: dict[str, tuple[int, bytes]] = {}
    for line in lines:
        key, _, rest = line.partition(b" ")
        day, _, rest = rest.partition(b" ")
        if rest and day.isdigit() and len(day) < 9 and key.isascii():
            entries[key.decode("ascii")] = int(day), rest
    return entries


def _is_ours(about: os.stat_result) -> bool:
    """True if nobody else can have written it."""
    if not hasattr(os, "getuid"):
        return True
    return about.st_uid == os.getuid() and not about.st_mode & (stat.S_IWGRP | stat.S_IWOTH)


def _directory(version: str) -> str | None:
    """Return where the files of this version are, made where it isn't there; None where that can't be."""
    top = os.environ.get(VARIABLE)
    if not top:
        from platformdirs import user_cache_dir

        top = user_cache_dir("tfmemlint", appauthor=False)
    path = os.path.join(os.path.abspath(top), f"check-{version}")
    try:
        if not os.path.isdir(path):
            os.makedirs(path, mode=0o700, exist_ok=True)
            _sweep(os.path.dirname(path))
        return path if _is_ours(os.stat(path)) else None
    except OSError:
        return None


def _sweep(top: str) -> None:
    """Remove what other versions have left long ago, and what killed runs have."""
    import contextlib
    import shutil

    for name in os.listdir(top):
        path = os.path.join(top, name)
        if not name.startswith("check-") or os.path.islink(path) or not os.path.isdir(path):
            continue
        if time.time() - os.stat(path).st_mtime > _DAYS * _DAY_SECONDS:
            shutil.rmtree(path, ignore_errors=True)
            continue
        for inner in os.listdir(path):
            file = os.path.join(path, inner)
            with contextlib.suppress(OSError):
                if inner.startswith(_NEW) and time.time() - os.lstat(file).st_mtime > _DAY_SECONDS:
                    os.unlink(file)


def _version(modules: Iterable[str]) -> str:
    """A name for this very code: an edit of the tool itself makes all that was found before void."""
    import tfmemlint

    seen: list[object] = [sys.version_info[:3]]
    for top in tfmemlint.__path__:
        for directory, below, files in os.walk(top):
            below[:] = sorted(name for name in below if name != "__pycache__")
            seen.extend(_about(os.path.join(directory, name)) for name in sorted(files))
    seen.extend(_about(path) for path in sorted(modules))
    return digest(*seen)


def _about(path: str) -> tuple[str, int, int]:
    about = os.stat(path)
    return path, about.st_size, about.st_mtime_ns


def _today() -> int:
    return int(time.time() // _DAY_SECONDS)
