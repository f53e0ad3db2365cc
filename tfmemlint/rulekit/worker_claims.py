"""The memory that a process among several takes of a GPU."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from tfmemlint.interpreter.program import Call, SessionMade
from tfmemlint.interpreter.state import Tri
from tfmemlint.interpreter.values import Const, Device, Devices, Limit, Seq, Value
from tfmemlint.knowledge.functions import GROWTH_VARIABLE, LOGICAL_CONFIGURATION, SET_LOGICAL
from tfmemlint.model.finding import Span
from tfmemlint.model.patterns import late_pattern
from tfmemlint.model.records import record
from tfmemlint.rulekit.memory_totals import is_whole, known_limits, shares

if TYPE_CHECKING:
    from tfmemlint.interpreter.program import Event
    from tfmemlint.interpreter.state.workers import WorkerRun

_NAME = late_pattern(r"[^\W\d]\w*")
_OF_DEVICES = late_pattern(
    r"(?i)gpu|device|cuda|^(?:tf|tensorflow|config|experimental|physical|len|not|is|None|bool|any)$"
)
"""Words of conditions that are the same in each of the processes."""
_SHARE = "gpu_options.per_process_gpu_memory_fraction"


@record(frozen=True, slots=True)
class Claim:
    """A part of a GPU's memory that a process takes.

    Attributes:
        key: the GPU. amount: a share, or MiB. is_share: which of both.
            An amount that is not known, but is all of the memory, is the share 1; ``whole`` is true then.
        times: how many processes take it. part: the name and the size of the memory that it is a share of.
        event: where it is set. span, text: the number as written there. function: what the process runs.
    """

    key: object
    amount: float
    is_share: bool
    times: int
    part: tuple[str, float] | None
    event: Event
    span: Span
    text: str
    function: str
    whole: bool = False


def claims_of(run: WorkerRun, listings: frozenset[str]) -> Iterator[Claim]:
    """Yield what a process takes of GPUs that are known; nothing if it may take it of another one.

    Args:
        run: the process. listings: the names of listings of GPUs.
    """
    if any(_is_unclear(event) for event in run.events):
        return
    limits = [
        event for event in run.events if isinstance(event, Call) and event.name in SET_LOGICAL and not event.repeated
    ]
    for call in limits:
        claim = _limit(run, call, listings, alone=len(limits) == 1)
        if claim is not None:
            yield claim
    sessions = [event for event in run.events if isinstance(event, SessionMade)]
    if sessions and not limits:
        claim = _share(run, sessions[0], listings)
        if claim is not None:
            yield claim


def _is_unclear(event: Event) -> bool:
    """True if an event tells that other GPUs are used, or that the memory is taken in another way."""
    if GROWTH_VARIABLE in event.state.env or "TF_GPU_ALLOCATOR" in event.state.env:
        return True
    if not isinstance(event, Call) or not event.name.endswith((".device", ".OneDeviceStrategy")):
        return False
    place = event.args[0].value if event.args else None
    return not isinstance(place, Const)


def _limit(run: WorkerRun, call: Call, listings: frozenset[str], *, alone: bool) -> Claim | None:
    device, logical = call.value(0, "device"), call.value(1, "logical_devices")
    key = _gpu(call, device)
    numbers = known_limits(logical.items) if isinstance(logical, Seq) else None
    whole = isinstance(logical, Seq) and len(logical.items) == 1 and is_whole(logical.items[0])
    if key is None or not (numbers or whole) or call.effect is not None or not _is_in_each(call, run, listings):
        return None
    if not alone and not (isinstance(device, Device) and isinstance(device.index, int) and not device.each):
        return None
    assert isinstance(logical, Seq)
    event, span, text = _written(run, call, logical.items[0])
    if not numbers:
        return Claim(key, 1.0, True, run.times, None, event, span, text, run.function, whole=True)
    return Claim(key, sum(numbers), False, run.times, shares(logical.items), event, span, text, run.function)


def _written(run: WorkerRun, call: Call, limit: Value) -> tuple[Event, Span, str]:
    """Return where a limit is written."""
    for event in reversed(run.events):
        if isinstance(event, Call) and event.name in LOGICAL_CONFIGURATION:
            given = event.arg(0, "memory_limit")
            if given is not None and isinstance(limit, Limit) and given.value == limit.value:
                return event, given.span, given.text
    return call, call.span, ""


def _share(run: WorkerRun, session: SessionMade, listings: frozenset[str]) -> Claim | None:
    fields = session.fields or {}
    share, shown = fields.get(_SHARE), fields.get("gpu_options.visible_device_list", Const(""))
    number = share.value if isinstance(share, Const) else None
    if not isinstance(number, (int, float)) or isinstance(number, bool) or not 0 < number <= 1:
        return None
    if fields.get("gpu_options.allow_growth", Const(False)) != Const(False) or not isinstance(shown, Const):
        return None
    if session.state.allocator.has is Tri.YES or not _is_in_each(session, run, listings):
        return None
    environment = session.state.cuda_visible_devices
    if (environment is not None and not isinstance(environment, Const)) or session.state.max_gpus == 0:
        return None
    span = session.field_spans.get(_SHARE, session.span)
    return Claim((environment, shown), float(number), True, run.times, None, session, span, "", run.function)


def _gpu(call: Call, device: Value) -> object | None:
    """Return which GPU a process configures; None if that may be another one in each process."""
    state = call.state
    shown = state.cuda_visible_devices
    if (shown is not None and not isinstance(shown, Const)) or state.max_gpus == 0:
        return None
    if not isinstance(device, Device) or not (device.each or isinstance(device.index, int)):
        return None
    visible = state.visible.value if state.visible is not None else None
    listed = visible.items if isinstance(visible, Seq) else (visible,)
    if visible is not None and not isinstance(visible, Devices):
        if not listed or not all(map(_is_numbered, listed)):
            return None
        numbers = [each.index for each in listed if isinstance(each, Device)]
        if not device.each and device.index not in numbers:
            return None
    return shown, "each" if device.each else device.index


def _is_numbered(value: Value | None) -> bool:
    return isinstance(value, Device) and isinstance(value.index, int)


def _is_in_each(event: Event, run: WorkerRun, listings: frozenset[str]) -> bool:
    """True if each of the processes comes to an event on a machine with a GPU."""
    words = {word for test, _ in event.guards for word in _NAME.findall(test)} - listings
    return not words & run.parameters and all(_OF_DEVICES.search(word) for word in words)
