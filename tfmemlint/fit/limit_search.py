"""Search for the smallest memory limit under which a script runs, by running it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

MAX_LIMIT_RUNS = 8
"""The number of runs: a good guess takes two, halving comes within 1 % by then. A bound on the time."""
_PRECISION = 100
"""The search ends within this part of the limit."""
_WIDEN = 4
"""The factor by which the distance from a wrong guess grows with each run."""


@dataclass(slots=True)
class LimitSearch:
    """The result of the runs under other limits, in MiB: the script runs with ``works`` and not with ``fails``.

    ``None`` if there was no such run.
    """

    works: int | None = None
    fails: int | None = None
    runs: int = 0


def search_limit(attempt: Callable[[int], bool | None], low: int, guess: int) -> LimitSearch:
    """Search between limits that are run, in MiB.

    Args:
        attempt: runs the script under a limit; True if that works, None if it can't be said, which ends the search.
        low: a limit below which none can work. guess: the limit that is run first.
    """
    found = LimitSearch()
    limit, distance = max(guess, low, 1), _step(guess)
    while found.runs < MAX_LIMIT_RUNS:
        works = attempt(limit)
        found.runs += 1
        if works is None:
            break
        if works:
            found.works = limit
        else:
            found.fails = limit
        bound = low if found.fails is None else found.fails
        if found.works is None:
            limit += distance
        elif found.works - bound <= _step(found.works):
            break
        else:
            middle = (found.works + bound) // 2
            limit = max(found.works - distance, middle) if found.fails is None else middle
        distance *= _WIDEN
    return found


def _step(limit: int) -> int:
    return max(limit // _PRECISION, 1)
