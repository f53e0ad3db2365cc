"""The parameters of TensorFlow's functions for devices and memory, and of its strategies, by release.

Source: ``data/signatures.txt``, which ``tools/knowledge/make_signatures.py`` reads off the wheels of every release.
"""

from __future__ import annotations

from functools import lru_cache

from tfmemlint.knowledge import tables
from tfmemlint.knowledge.releases import Target, position

ANY_KEYWORD = "**"
"""Stands among the parameters of a function that takes keywords of every name."""
_KEYWORDS_FOLLOW = "*"


def names() -> tuple[str, ...]:
    """Return the canonical names of the functions and classes whose parameters are known."""
    return tuple(_table())


def parameters(name: str, target: Target) -> tuple[str, ...] | None:
    """Return the names of the parameters that a function or class has in ``target``, in order.

    None if they are not known: the release lacks the function, or the table does.
    """
    for first, last, found in _table().get(name, ()):
        if first <= target.index <= last:
            return found
    return None


def positional(name: str, target: Target) -> tuple[str, ...]:
    """Return the names of the parameters that may be given by position; none if they are not known."""
    found = parameters(name, target) or ()
    return found[: found.index(_KEYWORDS_FOLLOW)] if _KEYWORDS_FOLLOW in found else found


@lru_cache(maxsize=1)
def _table() -> dict[str, list[tuple[int, int, tuple[str, ...]]]]:
    """By name: the parameters, each with the positions of the first and the last release that has them."""
    found: dict[str, list[tuple[int, int, tuple[str, ...]]]] = {}
    for line in tables.text("signatures.txt").splitlines():
        if not line.startswith("#"):
            name, releases, *words = line.split(" ")
            first, _, last = releases.partition("-")
            found.setdefault(name, []).append((position(first), position(last), tuple(words)))
    return found
