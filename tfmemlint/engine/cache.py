"""What was found before, by the contents of all that it was found in: the same files needn't be gone through again.

The entries of one working directory lie in one file of the user's cache directory, or of ``TFMEMLINT_CACHE_DIR``,
never in a project: a file that comes with other people's code is not unpickled. What can't be read or written is done
without, in silence; nothing depends on it but the time.
"""

from __future__ import annotations

import hashlib
import io
import os
import pickle
import stat
import sys
import time
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

VARIABLE = "TFMEMLINT_CACHE_DIR"
"""Names another directory for the cache."""
_DAYS = 30
"""How long an entry is kept that nobody asks for."""
_MOST = 20_000
_LARGEST = 64 * 1024 * 1024
"""Bytes of a file beyond which it is not read."""
_PLAIN = frozenset({("builtins", "frozenset"), ("builtins", "set"), ("builtins", "slice"), ("builtins", "complex")})
"""What is unpickled besides tfmemlint's own classes."""


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
    """Values by their keys. Each is unpickled when it is asked for.

    Attributes:
        path: the file; None for a cache that knows nothing and keeps nothing.
    """

    path: str | None = None
    _entries: dict[str, tuple[int, bytes]] = field(default_factory=dict)
    _changed: bool = False

    def get(self, key: str) -> Any:
        """What was kept under ``key``; None for nothing."""
        found = self._entries.get(key)
        if found is None:
            return None
        try:
            value = _Unpickler(io.BytesIO(found[1])).load()
        except Exception:  # whatever is wrong with it, it is found out anew
            del self._entries[key]
            return None
        if found[0] != _today():
            self._entries[key] = (_today(), found[1])
            self._changed = True
        return value

    def put(self, key: str, value: object) -> None:
        """Keep ``value``."""
        if self.path is None:
            return
        try:
            self._entries[key] = (_today(), pickle.dumps(value, protocol=5))
        except Exception:  # a rule of another package may put anything into a finding
            return
        self._changed = True

    def save(self) -> None:
        """Write the file, where something in it is new."""
        if self.path is None or not self._changed:
            return
        import tempfile

        oldest = _today() - _DAYS
        kept = sorted((item for item in self._entries.items() if item[1][0] >= oldest), key=lambda item: -item[1][0])
        try:
            handle, name = tempfile.mkstemp(dir=os.path.dirname(self.path), prefix=".new-")
            try:
                with os.fdopen(handle, "wb") as file:
                    pickle.dump(dict(kept[:_MOST]), file, protocol=5)
                os.replace(name, self.path)
            except BaseException:
                os.unlink(name)
                raise
        except OSError:
            return
        self._changed = False


class _Unpickler(pickle.Unpickler):
    def find_class(self, module: str, name: str) -> Any:
        if module.partition(".")[0] == "tfmemlint" or (module, name) in _PLAIN:
            return super().find_class(module, name)
        raise pickle.UnpicklingError(f"{module}.{name} has no place here")


def open_cache(place: str, modules: Iterable[str] = (), name: str = "") -> Cache:
    """The cache for runs in the directory ``place``; ``modules`` are the files of rules that other packages bring. What
    goes by another ``name`` lies in a file of its own."""
    directory = _directory(_version(modules))
    if directory is None:
        return Cache()
    path = os.path.join(directory, f"{digest(os.path.abspath(place), *([name] if name else []))}.pickle")
    return Cache(path, _read(path))


def _read(path: str) -> dict[str, tuple[int, bytes]]:
    try:
        with open(path, "rb") as file:
            about = os.fstat(file.fileno())
            if not _is_ours(about) or about.st_size > _LARGEST:
                return {}
            found = _Unpickler(file).load()
    except Exception:  # it is not there, or broken: either way nothing is known
        return {}
    return found if isinstance(found, dict) and all(_is_entry(one) for one in found.values()) else {}


def _is_entry(value: object) -> bool:
    match value:
        case (int(), bytes()):
            return True
        case _:
            return False


def _is_ours(about: os.stat_result) -> bool:
    """Whether nobody else can have written it."""
    if not hasattr(os, "getuid"):
        return True
    return about.st_uid == os.getuid() and not about.st_mode & (stat.S_IWGRP | stat.S_IWOTH)


def _directory(version: str) -> str | None:
    """Where the files of this version are, made where it isn't there; None where that can't be."""
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
    """Remove what other versions have left long ago."""
    import shutil

    for name in os.listdir(top):
        path = os.path.join(top, name)
        if name.startswith("check-") and time.time() - os.stat(path).st_mtime > _DAYS * 86_400:
            shutil.rmtree(path, ignore_errors=True)


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
    return int(time.time() // 86_400)
