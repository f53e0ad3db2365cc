"""Run a script on the simulated driver, and find out whether it fits.

The first run is the script as it is, on the GPU that the user describes: TensorFlow's allocator decides there whether
it fits, with the script's own limits and growth. If it doesn't fit, a second run on a GPU of a TiB, without limits,
finds how much it needs. Runs under other limits are made only on request.
"""

from __future__ import annotations

import enum
import os
import tempfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

from tfmemlint.fit.observation import MIB, FitRun, observe
from tfmemlint.fit.oom_messages import memory_line
from tfmemlint.verify.sandbox_options import Sandbox, hint

if TYPE_CHECKING:
    from tfmemlint.verify.ground import Ground

ROOMY_MIB = 1024 * 1024
"""The memory of a GPU that refuses nothing, in MiB. It is address space only, which costs nothing."""
DEFAULT_IN_USE_MIB = 300.0
"""The default of ``--in-use``: the memory of a GPU that other processes and the CUDA context use, in MiB."""
MAX_LIMIT_RUNS = 8
"""The number of runs to search for a memory limit: halving comes within 1 % of it by then. A bound on the time."""
_OBSERVER = "tfmemlint.fit.child.observe"
_PASSED = ("KERAS_", "TF_", "XLA_")
"""Prefixes of the caller's variables that the script gets. Not CUDA's, which select the GPUs of another machine."""
_NOT_PASSED = ("TF_CLI_", "TF_TOKEN_", "TF_VAR_")
"""Prefixes of variables of Terraform, which may be credentials."""


class FitOutcome(enum.Enum):
    """The outcome of a measurement."""

    FITS = "fits"
    TOO_BIG = "does not fit"
    UNKNOWN = "not known"


@dataclass(frozen=True, slots=True)
class FitOptions:
    """The options of a measurement.

    Attributes:
        memory_mib: the memory of each simulated GPU, in MiB. gpus: their number.
        in_use_mib: the memory of each GPU that others use, in MiB: other processes, and this process's CUDA context.
        steps: end after this many training steps; 0 to run to the end. argv: the script's arguments.
        timeout: seconds for one run. host_mib: MiB of this machine's own memory for one run. cwd: the folder to run in.
        check_limit: search for the smallest memory limit by further runs. env: variables added to the script's.
        sandbox: what the script may reach of this machine; None for everything.
    """

    memory_mib: int = 16384
    gpus: int = 1
    in_use_mib: float = DEFAULT_IN_USE_MIB
    steps: int = 3
    argv: tuple[str, ...] = ()
    timeout: float = 600.0
    host_mib: float = 8192.0
    cwd: str | None = None
    check_limit: bool = False
    env: Mapping[str, str] = field(default_factory=dict)
    sandbox: Sandbox | None = field(default_factory=Sandbox)


@dataclass(slots=True)
class LimitSearch:
    """The result of the runs under other limits, in MiB: the script runs with ``works`` and not with ``fails``.

    ``None`` if there was no such run.
    """

    works: int | None = None
    fails: int | None = None
    runs: int = 0


@dataclass(slots=True)
class FitResult:
    """Everything that a measurement found.

    Attributes:
        outcome: whether it fits. asked: the run on the GPU that the user describes. roomy: the run without limits, if
            the first one ran out of memory. limit: see `LimitSearch`; None if it wasn't requested.
        problem: why nothing is known, or "". tensorflow: the release.
    """

    conditions: FitOptions
    tensorflow: str
    asked: FitRun
    outcome: FitOutcome = FitOutcome.UNKNOWN
    roomy: FitRun | None = None
    limit: LimitSearch | None = None
    problem: str = ""
    notes: list[str] = field(default_factory=list)

    @property
    def measured(self) -> FitRun:
        """Return the run whose peak is what the script needs."""
        return self.asked if self.roomy is None else self.roomy


def measure(script: Path, code: str, ground: Ground, conditions: FitOptions, say: Callable[[str], None]) -> FitResult:
    """Find out whether a script fits, and what it needs; ``say`` is called with the progress.

    Raises:
        GroundError: the ground failed. ValueError: there is no such machine.
    """
    runner = _Runner(script, code, ground, conditions)
    say(f"running {script.name} on {_gpus(conditions.gpus)} of {conditions.memory_mib / 1024:g} GiB")
    found = FitResult(conditions, ground.version, runner.run())
    if found.asked.out_of_memory:
        found.outcome = FitOutcome.TOO_BIG
        say(f"it does not fit; running {script.name} without limits, to see what it needs")
        roomy = runner.run(lifted=True)
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
        found.limit = _search(runner, found.measured, say)
    return found


def _used(seen: FitRun) -> bool:
    return any(gpu.peak for gpu in seen.usage.gpus)


class _Runner:
    """Runs one script repeatedly."""

    def __init__(self, script: Path, code: str, ground: Ground, conditions: FitOptions) -> None:
        self._script, self._code, self._ground, self._conditions = script, code, ground, conditions

    def run(self, *, lifted: bool = False, limit_mib: int | None = None, trace: bool = True) -> FitRun:
        conditions, sandbox = self._conditions, self._conditions.sandbox
        memory = ROOMY_MIB if lifted else conditions.memory_mib
        # The limit must decide, not the memory of the GPU.
        if limit_mib is not None:
            memory = max(memory, 4 * limit_mib)
        with tempfile.TemporaryDirectory(prefix="tfmemlint-") as folder:
            log = Path(folder) / "log"
            used = 0.0 if lifted else conditions.in_use_mib
            env = {
                name: value
                for name, value in os.environ.items()
                if name.startswith(_PASSED) and not name.startswith(_NOT_PASSED)
            }
            env.update(conditions.env)
            env["TFMEMLINT_SIM_LOG"] = str(log)
            env["TFMEMLINT_SIM_USED_MIB"] = ",".join([str(round(used))] * conditions.gpus)
            result = self._ground.run(
                self._code,
                gpus=conditions.gpus,
                memory_mib=[memory] * conditions.gpus,
                env=env,
                filename=str(self._script),
                argv=conditions.argv,
                timeout=conditions.timeout,
                host_mib=conditions.host_mib,
                cwd=conditions.cwd or Path.cwd(),
                sandbox=None if sandbox is None else replace(sandbox, write=(*sandbox.write, folder)),
                observer={
                    "module": _OBSERVER,
                    "steps": conditions.steps,
                    "limit_mib": limit_mib,
                    "lifted": lifted,
                    "trace": trace,
                },
            )
            from tfmemlint.verify.driver import read_log

            return observe(result, read_log(log))


def _search(runner: _Runner, seen: FitRun, say: Callable[[str], None]) -> LimitSearch:
    """Search the smallest limit under which the script runs.

    It is near the peak: above it if the free memory is in pieces that are too small, below it if the allocator gave
    more than was requested because there was enough.
    """
    found = LimitSearch()
    most = max((device.peak or 0 for device in seen.devices), default=0)
    asked = max((device.held["asked_peak"] for device in seen.devices if device.held), default=most)
    low, high = max(asked // MIB, 1), -(-most // MIB)
    if not most:
        return found
    guess = high
    while found.runs < MAX_LIMIT_RUNS:
        say(f"trying a memory limit of {guess} MiB")
        again = runner.run(limit_mib=guess, trace=False)
        found.runs += 1
        if again.failed and not again.out_of_memory:
            break
        # A script that goes on after more errors than without the limit doesn't do the same work.
        if again.failed or again.times_exhausted > seen.times_exhausted:
            found.fails = max(guess, found.fails or 0)
            low = guess
        else:
            found.works = guess
        if found.works is None:
            guess = guess + max(guess // 16, 16)
            continue
        step = max(found.works // 100, 1)
        if found.works - low <= step:
            break
        guess = low if found.fails is None and found.runs == 1 and low < found.works else (low + found.works) // 2
    return found


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
    lines = result.error.splitlines()
    way_out = hint(result, conditions.sandbox)
    return f"it failed: {where}{lines[0][:500] if lines else 'without a message'}" + (f"; {way_out}" if way_out else "")


def steps_words(steps: int) -> str:
    """Return a number of training steps in words."""
    return "1 training step" if steps == 1 else f"{steps} training steps"


def _gpus(number: int) -> str:
    return "1 simulated GPU" if number == 1 else f"{number} simulated GPUs"
