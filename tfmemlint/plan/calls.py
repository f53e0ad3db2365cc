"""What becomes of a call of ``tf.config`` that configures devices."""

from __future__ import annotations

import math

from tfmemlint.intents import Wanted
from tfmemlint.interpreter.program import Call, Store
from tfmemlint.interpreter.state import ConfigEffect, device_key
from tfmemlint.interpreter.values import EACH, Device
from tfmemlint.knowledge.functions import GROWTH_REFUSED, SET_VISIBLE
from tfmemlint.model.intent import Wish
from tfmemlint.plan.conflicts import beyond, granted, hidden, lost_again, overruled, same, voided, words_of
from tfmemlint.plan.entry_run import Scene, numbers_of
from tfmemlint.plan.model import Fate, Prediction
from tfmemlint.plan.replacing import replaced
from tfmemlint.plan.starting import SEVERAL
from tfmemlint.rulekit.explain import short

IN_FORCE = Fate(Prediction.HAPPENS, words="takes effect")


def fate(one: Wanted, call: Call, scene: Scene | None) -> Fate | None:
    """What becomes of ``one``, which ``call`` asks for; None where nothing is in its way.

    Without a ``scene`` that is judged by the call alone.
    """
    if scene is None:
        return _of_outcome(call, call.effect, None) if call.effect is not None else None
    passes = [other for other in scene.of(Call) if other.span == call.span and other.name == call.name]
    fates = [found for other in passes if (found := _of_outcome(other, other.effect, scene)) is not None]
    first = [
        _no_such_gpu(call, scene),
        _own_function(call, scene),
        *(same(one, other.effect, scene) if other.effect else lost_again(one, other, scene) for other in passes),
        _refused_by_one(one, call),
        granted(one, fates, scene),
    ]
    first += [
        found for verdict in (Prediction.FAILS, Prediction.DEPENDS) for found in fates if found.verdict is verdict
    ]
    first += [hidden(one, scene), voided(one, scene), overruled(one, scene), _too_large(one, scene)]
    first += [replaced(one, scene), *(found for found in fates if found.verdict is Prediction.HAPPENS)]
    return next((found for found in first if found is not None), None)


def _no_such_gpu(call: Call, scene: Scene) -> Fate | None:
    """A number beyond the GPUs that there are, unless a condition rules that out."""
    missing = beyond(call, scene)
    if missing is None or scene.count is None:
        return None
    there = "there is none" if not scene.count else f"there {'is' if scene.count == 1 else 'are'} only {scene.count}"
    exception = ("IndexError", "list index out of range")
    words = f"fails: there is no GPU {missing}, {there}" if missing >= 0 else f"fails: {there}"
    return Fate(Prediction.FAILS, "value", words, (f"Python raises {': '.join(exception)}",), exception=exception)


def _own_function(call: Call, scene: Scene) -> Fate | None:
    """The program has put a function of its own in the place of TensorFlow's."""
    for event in scene.events:
        if event is call:
            break
        if isinstance(event, Store) and f"{event.owner}.{event.attribute}" == call.name:
            words = f"not known: line {event.span.row} puts something else in the place of {short(call.name)}"
            return Fate(Prediction.UNKNOWN, "replaced", words, because=event.span.row)
    return None


def _of_outcome(call: Call, outcome: ConfigEffect | None, scene: Scene | None) -> Fate | None:
    """The fate that the model of TensorFlow's checks tells for one way to a call."""
    if outcome is None or outcome.kind == "drops":
        return None
    only = outcome.kind == "late" and call.name in SET_VISIBLE and scene is not None and scene.count == 1
    if only and call.state.visible is None and numbers_of(call.value(0, "devices")) in ([0], [-1]):
        row = outcome.cause.span.row if outcome.cause is not None else None
        return Fate(Prediction.HAPPENS, words="takes effect: there is no other GPU", because=row)
    verdict = Prediction.FAILS if outcome.certain else Prediction.DEPENDS
    lead = ""
    if (outcome.several or (outcome.of_many and not only)) and not outcome.certain:
        if scene is not None and scene.count == 1:
            return IN_FORCE
        if scene is None or scene.count is None or scene.open:
            lead = f"depends: {SEVERAL} it "
        else:
            verdict = Prediction.FAILS
    elif not outcome.certain:
        lead = "depends: may be in force already, else " if call.state.entry_unknown else "depends: on some ways it "
    because = outcome.cause or outcome.setting
    row = because.span.row if because is not None else None
    exception = (outcome.exception, outcome.message) if outcome.exception else None
    details = (f"TensorFlow raises {': '.join(exception)}",) if exception else ("Nothing is raised",)
    return Fate(verdict, outcome.kind, lead + words_of(outcome), details, exception=exception, because=row)


def _refused_by_one(one: Wanted, call: Call) -> Fate | None:
    """A loop over all GPUs that sets growth, where one of them has logical devices already."""
    device = call.value(0, "device")
    if (
        one.intent.wish is not Wish.GROWTH
        or one.gpu != EACH
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
            return Fate(Prediction.FAILS, "refused", words, details, exception=exception, because=by.span.row)
    return None


def _too_large(one: Wanted, scene: Scene) -> Fate | None:
    """Limits beyond what the card has."""
    if one.setting is not Wish.LIMIT or scene.memory is None or not one.sizes:
        return None
    if not all(0 <= size < math.inf for size in one.sizes):
        return None
    total = sum(one.sizes)
    if not total > scene.memory:
        return None
    what = "more" if len(one.sizes) == 1 else f"{total:g} MiB together, more"
    then = (
        "TensorFlow takes what it can get" if len(one.sizes) == 1 else "the last ones get less than they were promised"
    )
    words = f"is {what} than the {scene.memory:g} MiB of the GPU: {then}"
    return Fate(Prediction.FAILS, "size", words, ("Nothing is raised",))
