"""Settings that the program itself sets otherwise afterwards, in time."""

from __future__ import annotations

from collections.abc import Sequence

from tfmemlint.intents import Wanted
from tfmemlint.interpreter.program import Call
from tfmemlint.interpreter.state import Setting, State
from tfmemlint.interpreter.values import EACH
from tfmemlint.model.intent import Wish
from tfmemlint.plan.conflicts import is_in
from tfmemlint.plan.entry_run import Scene
from tfmemlint.plan.model import Fate, Prediction
from tfmemlint.plan.starting import in_force
from tfmemlint.rulekit.explain import device_words, short

_ARGUMENTS = {
    Wish.GROWTH: ((1, "enable"),),
    Wish.LIMIT: ((1, "logical_devices"),),
    Wish.VISIBLE: ((0, "devices"), (1, "device_type")),
}


def replaced(one: Wanted, scene: Scene) -> Fate | None:
    """A setting that another one takes the place of, in time."""
    there = _settings(scene.end, one, scene.count)
    if not isinstance(one.event, Call) or not there or all(is_in(one, [setting]) for setting in there):
        return None
    if is_in(one, there):
        return _replaced_in_part(one, there)
    # The last one before which it was still in force is the one that takes its place.
    others = (call for call in scene.of(Call) if call.name == one.name and call.span != one.span)
    found = [call for call in others if _accepted(call) and is_in(one, _settings(call.state, one))]
    if not found or not found[-1].certain:
        return None
    last = found[-1]
    if all(last.value(*argument) == one.event.value(*argument) for argument in _ARGUMENTS[one.setting]):
        return None
    return Fate(
        Prediction.REPLACED, words=f"is replaced by {short(last.name)} in line {last.span.row}", because=last.span.row
    )


def _accepted(call: Call) -> bool:
    return call.effect is None or call.effect.kind == "drops"


def _replaced_in_part(one: Wanted, there: Sequence[Setting]) -> Fate | None:
    """A setting for every GPU, of which some get another one afterwards."""
    others = [setting.by for setting in there if setting.by is not None and not is_in(one, [setting])]
    behind = [call for call in others if call.certain and is_in(one, _settings(call.state, one))]
    if one.gpu != EACH or not behind or not isinstance(one.event, Call):
        return None
    last = behind[-1]
    if all(last.value(*argument) == one.event.value(*argument) for argument in _ARGUMENTS[one.setting]):
        return None
    device = last.arg(0, "device")
    which = f" for {device_words(device.value, device.text)}" if device is not None else " in part"
    words = f"is replaced{which} by {short(last.name)} in line {last.span.row}"
    return Fate(Prediction.REPLACED, words=words, because=last.span.row)


def _settings(state: State, one: Wanted, count: int | None = None) -> list[Setting]:
    """The settings of the kind that is asked for: those in force, where it is known how many GPUs there are."""
    if one.intent.wish is Wish.VISIBLE:
        return [state.visible] if state.visible is not None else []
    table = state.growth if one.intent.wish is Wish.GROWTH else state.limits
    there = in_force(table, count) if count is not None else None
    return list(table.values()) if there is None else [setting for setting in there if setting is not None]
