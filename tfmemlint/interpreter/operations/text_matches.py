"""Regular expressions of a program on texts that are known: what they match.

A pattern of somebody else's may take years on a short text: ``(a+)+b``. Only those are tried whose number of ways to
match the text is small by their syntax tree.
"""

from __future__ import annotations

import math
import re
import warnings
from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any

from tfmemlint.interpreter.operations.constants import lift
from tfmemlint.interpreter.values import Const, Ref, TextMatch, Value

try:
    from re import _parser as parser  # type: ignore[attr-defined]
except ImportError:  # Python 3.10
    import sre_parse as parser

MAX_TEXT_CHARACTERS = 64
MAX_PATTERN_CHARACTERS = 200
_MAX_WAYS = 100_000
"""Ways to match a text that are tried at most; each takes well below a microsecond."""
_FLAGS = {
    **dict.fromkeys(("re.I", "re.IGNORECASE"), re.IGNORECASE),
    **dict.fromkeys(("re.A", "re.ASCII"), re.ASCII),
    **dict.fromkeys(("re.X", "re.VERBOSE"), re.VERBOSE),
    **dict.fromkeys(("re.M", "re.MULTILINE"), re.MULTILINE),
    **dict.fromkeys(("re.S", "re.DOTALL"), re.DOTALL),
}
_SIMPLE = frozenset({"LITERAL", "NOT_LITERAL", "ANY", "IN", "AT", "RANGE", "CATEGORY"})
_REPEATS = frozenset({"MAX_REPEAT", "MIN_REPEAT", "POSSESSIVE_REPEAT"})


def result_of(name: str, pattern: Value | None, args: Sequence[Value], flags: Value | None) -> Value | None:
    """Return the result of a function of ``re`` on constants; None if they are not known, or not tried.

    Args:
        name: the function, without its module. args: what it gets after the pattern; the text comes last.
    """
    plain = [value.value for value in args if isinstance(value, Const) and isinstance(value.value, str)]
    if not isinstance(pattern, Const) or not isinstance(pattern.value, str) or len(plain) != len(args) or not plain:
        return None
    known = 0 if flags is None else _FLAGS.get(flags.name) if isinstance(flags, Ref) else None
    if known is None or max(map(len, plain)) > MAX_TEXT_CHARACTERS:
        return None
    compiled = _compiled(pattern.value, known, len(plain[-1]))
    function = _FUNCTIONS.get((name, len(plain)))
    if compiled is None or function is None:
        return None
    try:
        found = function(compiled, *plain)
    except (re.error, IndexError):
        return None
    if isinstance(found, re.Match):
        return TextMatch((found[0], *found.groups()), dict(compiled.groupindex))
    return lift(found)


_FUNCTIONS: dict[tuple[str, int], Callable[..., Any]] = {
    ("match", 1): re.Pattern.match,
    ("fullmatch", 1): re.Pattern.fullmatch,
    ("search", 1): re.Pattern.search,
    ("findall", 1): re.Pattern.findall,
    ("split", 1): re.Pattern.split,
    ("sub", 2): lambda compiled, replacement, text: compiled.sub(replacement, text),
}
"""By the name and the number of texts that it gets."""


@lru_cache(maxsize=64)
def _compiled(pattern: str, flags: int, length: int) -> re.Pattern[str] | None:
    """Return a pattern, if a text of this length can't take it long."""
    if len(pattern) > MAX_PATTERN_CHARACTERS:
        return None
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            ways = _ways(parser.parse(pattern, flags), length)
            # Any place of the text may be the first.
            return re.compile(pattern, flags) if ways is not None and ways * (length + 1) <= _MAX_WAYS else None
    except (re.error, OverflowError, RecursionError, ValueError):
        return None


def _ways(tree: Any, length: int) -> float | None:
    """Return how many ways there are at most to match a text of this length; None for what isn't tried."""
    choices, repeats = _counted(tree)
    if math.isinf(choices):
        return None
    # So many repeats share the characters among them.
    return choices * math.comb(length + repeats, repeats)


def _counted(tree: Any) -> tuple[float, int]:
    """Return the product of the alternatives in a syntax tree, inf if it has something that isn't tried, and the number
    of its repeats."""
    choices, repeats = 1.0, 0
    for operation, given in tree:
        name = str(operation)
        if name in _SIMPLE:
            continue
        inner: list[Any]
        factor = 1
        if name == "SUBPATTERN":
            inner = [given[-1]]
        elif name == "ATOMIC_GROUP":
            inner = [given]
        elif name == "BRANCH":
            inner, factor = list(given[1]), len(given[1])
        elif name in _REPEATS:
            low, high, repeated = given
            inner = [repeated]
            if int(high) > 1 and _counted(repeated) != (1.0, 0):
                return math.inf, 0
            factor = 2 if int(high) == 1 else 1
            repeats += int(high) > 1 and low != high
        else:
            return math.inf, 0
        for part in inner:
            more, others = _counted(part)
            choices, repeats = choices * more, repeats + others
        choices *= factor
    return choices, repeats
