"""Predict whether the runtime starts: not if memory growth differs between the GPUs that TensorFlow sees."""

from __future__ import annotations

from collections.abc import Mapping

from tfmemlint.intents import StatedIntent
from tfmemlint.interpreter.program import End, Event, RuntimeStart
from tfmemlint.interpreter.state import Key, Setting, State
from tfmemlint.interpreter.values import EACH, Const, Devices
from tfmemlint.model.intent import Purpose
from tfmemlint.plans.entry_run import EntryRun, numbers_of
from tfmemlint.plans.model import Prediction, PredictionKind
from tfmemlint.rulekit.explain import written

DIFFERS = "Memory growth cannot differ between GPU devices"
SEVERAL = "with two or more GPUs"


def unstarted(stated: StatedIntent, run: EntryRun) -> Prediction | None:
    """Return the prediction for an intent if the runtime does not start; None if it does, or if ``stated`` comes
    after."""
    # Of growth that a loop sets for the GPUs one by one, another prediction says that it comes too late for the second.
    found = _differing(run, in_loops=stated.intent.purpose is not Purpose.GROWTH)
    if found is None:
        return None
    event, settings = found
    if stated.intent.purpose in (Purpose.REPORT, Purpose.DEVICES) and event.span != stated.event.span:
        return None
    mine = any(setting.by is not None and setting.by.span == stated.span for setting in settings.values())
    if not mine and not _is_before(stated.event, event, run):
        return None
    sure = all(setting.by is None or setting.by.certain for setting in settings.values())
    certain = run.count is not None and sure and not run.open
    start = event if isinstance(event, RuntimeStart) else None
    where = f" in line {start.span.row} ({written(start.text, 40)})" if start is not None else ""
    why = "" if mine else ": growth differs between the GPUs"
    return Prediction(
        PredictionKind.FAILS if certain else PredictionKind.DEPENDS,
        "partial",
        ("" if certain else f"depends: {SEVERAL} ") + f"the runtime does not start{where}{why}",
        (f"TensorFlow raises ValueError: {DIFFERS}",),
        exception=("ValueError", DIFFERS),
        because=start.span.row if start is not None else None,
    )


def in_force(table: Mapping[Key, Setting], count: int) -> list[Setting | None] | None:
    """Return the setting of each of ``count`` GPUs; None if that is unknown."""
    if not all(isinstance(key, int) or key == EACH for key in table):
        return None
    return [table.get(number) or table.get(number - count) or table.get(EACH) for number in range(count)]


def _differing(run: EntryRun, *, in_loops: bool) -> tuple[Event, Mapping[Key, Setting]] | None:
    """Return the event that starts the runtime (else the end) with growth that differs, and the settings to blame.

    With ``in_loops`` also where the loop that sets growth starts the runtime before its second GPU.
    """
    for event in run.events:
        if not (isinstance(event, End) or (isinstance(event, RuntimeStart) and event.what == "context")):
            continue
        differs = _differs(event.state, run.count)
        if differs is False:
            continue
        partial = event.state.growth if differs else event.state.partial_growth
        settings = {
            key: setting for key, setting in (partial or {}).items() if _counts(setting, event, in_loops=in_loops)
        }
        if settings:
            return event, settings
    return None


def _counts(setting: Setting, event: Event, *, in_loops: bool) -> bool:
    by = setting.by
    if by is None or by.state.single_gpu:
        return False
    if in_loops:
        return True
    # A loop would reach the other GPUs if nothing in it started the runtime.
    return not (isinstance(event, RuntimeStart) and event.devices_loop and event.devices_loop == by.devices_loop)


def _differs(state: State, count: int | None) -> bool | None:
    """Return True if growth differs on a machine with ``count`` GPUs; None if that is unknown."""
    if count is None:
        return None
    if count < 2 or state.limits or state.cpu_split or not state.growth:
        return False
    settings = in_force(state.growth, count)
    numbers: list[int] | None = list(range(count))
    if state.visible is not None and not (isinstance(state.visible.value, Devices) and state.visible.value.whole):
        numbers = numbers_of(state.visible.value)
    if settings is None or numbers is None or not all(-count <= number < count for number in numbers):
        return None
    chosen = [settings[number] for number in numbers]
    values = [setting.value if setting is not None else None for setting in chosen]
    known = [value for value in values if value is None or isinstance(value, Const)]
    if any(value != known[0] for value in known):
        return True
    return False if len(known) == len(values) else None


def _is_before(event: Event, other: Event, run: EntryRun) -> bool:
    for each in run.events:
        if each is event or each is other:
            return each is event
    return False
