"""What the search of raw bytes has said of files before, by what is in them: of a large tree most is as it was."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tfmemlint.engine.cache import Cache

MANY = 200
"""Files from which it takes less time to look up what was said than to search them again."""
_KEY = "screened"


class Screened:
    """Answers about files, each a small number, by the files' contents.

    Args:
        cache: where earlier answers are; None where there are none, and none are kept.
    """

    def __init__(self, cache: Cache | None = None) -> None:
        self._cache = cache
        known = cache.get(_KEY) if cache is not None else None
        self._known: dict[bytes, int] = known if isinstance(known, dict) else {}
        self._seen: dict[bytes, int] = {}

    def ask(self, kind: str, data: bytes, search: Callable[[bytes], int]) -> int:
        """What ``search`` says of a file of this kind."""
        if self._cache is None:
            return search(data)
        key = hashlib.blake2b(data, digest_size=12, person=kind.encode()[:16]).digest()
        found = self._known.get(key)
        if not isinstance(found, int):
            found = search(data)
        self._seen[key] = found
        return found

    def save(self) -> None:
        """Keep the answers of this run, where they are not those of the last one."""
        if self._cache is not None and self._seen != self._known:
            self._cache.put(_KEY, self._seen)
            self._cache.save()


def screened(place: str, count: int, *, cache: bool) -> Screened:
    """The answers for a run over ``count`` files in the directory ``place``; ``cache``: earlier ones may be used."""
    if not cache or count < MANY:
        return Screened()
    from tfmemlint.engine.cache import open_cache

    found = open_cache(place, name="screened")
    return Screened(found if found.path is not None else None)
