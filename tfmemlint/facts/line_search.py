"""A search of raw bytes for many regular expressions at once, fast if none of them matches.

A search for a plain word is many times faster than an attempt to match a regular expression at each byte. So the
expressions are grouped by words that every match contains, and only the lines with such a word are searched.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache

Group = tuple[str, bool, str]
"""A word, in lower case if any case of it counts; whether it does; and a regular expression for the lines that contain
the word. Every line contains the empty word."""


class LineSearch:
    """True for bytes in a line of which the expression of some group matches.

    Args:
        groups: see `tfmemlint.facts.line_groups.grouped`. An expression is compiled when its word is first found.
    """

    def __init__(self, groups: Iterable[Group]) -> None:
        self._groups = tuple((word.encode("ascii"), any_case, group) for word, any_case, group in groups)

    @classmethod
    def of(cls, patterns: Iterable[str]) -> LineSearch:
        """Return the search for regular expressions.

        Raises:
            re.error: a pattern is not a regular expression.
        """
        patterns = tuple(patterns)
        if not patterns:
            return cls(())
        from tfmemlint.facts.line_groups import grouped

        return cls(grouped(patterns))

    def __call__(self, data: bytes) -> bool:
        """True if one of the patterns matches in a line of ``data``."""
        for word, any_case, group in self._groups:
            text = _lowercase(data) if any_case else data
            if word in text and _matches(word, text, group, data):
                return True
        return False


_last: tuple[bytes, bytes] = b"", b""


def _lowercase(data: bytes) -> bytes:
    """Return ``data`` in lower case; the last result is kept, for several questions about one file."""
    global _last
    if _last[0] is not data:
        _last = data, data.lower()
    return _last[1]


def _matches(word: bytes, text: bytes, group: str, data: bytes) -> bool:
    """Return True if ``group`` matches in a line of ``data`` whose ``text`` contains ``word``."""
    search = _compiled(group).search
    if not word:
        return search(data) is not None
    at = text.find(word)
    while at >= 0:
        start = data.rfind(b"\n", 0, at) + 1
        end = data.find(b"\n", at)
        if end < 0:
            end = len(data)
        if search(data, start, end) is not None:
            return True
        at = text.find(word, end)
    return False


@lru_cache(maxsize=256)
def _compiled(group: str) -> re.Pattern[bytes]:
    return re.compile(group.encode("ascii"))
