"""The answers of earlier prefilter runs, by the contents of the files: most files of a large tree have not changed."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tfmemlint.engine.cache import Cache

MIN_FILES_FOR_CACHE = 200
"""Files from which on earlier answers are looked up. Opening them takes 13 ms, imports included; a file of 18 KB, the
mean of TensorFlow's own Python, is searched in 0.25 ms and looked up in 0.01 ms."""


class PrefilterCache:
    """Answers about files, each a small number, by the files' contents.

    Args:
        cache: the earlier answers; None if there are none, and none are kept.
        key: the name of the answers in it.
    """

    def __init__(self, cache: Cache | None = None, key: str = "") -> None:
        self._cache = cache
        self._key = key
        known = cache.get(key, "answers") if cache is not None else None
        self._known: dict[bytes, int] = known or {}
        self._seen: dict[bytes, int] = {}

    def ask(self, kind: str, data: bytes, search: Callable[[bytes], int]) -> int:
        """Return what ``search`` answers about a file of this kind."""
        if self._cache is None:
            return search(data)
        key = hashlib.blake2b(data, digest_size=12, person=kind.encode()[:16]).digest()
        found = self._known.get(key)
        if found is None:
            found = search(data)
        self._seen[key] = found
        return found

    def save(self) -> None:
        """Keep the answers of this run, unless they are those of the last one."""
        if self._cache is not None and self._seen != self._known:
            self._cache.put(self._key, self._seen)
            self._cache.save()


def open_prefilter_cache(place: str, count: int, *, use_cache: bool) -> PrefilterCache:
    """Return the answers for a run over ``count`` files in the directory ``place``.

    Args:
        place: the directory.
        count: how many files there are; for few of them no answers are kept.
        use_cache: earlier answers may be used. Those of other rules, whose triggers differ, are not.
    """
    if not use_cache or count < MIN_FILES_FOR_CACHE:
        return PrefilterCache()
    from tfmemlint.engine.cache import open_cache
    from tfmemlint.rulekit.triggers import digest

    found = open_cache(place, name="screened")
    return PrefilterCache(found if found.path is not None else None, digest().hex())
