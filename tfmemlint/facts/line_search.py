"""A search of raw bytes for many regular expressions at once, fast if none of them matches.

A search for a plain word is many times faster than an attempt to match a regular expression at each byte. So the
expressions are grouped by words that every match contains, and only the lines with such a word are searched.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterable, Iterator
from functools import lru_cache
from typing import Any, NamedTuple

_RARE_WORD_LETTERS = 5
"""Shorter words are frequent in any text and cost more; beyond this length, all words are treated as equally rare."""


class LineSearch:
    """True for bytes in which one of ``patterns`` matches within one line.

    Args:
        patterns: regular expressions for ASCII text. Flags are inline and scoped: ``(?i:...)``.

    Raises:
        re.error: a pattern is not a regular expression.
    """

    def __init__(self, patterns: Iterable[str]) -> None:
        self.patterns = tuple(sorted(set(patterns)))
        self._groups = _grouped(self.patterns)

    def __call__(self, data: bytes) -> bool:
        """True if one of the patterns matches in a line of ``data``."""
        return any(_matches(word, group, data) for word, group in self._groups)


_last: tuple[bytes, bytes] = b"", b""


def _lowercase(data: bytes) -> bytes:
    """Return ``data`` in lower case; the last result is kept, for several questions about one file."""
    global _last
    if _last[0] is not data:
        _last = data, data.lower()
    return _last[1]


class _Word(NamedTuple):
    """A word to search for; in lower case if any case matches."""

    text: str
    any_case: bool = False

    @property
    def weight(self) -> int:
        """The rarity of the word in a text: its number of letters, up to a limit."""
        return min(sum(letter.isalnum() or letter == "_" for letter in self.text), _RARE_WORD_LETTERS)


def _matches(word: _Word, group: str, data: bytes) -> bool:
    """Return True if ``group`` matches in a line of ``data`` that contains ``word``; every line contains the empty
    word."""
    text, sought = _lowercase(data) if word.any_case else data, word.text.encode("ascii")
    at = text.find(sought)
    if at < 0:
        return False
    search = _compiled(group).search
    if not sought:
        return search(data) is not None
    while at >= 0:
        start = data.rfind(b"\n", 0, at) + 1
        end = data.find(b"\n", at)
        if end < 0:
            end = len(data)
        if search(data, start, end) is not None:
            return True
        at = text.find(sought, end)
    return False


@lru_cache(maxsize=256)
def _compiled(group: str) -> re.Pattern[bytes]:
    return re.compile(group.encode("ascii"))


def _grouped(patterns: Iterable[str]) -> list[tuple[_Word, str]]:
    """Return the patterns as one regular expression per word, for a few words that every match contains."""
    required = {pattern: required_words(pattern) for pattern in patterns}
    groups: dict[_Word, list[str]] = {}
    shared = _shared_words({word for words in required.values() for word in words})
    for pattern, words in required.items():
        for word in sorted({shared[word] for word in words}) or [_Word("")]:
            groups.setdefault(word, []).append(pattern)
    return [(word, "|".join(group)) for word, group in sorted(groups.items())]


def _shared_words(words: set[_Word]) -> dict[_Word, _Word]:
    """Return a part of each word to search for, such that there are few different parts."""
    parts = set(words)
    for word in words:
        found = (_Word(part, word.any_case) for part in re.split(r"[^A-Za-z]+|(?<=[a-z])(?=[A-Z])", word.text))
        parts.update(part for part in found if part.weight >= _RARE_WORD_LETTERS)
    holders = {part: {word for word in words if _has(word, part)} for part in sorted(parts)}
    chosen: dict[_Word, _Word] = {}
    while len(chosen) < len(words):
        best = max(holders, key=lambda part: (len(holders[part]), len(part.text)))
        covered = holders.pop(best)
        if len(covered) == 1:
            return {word: word for word in words} | chosen
        chosen |= dict.fromkeys(covered, best)
        for left in holders.values():
            left -= covered
    return chosen


def _has(word: _Word, part: _Word) -> bool:
    return word.any_case is part.any_case and part.text in word.text


def required_words(pattern: str) -> frozenset[_Word]:
    """Return words at least one of which is in every text that ``pattern`` matches; none if there are no such words.

    Raises:
        re.error: the pattern is not a regular expression.
    """
    with warnings.catch_warnings():
        # Python 3.10 has its parser under the old name, later ones deprecate that name.
        warnings.simplefilter("ignore", DeprecationWarning)
        parser: Any = getattr(re, "_parser", None) or __import__("sre_parse")
    parsed = parser.parse(pattern)
    return _required(parsed, any_case=bool(parsed.state.flags & re.IGNORECASE)) or frozenset()


def _required(sequence: Any, *, any_case: bool) -> frozenset[_Word] | None:
    """Return, of the parts of a sequence, the one with the rarest and fewest required words: all parts have to
    match."""
    found = [words for words in _parts(sequence, any_case) if words]
    return max(found, key=lambda words: (min(word.weight for word in words), -len(words), sorted(words)), default=None)


def _parts(sequence: Any, any_case: bool) -> Iterator[frozenset[_Word] | None]:
    run = ""
    for kind, value in sequence:
        name = str(kind)
        if name == "LITERAL":
            run += chr(value).lower() if any_case else chr(value)
            continue
        yield frozenset({_Word(run, any_case)}) if run else None
        run = ""
        match name:
            case "SUBPATTERN":
                _, added, taken, inner = value
                folded = bool((any_case or added & re.IGNORECASE) and not taken & re.IGNORECASE)
                yield _required(inner, any_case=folded)
            case "BRANCH":
                branches = [_required(branch, any_case=any_case) for branch in value[1]]
                yield None if None in branches else frozenset(word for branch in branches for word in branch or ())
            case "MAX_REPEAT" | "MIN_REPEAT" if value[0] > 0:
                yield _required(value[2], any_case=any_case)
            case _:
                pass
    yield frozenset({_Word(run, any_case)}) if run else None
