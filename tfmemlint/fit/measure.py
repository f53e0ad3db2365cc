"""Run a script on the simulated driver, and find out whether it fits.

The first run is the script as it is, on the GPU that the user describes: TensorFlow's allocator decides there whether
it fits, with the script's own limits and growth. If it doesn't fit, a second run on a GPU of a TiB, without limits,
finds how much it needs. Runs under other limits are made only on request.
"""

from __future__ import annotations

import enum
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

from tfmemlint.fit.find_batch import FIRST, BatchSearch, Trial, search, with_batch
from tfmemlint.fit.limit_search import LimitSearch, search_limit
from tfmemlint.fit.observation import MIB, FitRun
from tfmemlint.fit.oom_messages import memory_line
from tfmemlint.fit.runner import FitOptions, Runner, steps_words
from tfmemlint.fit.what_helps import ChangedRun, try_changes
from tfmemlint.verify.sandbox_options import hint

if TYPE_CHECKING:
    from tfmemlint.verify.ground import Ground

_SAYS_NOTHING = (
    "[[{{node",
    "[[{node",
    "[Op:",
    "Hint:",
    "0 successful operations",
    "0 derived errors",
    "File ",
    "Detected at",
)
"""The beginnings of lines that TensorFlow adds to an error's message."""


class FitOutcome(enum.Enum):
    """The outcome of a measurement."""

    FITS = "fits"
    TOO_BIG = "does not fit"
    UNKNOWN = "not known"


@dataclass(slots=True)
class FitResult:
    """Everything that a measurement found.

    Attributes:
        outcome: whether it fits. asked: the run on the GPU that the user describes. roomy: the run without limits, if
            the first one ran out of memory. limit: see `LimitSearch`; None if it wasn't requested.
        problem: why nothing is known, or "". tensorflow: the release.
        batches: the search for the largest batch, which this is a measurement of; None if it wasn't requested.
        helps: the runs with changes that could lower the memory; None if they weren't requested.
    """

    conditions: FitOptions
    tensorflow: str
    asked: FitRun
    outcome: FitOutcome = FitOutcome.UNKNOWN
    roomy: FitRun | None = None
    limit: LimitSearch | None = None
    problem: str = ""
    notes: list[str] = field(default_factory=list)
    batches: BatchSearch | None = None
    helps: list[ChangedRun] | None = None

    @property
    def measured(self) -> FitRun:
        """Return the run whose peak is what the script needs."""
        return self.asked if self.roomy is None else self.roomy


def measure(script: Path, code: str, ground: Ground, conditions: FitOptions, say: Callable[[str], None]) -> FitResult:
    """Find out whether a script fits, and what it needs; ``say`` is called with the progress.

    Raises:
        GroundError: the ground failed. ValueError: there is no such machine.
    """
    runner = Runner(script, code, ground, conditions, say)
    size = f"({conditions.gpu_model})" if conditions.gpu_model else f"of {conditions.memory_mib / 1024:g} GiB"
    what = f"running {script.name} on {_gpus(conditions.gpus)} {size}"
    found = FitResult(conditions, ground.version, runner.run(what))
    if found.asked.out_of_memory:
        found.outcome = FitOutcome.TOO_BIG
        roomy = runner.run(f"it does not fit; running {script.name} without limits, to see what it needs", lifted=True)
        if roomy.devices or not roomy.failed:
            found.roomy = roomy
        if roomy.failed:
            found.notes.append(f"without limits {describe_failure(roomy, conditions)}")
    elif found.asked.failed:
        found.problem = describe_failure(found.asked, conditions)
    elif not _used(found.asked):
        found.problem = "it never used a GPU: there is nothing to measure"
    else:
        found.outcome = FitOutcome.FITS
    if conditions.check_limit and found.outcome is not FitOutcome.UNKNOWN:
        found.limit = _search(runner, found.measured)
    if conditions.what_helps and found.outcome is not FitOutcome.UNKNOWN:
        grows = all(device.growth for device in found.asked.devices)
        found.helps = try_changes(runner, conditions, grows, lambda seen: describe_failure(seen, conditions))
    return found


def measure_largest(
    script: Path, code: str, ground: Ground, conditions: FitOptions, say: Callable[[str], None]
) -> FitResult:
    """Find the largest batch that fits, and what the script needs with it. The arguments have ``{}`` in its place.

    If none fits, the smallest one is measured.

    Raises:
        GroundError: the ground failed. ValueError: there is no such machine.
    """

    def of(batch: int) -> FitOptions:
        return replace(conditions, argv=with_batch(conditions.argv, batch))

    def attempt(batch: int) -> Trial:
        seen = Runner(script, code, ground, of(batch), say).run(f"trying a batch of {batch}", trace=False)
        peak = max((device.peak or 0 for device in seen.devices), default=None)
        if seen.failed and not seen.out_of_memory:
            return Trial(batch, False, peak, describe_failure(seen, conditions))
        if not seen.failed and not _used(seen):
            return Trial(batch, False, peak, "it never used a GPU")
        return Trial(batch, not seen.failed, peak)

    batches = search(attempt)
    batch = batches.fits or (min(trial.batch for trial in batches.trials) if batches.trials else FIRST)
    found = measure(script, code, ground, of(batch), say)
    found.batches = batches
    return found


def _used(seen: FitRun) -> bool:
    return any(gpu.peak for gpu in seen.usage.gpus)


def _search(runner: Runner, seen: FitRun) -> LimitSearch:
    """Search the smallest limit under which the script runs.

    The first one is where a replay of the recorded requests says that it is.
    """
    most = max((device.peak or 0 for device in seen.devices), default=0)
    if not most:
        return LimitSearch()
    low = max((device.asked_peak or 0 for device in seen.devices), default=0) // MIB
    guess = max((device.smallest_room or 0 for device in seen.devices), default=0) or most

    def attempt(limit: int) -> bool | None:
        again = runner.run(f"trying a memory limit of {limit} MiB", limit_mib=limit, trace=False)
        if again.failed and not again.out_of_memory:
            return None
        # A script that goes on after more errors than without the limit doesn't do the same work.
        return not again.failed and again.times_exhausted <= seen.times_exhausted

    return search_limit(attempt, low, -(-guess // MIB))


def describe_failure(seen: FitRun, conditions: FitOptions) -> str:
    """Say in one or two sentences why a run has no result."""
    result = seen.result
    if result.timed_out:
        so_far = f", after {steps_words(seen.steps)}" if seen.steps else ", before its first training step ended"
        return f"it had not ended after {conditions.timeout:g} s{so_far}; raise --timeout"
    if result.out_of_memory:
        return (
            f"it {result.message}; raise --host-memory. Its data and its weights are in this machine's memory, as is"
            " 1/32 of a GPU that TensorFlow takes as a whole (not with TF_FORCE_GPU_ALLOW_GROWTH=true)"
        )
    where = f"line {result.traceback_line}: " if result.traceback_line else ""
    if result.exit_code and not result.exception:
        return f"it ended with exit code {result.exit_code}"
    if seen.out_of_memory:
        return f"it ran out of GPU memory: {memory_line(result.message)}"
    way_out = hint(result, conditions.sandbox)
    return f"it failed: {where}{gist(result.error)[:500] or 'without a message'}" + (f"; {way_out}" if way_out else "")


def gist(error: str) -> str:
    """Return one line for an error's text.

    Where its first line only introduces the others, as ``Graph execution error:`` does, the last one that says
    something is added.
    """
    lines = [line.strip() for line in error.splitlines()]
    if not lines or not lines[0].endswith(":"):
        return lines[0] if lines else ""
    said = [line for line in lines[1:] if line and not line.startswith(_SAYS_NOTHING)]
    return f"{lines[0]} {said[-1]}" if said else lines[0]


def _gpus(number: int) -> str:
    return "1 simulated GPU" if number == 1 else f"{number} simulated GPUs"
