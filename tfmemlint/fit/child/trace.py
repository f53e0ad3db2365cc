"""Record every allocation of a run with TensorFlow's profiler: the operation that asked for it, and its shape."""

from __future__ import annotations

import contextlib
import os
import shutil
import tempfile
import threading
import time
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tfmemlint.fit.child.replay import requests, rounded, smallest_region
from tfmemlint.fit.child.variables import VariableInfo
from tfmemlint.fit.child.xspace import Event, events
from tfmemlint.verify.child.recording import module

MAX_TRACE_SECONDS = 600.0
"""The processor time after which the profiler is stopped, which records everything in this machine's memory; a bound
without a deeper reason. It is not wall time: a busy machine must not change what is measured.
"""
CHECK_SECONDS = 1.0
"""The interval at which that is looked at."""
MAX_TRACE_STEPS = 20
"""The number of training steps that the profiler records, as `MAX_TRACE_SECONDS`."""
MAX_GROUPS = 4000
"""The groups of allocations that are reported; a bound without a deeper reason."""
MAX_POINTS = 600
"""The points of the course of memory that are reported: more than a picture has columns for."""
_STEP = "tfmemlint_step"
"""The name of the event that marks the end of a training step."""
_LOOKED = "tfmemlint_looked"
"""The name of the event that marks that the addresses of the variables were taken."""
_LEVELS = {"host_tracer_level": 2, "device_tracer_level": 0, "python_tracer_level": 0}
"""Only the host is traced, as there is no GPU."""
_COPIED = ("SameWorkerRecvDone", "RecvAsync", "_EagerConst", "EagerCopyToDevice")
"""The names that mark copies from the machine's memory in place of an operation."""


@dataclass(slots=True)
class Allocation:
    """A piece of GPU memory. ``asked`` is what was requested and ``given`` what the allocator gave, in bytes."""

    address: int
    asked: int
    given: int
    operation: str
    shape: str
    kind: int


@dataclass(slots=True)
class HeldMemory:
    """The memory that one allocator held at its peak. Sizes are bytes."""

    peak: int = 0
    blocks: list[Allocation] = field(default_factory=list)
    """Ordered by time."""
    asked_peak: int = 0
    """The most that was requested at a time, in the allocator's pieces of 256 bytes. No lower limit can work."""
    smallest: int = 0
    """The smallest region in which all requests fit in their order, by a model of the allocator."""
    lasting: list[set[int]] = field(default_factory=list)
    """The addresses of the blocks that were still, or already, held at each look at the variables; the last one is at
    the end of the run.
    """
    course: list[int] = field(default_factory=list)
    """The most that was held in each of equally many allocations and releases, in their order."""
    steps: list[float] = field(default_factory=list)
    """The ends of the training steps among them, from 0 to 1."""

    def report(self, looks: Sequence[Mapping[int, VariableInfo]]) -> dict[str, Any]:
        """Return it as plain data; ``looks`` are the variables by address, at each look at them."""
        known: dict[int, VariableInfo] = {}
        for variables, lasting in zip(looks, self.lasting, strict=False):
            known.update({address: variables[address] for address in lasting if address in variables})
        groups: dict[tuple[str, str, str, str, int], list[int]] = defaultdict(lambda: [0, 0, 0])
        roles: dict[str, int] = defaultdict(int)
        for block in self.blocks:
            # An allocation without a known tensor is recorded as an empty one.
            kind, shape = (_type(block.kind), block.shape) if block.shape != "[0]" else ("", "")
            variable = known.get(block.address)
            if variable is not None:
                role, what = variable.role, variable.name
                kind, shape = variable.kind, variable.shape
            elif block.operation in _COPIED:
                role, what = "copied to the GPU", ""
            else:
                role, what = "results of operations", _short(block.operation)
            roles[role] += block.given
            # Nothing but the size tells which block of XLA's an unnamed one is.
            size = block.asked if not what and not kind else 0
            group = groups[role, what, kind, shape, size]
            group[0] += 1
            group[1] += block.asked
            group[2] += block.given
        largest = sorted(groups.items(), key=lambda item: (-item[1][2], item[0]))[:MAX_GROUPS]
        return {
            "peak": self.peak,
            "asked": sum(block.asked for block in self.blocks),
            "asked_peak": self.asked_peak,
            "smallest": self.smallest,
            "roles": dict(sorted(roles.items())),
            "over_time": {"held": self.course, "steps": self.steps},
            "groups": [
                {"role": role, "what": what, "type": kind, "shape": shape, "number": n, "asked": asked, "bytes": given}
                for (role, what, kind, shape, _), (n, asked, given) in largest
            ],
        }


class AllocationTrace:
    """A session of the profiler."""

    most_steps = MAX_TRACE_STEPS

    def __init__(self) -> None:
        self._folder = Path(tempfile.mkdtemp(prefix="tfmemlint-"))
        self._session: Any = None
        self._lock = threading.Lock()
        self.running = False
        self._started = False
        profiler = module("tensorflow.python.profiler.internal._pywrap_profiler")
        self._session_of = profiler.ProfilerSession
        # There can be only one session: the script gets one that does nothing instead of one that fails.
        profiler.ProfilerSession = _Idle

    def start(self) -> None:
        """Start the session, the first time that this is called."""
        if self._started:
            return
        self._started = True
        session = self._session_of()
        with _silence():
            session.start(str(self._folder), _LEVELS)
        self._session = session
        self.running = True
        threading.Thread(
            target=self._stop_in_time, args=(time.process_time() + MAX_TRACE_SECONDS,), daemon=True
        ).start()

    def _stop_in_time(self, limit: float) -> None:
        while self.running and time.process_time() < limit:
            time.sleep(CHECK_SECONDS)
        self.stop()

    def stop(self) -> None:
        """End the session, and keep its recording."""
        with self._lock:
            if self.running:
                self.running = False
                with _silence():
                    self._session.export_to_tb()

    def mark_step(self) -> None:
        """Record that a training step ends."""
        if self.running:
            with module("tensorflow.python.profiler.trace").Trace(_STEP):
                pass

    def mark_look(self) -> None:
        """Record that the addresses of the variables are taken."""
        if self.running:
            with module("tensorflow.python.profiler.trace").Trace(_LOOKED):
                pass

    def read(self) -> dict[str, HeldMemory]:
        """Return the memory that each GPU's allocator held at its peak, by the device's name."""
        found: list[Event] = []
        for path in self._folder.rglob("*.xplane.pb"):
            found += events(path.read_bytes(), ("MemoryAllocation", "MemoryDeallocation", _STEP, _LOOKED))
        shutil.rmtree(self._folder, ignore_errors=True)
        by_device: dict[str, list[Event]] = defaultdict(list)
        steps, looks = (sorted(event.time_ps for event in found if event.name == name) for name in (_STEP, _LOOKED))
        for event in found:
            allocator = str(event.values.get("allocator_name", ""))
            parts = allocator.split("_")
            if parts[0] == "GPU" and len(parts) > 1:
                by_device[f"GPU:{parts[1]}"].append(event)
        return {device: memory(own, steps, looks) for device, own in sorted(by_device.items())}


@contextlib.contextmanager
def _silence() -> Iterator[None]:
    """Hide the profiler's messages about the GPU part of it, which isn't simulated: they are not the script's
    output.
    """
    kept = os.dup(2)
    nowhere = os.open(os.devnull, os.O_WRONLY)
    try:
        os.dup2(nowhere, 2)
        yield
    finally:
        os.dup2(kept, 2)
        os.close(kept)
        os.close(nowhere)


class _Idle:
    """A stand-in for the profiler that the script gets."""

    def start(self, *args: Any) -> None:
        """Do nothing."""

    def stop(self, *args: Any) -> bytes:
        """Return an empty recording."""
        return b""

    def export_to_tb(self, *args: Any) -> None:
        """Export nothing."""


def memory(recorded: list[Event], steps: Sequence[int] = (), looks: Sequence[int] = ()) -> HeldMemory:
    """Replay the allocations of one allocator.

    Args:
        recorded: its allocations and releases. steps: the times at which training steps ended, in order.
        looks: the times at which the addresses of the variables were taken, in order.
    """
    recorded.sort(key=lambda event: event.time_ps)
    held: dict[int, Allocation] = {}
    found = HeldMemory()
    given = asked = 0
    peak_at: dict[int, Allocation] = {}
    highest = 0
    heights: list[int] = []
    # Two passes: copying the held blocks at each new peak would take longer than all the rest.
    for last in (False, True):
        held.clear()
        given = asked = 0
        waiting = [*reversed(looks)] if last else []
        there: list[dict[int, Allocation]] = []
        for event in recorded:
            while waiting and event.time_ps > waiting[-1]:
                waiting.pop()
                there.append(dict(held))
            values = event.values
            address = int(values.get("addr", 0))
            if event.name == "MemoryDeallocation":
                block = held.pop(address, None)
                if block is not None:
                    given -= block.given
                    asked -= rounded(block.asked)
                if not last:
                    heights.append(given)
                continue
            block = Allocation(
                address,
                int(values.get("requested_bytes", 0)),
                int(values.get("allocation_bytes", 0)),
                str(values.get("tf_op", "")),
                str(values.get("shape", "")),
                int(values.get("data_type", 0)),
            )
            held[address] = block
            given += block.given
            asked += rounded(block.asked)
            if not last:
                found.peak, found.asked_peak = max(found.peak, given), max(found.asked_peak, asked)
                heights.append(given)
            elif given == found.peak and not peak_at:
                highest = given
                peak_at = dict(held)
    assert highest == found.peak
    found.smallest = smallest_region(requests(recorded), found.asked_peak, found.peak)
    found.blocks = list(peak_at.values())
    width = max(-(-len(heights) // MAX_POINTS), 1)
    found.course = [max(heights[start : start + width]) for start in range(0, len(heights), width)]
    times = [event.time_ps for event in recorded]
    found.steps = [round(bisect_right(times, step) / len(times), 4) for step in steps] if times else []
    there += [held] * (len(waiting) + 1)
    found.lasting = [{address for address, block in peak_at.items() if at.get(address) is block} for at in there]
    return found


def _short(operation: str) -> str:
    """Return a node's name without the calls that lead to it."""
    parts = [part for part in operation.split("/") if not part.endswith("PartitionedCall")]
    name = "/".join(parts) or operation
    return "" if name == "(null)" else name


def _type(number: int) -> str:
    if number:
        with contextlib.suppress(Exception):
            return str(module("tensorflow.python.framework.dtypes").as_dtype(number).name)
    return ""
