"""Search for the largest batch that fits, by bisection."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

PLACEHOLDER = "{}"
FIRST = 32
"""The batch size that is tried first: the default of Keras."""
MAX_BATCH = 1 << 20
"""A larger batch is not tried; a bound without a deeper reason."""
MAX_RUNS = 24
"""The number of runs; a bound on the time."""
PRECISION = 32
"""The search ends within this part of the batch size: more runs would say little more."""


@dataclass(frozen=True, slots=True)
class Trial:
    """A run: the batch size, whether it fits, the peak of the fullest GPU in bytes, and why nothing is known, or ""."""

    batch: int
    fits: bool
    peak: int | None = None
    problem: str = ""


@dataclass(slots=True)
class BatchSearch:
    """The result of a search.

    Attributes:
        fits: the largest batch that was found to fit; None if none does. fails: the smallest one that doesn't.
        trials: all runs, in their order. problem: why the search ended early, or "".
    """

    fits: int | None = None
    fails: int | None = None
    trials: list[Trial] = field(default_factory=list)
    problem: str = ""


def with_batch(argv: Sequence[str], batch: int) -> tuple[str, ...]:
    """Return a script's arguments with the batch size in place of ``{}``."""
    return tuple(argument.replace(PLACEHOLDER, str(batch)) for argument in argv)


def search(attempt: Callable[[int], Trial]) -> BatchSearch:
    """Find the largest batch that fits, within 1/32 of it; ``attempt`` runs the script with a batch size."""
    found = BatchSearch()
    batch: int | None = FIRST
    while batch is not None and len(found.trials) < MAX_RUNS:
        trial = attempt(batch)
        found.trials.append(trial)
        if trial.problem:
            found.problem = f"with a batch of {batch} {trial.problem}"
            break
        if trial.fits:
            found.fits = batch
        else:
            found.fails = batch
        batch = _next(found)
    return found


def _next(found: BatchSearch) -> int | None:
    """Return the batch size to try next; None if the search is over."""
    if found.fails is None:
        assert found.fits is not None
        return found.fits * 2 if found.fits < MAX_BATCH else None
    if found.fits is None:
        return found.fails // 2 or None
    gap = found.fails - found.fits
    return None if gap <= max(found.fits // PRECISION, 1) else found.fits + gap // 2
