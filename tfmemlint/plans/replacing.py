"""Settings that the program itself changes afterwards, in time."""

from __future__ import annotations

from collections.abc import Sequence

from tfmemlint.intents import StatedIntent
from tfmemlint.interpreter.program import Call
from tfmemlint.interpreter.state import Setting, State
from tfmemlint.interpreter.values import EACH
from tfmemlint.model.intent import Purpose
from tfmemlint.plans.conflicts import is_in
from tfmemlint.plans.entry_run import EntryRun
from tfmemlint.plans.model import Prediction, PredictionKind
from tfmemlint.plans.starting import in_force
from tfmemlint.rulekit.explain import device_words, short

_ARGUMENTS = {
    Purpose.GROWTH: ((1, "enable"),),
    Purpose.LIMIT: ((1, "logical_devices"),),
    Purpose.VISIBLE: ((0, "devices"), (1, "device_type")),
}


def replaced(stated: StatedIntent, run: EntryRun) -> Prediction | None:
    """Return the prediction for a setting that another one replaces in time."""
    there = _settings(run.end, stated, run.count)
    if not isinstance(stated.event, Call) or not there or all(is_in(stated, [setting]) for setting in there):
        return None
    if is_in(stated, there):
        return _replaced_in_part(stated, there)
    # The last call before which the setting was still in force replaces it.
    setters = (call for call in run.of(Call) if call.name == stated.name and call.span != stated.span)
    found = [call for call in setters if _accepted(call) and is_in(stated, _settings(call.state, stated))]
    if not found or not found[-1].certain:
        return None
    last = found[-1]
    if all(last.value(*argument) == stated.event.value(*argument) for argument in _ARGUMENTS[stated.setting]):
        return None
    return Prediction(
        PredictionKind.REPLACED,
        words=f"is replaced by {short(last.name)} in line {last.span.row}",
        because=last.span.row,
    )


def _accepted(call: Call) -> bool:
    return call.effect is None or call.effect.kind == "drops"


def _replaced_in_part(stated: StatedIntent, there: Sequence[Setting]) -> Prediction | None:
    """Return the prediction for a setting of every GPU that another one replaces for some of them."""
    setters = [setting.by for setting in there if setting.by is not None and not is_in(stated, [setting])]
    later = [call for call in setters if call.certain and is_in(stated, _settings(call.state, stated))]
    if stated.gpu != EACH or not later or not isinstance(stated.event, Call):
        return None
    last = later[-1]
    if all(last.value(*argument) == stated.event.value(*argument) for argument in _ARGUMENTS[stated.setting]):
        return None
    device = last.arg(0, "device")
    which = f" for {device_words(device.value, device.text)}" if device is not None else " in part"
    words = f"is replaced{which} by {short(last.name)} in line {last.span.row}"
    return Prediction(PredictionKind.REPLACED, words=words, because=last.span.row)


def _settings(state: State, stated: StatedIntent, count: int | None = None) -> list[Setting]:
    """Return the settings of the intent's kind: those in force, if the number of GPUs is known."""
    if stated.intent.purpose is Purpose.VISIBLE:
        return [state.visible] if state.visible is not None else []
    table = state.growth if stated.intent.purpose is Purpose.GROWTH else state.limits
    there = in_force(table, count) if count is not None else None
    return list(table.values()) if there is None else [setting for setting in there if setting is not None]
