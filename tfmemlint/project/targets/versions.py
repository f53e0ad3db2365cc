"""Which minor releases of TensorFlow a version specifier admits.

Three dialects are read: Python's (PEP 440), Poetry's, which adds ``^2.4`` and ``~2.4``, and conda's, where ``=2.4``
means every 2.4. A release is admitted where some patch release of it is.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache

from tfmemlint.knowledge.releases import KNOWN, Target

Releases = frozenset[tuple[int, int]]
"""Minor releases, as pairs of numbers; also ones that are not known, older and newer."""

Version = tuple[int, int, int]

_KNOWN = tuple((int(major), int(minor)) for major, _, minor in (one.partition(".") for one in KNOWN))
_PATCHES = range(10)
_LINE = (
    *((0, minor) for minor in range(5, 13)),
    *((1, minor) for minor in range(16)),
    *((2, minor) for minor in range(41)),
    *((3, minor) for minor in range(21)),
)
"""Every minor release that there has been, and room for those to come."""

ANY: Releases = frozenset(_LINE)

_CLAUSE = re.compile(
    r"""\s*(?P<operator>===|==|~=|!=|<=|>=|<|>|=|\^|~)?\s*
    v?(?P<numbers>[0-9]{1,9}(?:\.[0-9]{1,9})*)
    (?P<suffix>(?:[-_.]?(?:alpha|beta|preview|post|dev|pre|rev|rc|a|b|c|r)[-_.]?[0-9]*)*(?:\+[a-z0-9._-]+)?)
    (?P<any>\.?\*)?\s*""",
    re.IGNORECASE | re.VERBOSE,
)


class Unreadable(ValueError):
    """A version specifier that can't be understood."""


@lru_cache(maxsize=256)
def admitted(specifier: str, dialect: str = "pip") -> Releases:
    """The minor releases that a specifier admits; ``dialect`` is ``pip``, ``poetry`` or ``conda``.

    Raises:
        Unreadable: it is no version specifier.
    """
    text = specifier.strip()
    if text in ("", "*"):
        return ANY
    if dialect == "pip":
        return _all_of(text.split(","), dialect)
    found: set[tuple[int, int]] = set()
    for part in text.split("|"):
        if part.strip() or "||" not in text:
            # Poetry has blanks for commas; in conda's files what follows a blank is a build.
            clauses = re.sub(r"(?<=[0-9*])\s+(?=[<>=!~^])", ",", part.strip()).split(",")
            found |= _all_of(clauses, dialect)
    return frozenset(found)


def _all_of(clauses: Iterable[str], dialect: str) -> Releases:
    found = set(_LINE)
    spans = [_clause(text, dialect) for text in clauses if text.strip()]
    for major, minor in _LINE:
        if not any(all(_within((major, minor, patch), span) for span in spans) for patch in _PATCHES):
            found.discard((major, minor))
    return frozenset(found)


_Span = tuple[str, tuple[int, ...], bool]
"""An operator, the numbers after it, and whether a star stands for the rest."""


def _clause(text: str, dialect: str) -> _Span:
    if text.strip() == "*":
        return ">=", (0,), False
    match = _CLAUSE.fullmatch(text)
    if match is None:
        raise Unreadable(f"{text.strip()!r} is no version")
    operator, numbers = match["operator"] or "", tuple(int(one) for one in match["numbers"].split("."))[:3]
    star = match["any"] is not None
    if not operator:
        if dialect == "pip":
            raise Unreadable(f"{text.strip()!r} has no operator")
        operator, star = "==", star or dialect == "conda"
    elif operator == "=":
        if dialect == "pip":
            raise Unreadable(f"{text.strip()!r} has no operator that pip knows")
        operator, star = "==", star or dialect == "conda"
    elif operator in ("^", "~") and dialect != "poetry":
        raise Unreadable(f"{text.strip()!r} has no operator that is known here")
    if operator == "~=" and len(numbers) < 2:
        raise Unreadable(f"{text.strip()!r} needs two numbers")
    if star and operator not in ("==", "!="):
        # Conda and Poetry read `>=2.4.*` as if there were no star; pip refuses it.
        star = False
    return operator, numbers, star


def _within(version: Version, span: _Span) -> bool:
    operator, numbers, star = span
    prefix = version[: len(numbers)]
    padded = (*numbers, 0, 0)[:3]
    match operator:
        case "==" | "===":
            return prefix == numbers if star else version == padded
        case "!=":
            return prefix != numbers if star else version != padded
        case "<":
            return version < padded
        case "<=":
            return version <= padded
        case ">":
            return version > padded
        case ">=":
            return version >= padded
        case "~=":
            return version >= padded and version[: len(numbers) - 1] == numbers[:-1]
        case "~":
            return version >= padded and version[: min(len(numbers), 2)] == numbers[:2]
    # A caret lets everything change but the first number that isn't zero.
    kept = next((place for place, number in enumerate(numbers) if number), len(numbers) - 1)
    return version >= padded and version[: kept + 1] == numbers[: kept + 1]


def exactly(version: str) -> Releases:
    """The minor release of ``2.4.1`` (or of ``2.4.1-gpu``, ``v2.4``).

    Raises:
        Unreadable: it is no version.
    """
    match = re.match(r"v?(\d{1,4})\.(\d{1,4})(?![0-9])", version.strip())
    if match is None:
        raise Unreadable(f"{version.strip()!r} is no version")
    return frozenset({(int(match[1]), int(match[2]))})


def up_to(found: Releases, last: str) -> Releases:
    """Those of some releases that are no later than ``last``."""
    major, _, minor = last.partition(".")
    return frozenset(one for one in found if one <= (int(major), int(minor)))


def known(found: Releases) -> tuple[Target, Target] | None:
    """The first and the last known release among some. Where all are older than the known ones, or newer, the oldest
    or the newest known one stands for them; None where that can't be said."""
    inside = [one for one in _KNOWN if one in found]
    if inside:
        return Target(*inside[0]), Target(*inside[-1])
    if found and max(found) < _KNOWN[0]:
        return Target(*_KNOWN[0]), Target(*_KNOWN[0])
    if found and min(found) > _KNOWN[-1]:
        return Target.newest(), Target.newest()
    return None
