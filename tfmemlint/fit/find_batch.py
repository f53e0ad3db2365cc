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
_SAME = 1.002
"""The ratio of two peaks up to which they are the same: the order of operations changes a peak by a little."""


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
            before = found.fits
            found.fits = batch
            if _is_no_larger(found.trials, before, batch):
                found.problem = (
                    f"a batch of {batch} takes no more than one of {before}: perhaps the data has too few examples, or"
                    " the batch size is not used"
                )
                break
        else:
            found.fails = batch
        batch = _next(found)
    return found


def _is_no_larger(trials: Sequence[Trial], before: int | None, batch: int) -> bool:
    """True if a batch that is twice as large has the peak of the one before, so that more would say nothing."""
    peaks = {trial.batch: trial.peak for trial in trials}
    first, second = peaks.get(before or 0), peaks[batch]
    return first is not None and second is not None and batch == 2 * (before or 0) and second <= first * _SAME


def _next(found: BatchSearch) -> int | None:
    """Return the batch size to try next; None if the search is over."""
    if found.fails is None:
        assert found.fits is not None
        return found.fits * 2 if found.fits < MAX_BATCH else None
    if found.fits is None:
        return found.fails // 2 or None
    gap = found.fails - found.fits
    return None if gap <= max(found.fits // PRECISION, 1) else found.fits + gap // 2
