"""The observations of one run: how it ended, and the memory of each logical GPU."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from tfmemlint.fit.held import complete
from tfmemlint.fit.oom_messages import is_out_of_memory, refused_in_cudnn
from tfmemlint.verify.child.probe import logical
from tfmemlint.verify.driver.build import minor_of

if TYPE_CHECKING:
    from tfmemlint.fit.xla_buffers import Block
    from tfmemlint.verify.driver import GpuUsage, Usage
    from tfmemlint.verify.result import Result

MIB = 1024 * 1024
_IN_REGIONS = "TF_PER_DEVICE_MEMORY_LIMIT_MB"
"""With it, TensorFlow takes the same memory in regions of about that size (seen on 2.21)."""


@dataclass(slots=True)
class DeviceUsage:
    """The memory of one logical GPU. Sizes are bytes.

    Attributes:
        name: TensorFlow's name, such as ``GPU:0``. card: the number of its physical GPU.
        peak: the most that its allocator had given out at a time; None if it doesn't say.
        room: the most that its allocator may take. growth: True if it takes it piece by piece. limited: True if the
            script's own configuration gives it less than there is. free: the memory of the physical GPU that others
            leave.
        held: what was held at the peak, see `complete`; None if it isn't known.
    """

    name: str
    card: int
    peak: int | None
    room: int
    growth: bool
    limited: bool
    free: int
    held: dict[str, Any] | None = None

    @property
    def asked_peak(self) -> int | None:
        """Return the most that was requested at a time; None if not every allocation up to the peak was recorded."""
        if self.held is None or self.peak is None or self.held["peak"] < self.peak:
            return None
        return int(self.held["asked_peak"])

    @property
    def smallest_room(self) -> int | None:
        """Return the smallest memory in which all requests fit, by a replay of them; None if it isn't known."""
        if self.asked_peak is None or self.held is None:
            return None
        return self.held.get("smallest")


@dataclass(slots=True)
class FitRun:
    """One run.

    Attributes:
        result: how it ended. usage: what the driver recorded. devices: the logical GPUs, if any were used.
        steps: the training steps that ended. exhausted: the texts of the first out-of-memory errors.
        times_exhausted: the number of these errors. changed: False if it was run with a change that found nothing to
            act on.
    """

    result: Result
    usage: Usage
    devices: list[DeviceUsage]
    steps: int
    exhausted: list[str]
    times_exhausted: int
    changed: bool = True

    @property
    def failed(self) -> bool:
        """True if the script did not end as a script should."""
        return not self.result.ok or bool(self.result.exit_code)

    @property
    def out_of_memory(self) -> bool:
        """True if it ended because a GPU had too little memory."""
        return self.failed and not self.result.timed_out and not self.result.out_of_memory and self._exhausted_last()

    def _exhausted_last(self) -> bool:
        if is_out_of_memory(self.result.message) or self.result.exception == "ResourceExhaustedError":
            return True
        # A script that catches the error often raises one of its own, or just exits.
        return bool(self.exhausted)


def observe(
    result: Result, usage: Usage, blocks: Mapping[int, Block], tensorflow: str, env: Mapping[str, str]
) -> FitRun:
    """Combine a run's report, its journal, the driver's log, and XLA's plans.

    Args:
        tensorflow: the release, such as ``2.21.0``. env: the variables that the script was started with.
    """
    told = result.observer or {}
    steps, exhausted = told.get("steps", 0), list(told.get("exhausted", []))
    peaks: dict[str, int | None] = {}
    for note in result.notes if not told else ():
        # It was killed or crashed: its journal is all that is known.
        steps, peaks = note.get("step", steps), note.get("peaks", peaks)
        exhausted += [note["exhausted"]] if "exhausted" in note else []
    if not exhausted and result.exception:
        line = refused_in_cudnn(result.message, result.stderr)
        exhausted += [line] if line else []
    for device in told.get("devices", []):
        peaks[device["name"]] = device["peak"]
    held = {name: complete(own, blocks) for name, own in told.get("held", {}).items()}
    left = env.get("TF_DEVICE_MIN_SYS_MEMORY_IN_MB", "")
    allocator = _AllocatorSettings(tensorflow, _IN_REGIONS in env, int(left) if left.isdecimal() else None)
    devices = list(_devices(peaks, held, result.effective, usage, allocator))
    return FitRun(
        result,
        usage,
        devices,
        steps,
        exhausted,
        told.get("times_exhausted") or len(exhausted),
        told.get("changed", True),
    )


def _devices(
    peaks: Mapping[str, int | None],
    held: Mapping[str, dict[str, Any]],
    effective: Mapping[str, Any] | None,
    usage: Usage,
    allocator: _AllocatorSettings,
) -> Sequence[DeviceUsage]:
    made = logical(effective)
    found = []
    for place, (name, peak) in enumerate(peaks.items()):
        physical, limit = made[place] if place < len(made) else (place, None)
        gpu = next((candidate for candidate in usage.gpus if candidate.index == physical), None)
        growth = effective is not None and effective["allow_growth"] is True
        known = held.get(name)
        if gpu is None or not (peak or gpu.peak):
            continue
        if peak is None:
            peak = gpu.peak if limit is None else None
        elif known is not None:
            peak = max(peak, known["peak"])
        fraction = bool(effective is not None and effective["per_process_gpu_memory_fraction"])
        limited, free = limit is not None or fraction, gpu.total - gpu.others
        room = _room(gpu, limit, growth, allocator)
        found.append(DeviceUsage(name, gpu.card, peak, room, growth, limited, free, known))
    return found


def _room(gpu: GpuUsage, limit: float | None, growth: bool, allocator: _AllocatorSettings) -> int:
    """Return the most that an allocator may take of its physical GPU, in bytes."""
    if limit is not None and limit >= 1:
        return min(int(limit * MIB), gpu.total - gpu.others)
    free = gpu.total - gpu.others
    if growth or allocator.in_regions:
        return max(free - allocator.left_mib(free) * MIB, 0)
    return gpu.regions[0] if gpu.regions else free


@dataclass(frozen=True, slots=True)
class _AllocatorSettings:
    """The settings that decide how much of a GPU TensorFlow leaves free, and in how many regions it takes the rest."""

    tensorflow: str
    in_regions: bool
    min_left_mib: int | None

    def left_mib(self, free: int) -> int:
        """Return the MiB of the ``free`` bytes of a GPU that TensorFlow leaves free, with growth as without."""
        if self.min_left_mib is not None:
            return self.min_left_mib
        if free < 2048 * MIB:
            return 225
        return 1536 if minor_of(self.tensorflow) == (2, 12) else 1800
