"""The minor releases of TensorFlow that a version specifier admits.

Three dialects are read: Python's (PEP 440), Poetry's, which adds ``^2.4`` and ``~2.4``, and conda's, where ``=2.4``
means every 2.4. The two others are translated into Python's, which the package packaging judges as pip does. A minor
release is admitted if one of its patch releases is, or a release candidate that the specifier names.
"""

from __future__ import annotations

import re
from functools import lru_cache

from tfmemlint.knowledge.releases import KNOWN, Target
from tfmemlint.model.patterns import late_pattern

Releases = frozenset[tuple[int, int]]
"""Minor releases, as pairs of numbers; also ones that are not known, older and newer."""

_KNOWN = tuple((int(major), int(minor)) for major, _, minor in (release.partition(".") for release in KNOWN))
_PATCHES = 10
"""No minor release has had as many patch releases."""
_LINE = (
    *((0, minor) for minor in range(5, 13)),
    *((1, minor) for minor in range(16)),
    *((2, minor) for minor in range(41)),
    *((3, minor) for minor in range(21)),
)
"""Every minor release that there has been, and room for those to come."""

ANY: Releases = frozenset(_LINE)

_STAR_AFTER_ORDER = late_pattern(r"((?:[<>]=?|~=)\s*v?[0-9][0-9a-zA-Z.]*?)\.?\*")
"""``>=2.4.*``, which older releases of pip, Poetry and conda read as ``>=2.4``, and PEP 440 does not allow."""
_MAX_CLAUSE = 200
"""Characters of one bound of a version."""
_CLAUSE = late_pattern(
    r"(?P<operator>[=<>!~^]*)\s*(?P<version>v?(?P<numbers>[0-9]{1,9}(?:\.[0-9]{1,9})*)(?P<suffix>[^\s*]*?))"
    r"(?P<star>\.?\*)?"
)


_PIN = late_pattern(r"==\s*(\d{1,4})\.(\d{1,4})(?:\.\d{1,4})?")
"""A plain pin, which most projects have: it needs no package."""


class Unreadable(ValueError):
    """A version specifier that can't be understood."""


@lru_cache(maxsize=256)
def admitted(specifier: str, dialect: str = "pip") -> Releases:
    """Return the minor releases that a specifier admits.

    Args:
        dialect: ``pip``, ``poetry`` or ``conda``.

    Raises:
        Unreadable: it is not a version specifier.
    """
    text = specifier.strip()
    if text in ("", "*"):
        return ANY
    pin = _PIN.fullmatch(text)
    if pin is not None:
        return ANY & {(int(pin[1]), int(pin[2]))}
    if dialect == "pip":
        return _admitted_by_pep_440(text)
    found: Releases = frozenset()
    for part in text.split("|"):
        if part.strip() or "||" not in text:
            # Poetry separates clauses by blanks, too; in conda's files a build follows a blank.
            clauses = re.sub(r"(?<=[0-9*])\s+(?=[<>=!~^])", ",", part.strip()).split(",")
            translated = (_pep_440_clause(clause.strip(), dialect) for clause in clauses if clause.strip())
            found |= _admitted_by_pep_440(",".join(translated))
    return found


def without_stars_after_order(specifier: str) -> str:
    """Return a specifier with ``>=2.4`` for ``>=2.4.*``."""
    return _STAR_AFTER_ORDER.sub(r"\1", specifier)


def _admitted_by_pep_440(specifier: str) -> Releases:
    # It takes some milliseconds to import, and most projects state no requirement of TensorFlow.
    from packaging.specifiers import SpecifierSet
    from packaging.version import Version

    try:
        specifiers = SpecifierSet(without_stars_after_order(specifier))
        # ``===`` compares versions as they are written.
        named = [
            (Version(text), [str(Version(text)), text])
            for text in (clause.version.removesuffix(".*") for clause in specifiers)
        ]
    except ValueError:
        raise Unreadable(f"{specifier!r} is no version specifier") from None
    # The patch releases of a minor release only differ where a clause names one of them.
    candidates = {minor: [f"{minor[0]}.{minor[1]}.0"] for minor in _LINE}
    for version, spellings in named:
        minor = (version.major, version.minor)
        if minor in candidates:
            candidates[minor] += [f"{minor[0]}.{minor[1]}.{patch}" for patch in range(1, _PATCHES)]
            candidates[minor] += spellings
    return frozenset(
        minor
        for minor, releases in candidates.items()
        if any(specifiers.contains(release, prereleases=True) for release in releases)
    )


def _pep_440_clause(clause: str, dialect: str) -> str:
    """Translate a clause of Poetry or conda.

    Sources: Poetry's "Dependency specification" (``^``, ``~``, and an exact version without an operator), conda's
    "Package match specifications" (``=2.4``, and in files of environments ``2.4``, admit each version that begins so).

    Raises:
        Unreadable: it is not a clause.
    """
    if clause == "*":
        return ""
    match = _CLAUSE.fullmatch(clause) if len(clause) <= _MAX_CLAUSE else None
    if match is None:
        raise Unreadable(f"{clause!r} is no version")
    operator, version, star = match["operator"], match["version"], match["star"] is not None
    if operator in ("", "="):
        return f"=={version}.*" if star or (dialect == "conda" and not match["suffix"]) else f"=={version}"
    if operator in ("^", "~") and dialect == "poetry":
        return f">={version},<{_upper_bound(operator, match['numbers'])}"
    if operator in ("==", "!="):
        return f"{operator}{version}" + (".*" if star else "")
    return f"{operator}{version}"


def _upper_bound(operator: str, numbers: str) -> str:
    """Return the first version that ``^`` or ``~`` in front of these numbers does not admit."""
    parts = [int(number) for number in numbers.split(".")]
    if operator == "~":
        place = min(len(parts), 2) - 1
    else:
        # A caret lets everything change but the first number that isn't zero.
        place = next((place for place, number in enumerate(parts) if number), len(parts) - 1)
    return ".".join(str(number) for number in (*parts[:place], parts[place] + 1))


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
    return frozenset(release for release in found if release <= (int(major), int(minor)))


def known(found: Releases) -> tuple[Target, Target] | None:
    """The first and the last known release among some. Where all are older than the known ones, or newer, the oldest
    or the newest known one stands for them; None where that can't be said."""
    inside = [release for release in _KNOWN if release in found]
    if inside:
        return Target(*inside[0]), Target(*inside[-1])
    if found and max(found) < _KNOWN[0]:
        return Target(*_KNOWN[0]), Target(*_KNOWN[0])
    if found and min(found) > _KNOWN[-1]:
        return Target.newest(), Target.newest()
    return None
