"""The words that regular expressions need, by which `tfmemlint.facts.line_search` finds the lines to search.

They are found by reading the parsed expressions, which takes longer than checking a small file: those of the tool's own
rules lie in `tfmemlint.facts.search_index`.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

_RARE_WORD_LETTERS = 5
"""Shorter words are frequent in any text and cost more; beyond this length, all words are treated as equally rare."""


class Word(NamedTuple):
    """A word to search for; in lower case if any case matches."""

    text: str
    any_case: bool = False

    @property
    def weight(self) -> int:
        """The rarity of the word in a text: its number of letters, up to a limit."""
        return min(sum(letter.isalnum() or letter == "_" for letter in self.text), _RARE_WORD_LETTERS)


def grouped(patterns: Iterable[str]) -> tuple[tuple[str, bool, str], ...]:
    """Return the patterns as one regular expression per word, for a few words that every match contains.

    Args:
        patterns: regular expressions for ASCII text. Flags are inline and scoped: ``(?i:...)``.

    Raises:
        re.error: a pattern is not a regular expression.
    """
    required = {pattern: required_words(pattern) for pattern in sorted(set(patterns))}
    groups: dict[Word, list[str]] = {}
    shared = _shared_words({word for words in required.values() for word in words})
    for pattern, words in required.items():
        for word in sorted({shared[word] for word in words}) or [Word("")]:
            groups.setdefault(word, []).append(pattern)
    return tuple((word.text, word.any_case, "|".join(group)) for word, group in sorted(groups.items()))


def _shared_words(words: set[Word]) -> dict[Word, Word]:
    """Return a part of each word to search for, such that there are few different parts."""
    parts = set(words)
    for word in words:
        found = (Word(part, word.any_case) for part in re.split(r"[^A-Za-z]+|(?<=[a-z])(?=[A-Z])", word.text))
        parts.update(part for part in found if part.weight >= _RARE_WORD_LETTERS)
    holders = {part: {word for word in words if _has(word, part)} for part in sorted(parts)}
    chosen: dict[Word, Word] = {}
    while len(chosen) < len(words):
        best = max(holders, key=lambda part: (len(holders[part]), len(part.text)))
        covered = holders.pop(best)
        if len(covered) == 1:
            return {word: word for word in words} | chosen
        chosen |= dict.fromkeys(covered, best)
        for left in holders.values():
            left -= covered
    return chosen


def _has(word: Word, part: Word) -> bool:
    return word.any_case is part.any_case and part.text in word.text


def required_words(pattern: str) -> frozenset[Word]:
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


def _required(sequence: Any, *, any_case: bool) -> frozenset[Word] | None:
    """Return, of the parts of a sequence, the one with the rarest and fewest required words: all parts have to
    match."""
    found = [words for words in _parts(sequence, any_case) if words]
    return max(found, key=lambda words: (min(word.weight for word in words), -len(words), sorted(words)), default=None)


def _parts(sequence: Any, any_case: bool) -> Iterator[frozenset[Word] | None]:
    run = ""
    for kind, value in sequence:
        name = str(kind)
        if name == "LITERAL":
            run += chr(value).lower() if any_case else chr(value)
            continue
        yield frozenset({Word(run, any_case)}) if run else None
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
    yield frozenset({Word(run, any_case)}) if run else None
