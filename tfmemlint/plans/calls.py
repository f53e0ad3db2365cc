"""Predictions for calls of ``tf.config`` that configure devices."""

from __future__ import annotations

import math
from dataclasses import replace

from tfmemlint.intents import StatedIntent
from tfmemlint.interpreter.program import Call, Store
from tfmemlint.interpreter.state import ConfigEffect, device_key
from tfmemlint.interpreter.state.numbering import logical_gpus
from tfmemlint.interpreter.values import EACH, Amount, Const, Device
from tfmemlint.knowledge.device_names import logical_gpu
from tfmemlint.knowledge.functions import GROWTH_REFUSED, SET_VISIBLE
from tfmemlint.model.intent import Purpose
from tfmemlint.plans.conflicts import beyond, granted, hidden, lost_again, overruled, same, voided, words_of
from tfmemlint.plans.entry_run import EntryRun, numbers_of
from tfmemlint.plans.model import Prediction, PredictionKind
from tfmemlint.plans.replacing import replaced
from tfmemlint.plans.starting import SEVERAL
from tfmemlint.rulekit.explain import short

IN_FORCE = Prediction(PredictionKind.HAPPENS, words="takes effect")


def predict(stated: StatedIntent, call: Call, run: EntryRun | None) -> Prediction | None:
    """Return the prediction for the intent ``stated`` of ``call``, or None if nothing prevents it. Without a ``run``,
    the call alone decides."""
    if run is None:
        return _of_outcome(call, call.effect, None) if call.effect is not None else None
    passes = [other for other in run.of(Call) if other.span == call.span and other.name == call.name]
    predictions = [found for other in passes if (found := _of_outcome(other, other.effect, run)) is not None]
    first = [
        _no_such_gpu(call, run),
        _own_function(call, run),
        *(same(stated, other.effect, run) if other.effect else lost_again(stated, other, run) for other in passes),
        _refused_by_one(stated, call),
        granted(stated, predictions, run),
    ]
    first += [
        found for kind in (PredictionKind.FAILS, PredictionKind.DEPENDS) for found in predictions if found.kind is kind
    ]
    first += [hidden(stated, run), voided(stated, run), overruled(stated, run), _too_large(stated, run)]
    first += [replaced(stated, run), *(found for found in predictions if found.kind is PredictionKind.HAPPENS)]
    return next((found for found in first if found is not None), None)


def _no_such_gpu(call: Call, run: EntryRun) -> Prediction | None:
    """Return a failure for a number beyond the existing GPUs, unless a condition rules that out."""
    missing = beyond(call, run)
    if missing is None or run.count is None:
        return None
    there = "there is none" if not run.count else f"there {'is' if run.count == 1 else 'are'} only {run.count}"
    exception = ("IndexError", "list index out of range")
    words = f"fails: there is no GPU {missing}, {there}" if missing >= 0 else f"fails: {there}"
    return Prediction(
        PredictionKind.FAILS, "value", words, (f"Python raises {': '.join(exception)}",), exception=exception
    )


def no_such_logical_gpu(call: Call, run: EntryRun) -> Prediction | None:
    """Return a failure for a report on a logical GPU that the program does not have with so many GPUs."""
    place = call.value(0, "device")
    text = place.value if isinstance(place, Const) else None
    number = logical_gpu(text)
    if number is None or not run.count:
        return None
    there = logical_gpus(replace(call.state, max_gpus=run.count))
    if there is None or number < there.count:
        return None
    exception = ("ValueError", f"No matching devices found for {text!r}")
    last = f"the last one is GPU:{there.count - 1}" if there.count else "none is visible"
    words = f"fails: there is no logical GPU {number}, {last}"
    return Prediction(
        PredictionKind.FAILS, "value", words, (f"TensorFlow raises {': '.join(exception)}",), exception=exception
    )


def _own_function(call: Call, run: EntryRun) -> Prediction | None:
    """Return the prediction for a program that replaces TensorFlow's function with its own."""
    for event in run.events:
        if event is call:
            break
        if isinstance(event, Store) and f"{event.owner}.{event.attribute}" == call.name:
            words = f"not known: line {event.span.row} puts something else in the place of {short(call.name)}"
            return Prediction(PredictionKind.UNKNOWN, "replaced", words, because=event.span.row)
    return None


def _of_outcome(call: Call, outcome: ConfigEffect | None, run: EntryRun | None) -> Prediction | None:
    """Return the prediction of the model of TensorFlow's checks for one path to a call."""
    if outcome is None or outcome.kind == "drops":
        return None
    only = outcome.kind == "late" and call.name in SET_VISIBLE and run is not None and run.count == 1
    if only and call.state.visible is None and numbers_of(call.value(0, "devices")) in ([0], [-1]):
        row = outcome.cause.span.row if outcome.cause is not None else None
        return Prediction(PredictionKind.HAPPENS, words="takes effect: there is no other GPU", because=row)
    kind = PredictionKind.FAILS if outcome.certain else PredictionKind.DEPENDS
    lead = ""
    if outcome.several and not outcome.certain and call.state.one_gpu:
        return _with_one_gpu(call)
    if (outcome.several or (outcome.of_many and not only)) and not outcome.certain:
        if run is not None and run.count == 1:
            return IN_FORCE
        if run is None or run.count is None or run.open:
            lead = f"depends: {SEVERAL} it "
        else:
            kind = PredictionKind.FAILS
    elif not outcome.certain:
        lead = "depends: may be in force already, else " if call.state.entry_unknown else "depends: on some ways it "
    because = outcome.cause or outcome.setting
    row = because.span.row if because is not None else None
    exception = (outcome.exception, outcome.message) if outcome.exception else None
    details = (f"TensorFlow raises {': '.join(exception)}",) if exception else ("Nothing is raised",)
    return Prediction(kind, outcome.kind, lead + words_of(outcome), details, exception=exception, because=row)


def _with_one_gpu(call: Call) -> Prediction:
    """Return the prediction for a setting that only a second GPU refuses, where the program shows one."""
    shown = call.state.cuda_visible_devices
    if shown is None or isinstance(shown, Const):
        return IN_FORCE
    by_default = isinstance(shown, Amount) and shown.default is not None
    words = "takes effect: CUDA_VISIBLE_DEVICES shows one GPU by default"
    return replace(IN_FORCE, words=words if by_default else "takes effect where CUDA_VISIBLE_DEVICES shows one GPU")


def _refused_by_one(stated: StatedIntent, call: Call) -> Prediction | None:
    """Return the prediction for a loop over all GPUs that sets growth, if one of them already has logical devices."""
    device = call.value(0, "device")
    if (
        stated.intent.purpose is not Purpose.GROWTH
        or stated.gpu != EACH
        or not isinstance(device, Device)
        or not device.loop
        or device_key(device) not in (0, EACH)
    ):
        return None
    for key, setting in call.state.limits.items():
        by = setting.by
        if isinstance(key, int) and by is not None and by.certain and by.devices_loop is None and by.effect is None:
            exception = ("ValueError", GROWTH_REFUSED)
            words = f"is refused: line {by.span.row} has configured logical devices"
            details = (f"TensorFlow raises {': '.join(exception)}",)
            return Prediction(PredictionKind.FAILS, "refused", words, details, exception=exception, because=by.span.row)
    return None


def _too_large(stated: StatedIntent, run: EntryRun) -> Prediction | None:
    """Return the prediction for limits above the memory of the GPU."""
    if stated.setting is not Purpose.LIMIT or run.memory is None or not stated.sizes:
        return None
    if not all(0 <= size < math.inf for size in stated.sizes):
        return None
    total = sum(stated.sizes)
    if not total > run.memory:
        return None
    what = "more" if len(stated.sizes) == 1 else f"{total:g} MiB together, more"
    then = (
        "TensorFlow takes what it can get"
        if len(stated.sizes) == 1
        else "the last ones get less than they were promised"
    )
    words = f"is {what} than the {run.memory:g} MiB of the GPU: {then}"
    return Prediction(PredictionKind.FAILS, "size", words, ("Nothing is raised",))
