"""Conflicts of a setting: with what creates the GPU devices earlier or ignores it, and with other settings."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from tfmemlint.intents import StatedIntent
from tfmemlint.interpreter.program import Call, RuntimeStart
from tfmemlint.interpreter.state import ConfigEffect, Setting, Tri
from tfmemlint.interpreter.values import EACH, UNKNOWN, Const, Devices, Value
from tfmemlint.knowledge.functions import SET_VISIBLE
from tfmemlint.model.intent import Purpose
from tfmemlint.plans.entry_run import IGNORING_TF_CONFIG, EntryRun, numbers_of
from tfmemlint.plans.model import Prediction, PredictionKind
from tfmemlint.rulekit.explain import written


def words_of(outcome: ConfigEffect) -> str:
    cause, setting = outcome.cause, outcome.setting
    if outcome.kind == "late":
        return f"comes too late: {by_whom(cause)} has started the runtime"
    if outcome.kind == "lost":
        return f"comes too late: {by_whom(cause)} has made the GPU devices, with their old options"
    line = f"line {setting.span.row}" if setting is not None else "something before"
    if outcome.kind == "refused":
        return f"is refused: {line} has configured logical devices"
    return f"is dropped: the logical devices of {line} win"


def by_whom(start: RuntimeStart | None) -> str:
    return f"line {start.span.row} ({written(start.text, 40)})" if start is not None else "something before"


def voided(stated: StatedIntent, run: EntryRun) -> Prediction | None:
    """Return the prediction for growth that later logical devices make void: those of any device drop that of every
    GPU."""
    if stated.intent.purpose is not Purpose.GROWTH or stated.intent.value is False:
        return None
    if run.env("TF_FORCE_GPU_ALLOW_GROWTH") == "true":
        return None
    behind = False
    for call in run.of(Call):
        behind = behind or call is stated.event
        outcome = call.effect
        if not behind or outcome is None or outcome.kind != "drops":
            continue
        if (run.gpus and call.state.max_gpus == 0) or not call.state.growth or beyond(call, run) is not None:
            continue
        if any((text, not truth) in stated.event.guards for text, truth in call.guards):
            continue
        always = outcome.certain and call.comes_with(stated.event)
        words = f"is dropped: the logical devices of line {call.span.row} win"
        kind, lead = (PredictionKind.FAILS, "") if always else (PredictionKind.DEPENDS, "depends: on some ways it ")
        return Prediction(kind, "dropped", lead + words, ("Nothing is raised",), because=call.span.row)
    return None


def beyond(call: Call, run: EntryRun) -> int | None:
    """Return the number of a GPU in the arguments of a call that doesn't exist, or None if a condition rules that
    out."""
    if run.count is None or call.state.min_gpus > run.count:
        return None
    value = call.value(0, "device") if call.name not in SET_VISIBLE else call.value(0, "devices")
    numbers = numbers_of(value, "GPU") or []
    return next((number for number in numbers if not -run.count <= number < run.count), None)


def hidden(stated: StatedIntent, run: EntryRun) -> Prediction | None:
    """Return the prediction for a limit on a GPU that TensorFlow doesn't see."""
    setting = run.in_force.visible
    shown = numbers_of(setting.value, "GPU") if setting is not None else None
    if stated.setting is not Purpose.LIMIT or setting is None or setting.by is None or shown is None:
        return None
    every = stated.gpu == EACH and not shown
    known = isinstance(stated.gpu, int) and all(number >= 0 for number in shown) and stated.gpu not in shown
    if not (every or (known and stated.gpu != -1)) or not setting.by.certain:
        return None
    row = setting.by.span.row
    words = f"is without effect: set_visible_devices in line {row} hides {'this GPU' if shown else 'every GPU'}"
    return Prediction(PredictionKind.FAILS, "hidden", words, ("Nothing is raised",), because=row)


def overruled(stated: StatedIntent, run: EntryRun) -> Prediction | None:
    """Return the prediction for settings that an environment variable overrides, or that whatever creates the GPU
    devices ignores."""
    purpose = stated.setting
    forced = run.env("TF_FORCE_GPU_ALLOW_GROWTH")
    if purpose is Purpose.GROWTH and isinstance(stated.intent.value, bool) and forced in ("true", "false"):
        if (forced == "true") == stated.intent.value or not run.has_gpus:
            return None
        row = run.env_row("TF_FORCE_GPU_ALLOW_GROWTH")
        words = f"is overridden: TF_FORCE_GPU_ALLOW_GROWTH={forced} in line {row} wins"
        return Prediction(PredictionKind.FAILS, "overridden", words, ("Nothing is raised",), because=row)
    if purpose is Purpose.LIMIT and run.allocates_asynchronously:
        row = run.env_row("TF_GPU_ALLOCATOR")
        words = f"is not enforced: the allocator cuda_malloc_async (line {row}) knows no limits"
        return Prediction(PredictionKind.FAILS, "overridden", words, ("Nothing is raised",), because=row)
    made = run.made
    if made is None or purpose not in (Purpose.GROWTH, Purpose.LIMIT, Purpose.VISIBLE):
        return None
    row = made.span.row
    if (
        run.ignores_tf_config
        and purpose is not Purpose.VISIBLE
        and is_in(stated, (*made.state.growth.values(), *made.state.limits.values()))
    ):
        words = f"is lost: line {row} ({written(made.text, 40)}) makes the GPU devices without a look at it"
        return Prediction(PredictionKind.FAILS, "lost", words, ("Nothing is raised",), because=row)
    session = run.session
    every = purpose is Purpose.VISIBLE and _is_all(stated, run.count)
    if session is not None and run.configured and run.sure and not every:
        granted = run.grants(session)
        if granted is None:
            words = f"not known: the session of line {row} brings options of its own, which are not known"
            return Prediction(PredictionKind.UNKNOWN, "overridden", words, because=row)
        if purpose is Purpose.GROWTH and granted == Const(stated.intent.value):
            return _made_so(made)
        if purpose is Purpose.LIMIT and "gpu_options.visible_device_list" in (session.fields or {}):
            words = f"not known: the session of line {row} makes only some of the GPU devices"
            return Prediction(PredictionKind.UNKNOWN, "overridden", words, because=row)
        own = "options that an InteractiveSession has" if run.is_bare(session) else "options of its own ConfigProto"
        words = f"is lost: the session of line {row} makes the GPU devices, with the {own}"
        return Prediction(PredictionKind.FAILS, "overridden", words, ("Nothing is raised",), because=row)
    return None


def _made_so(made: RuntimeStart) -> Prediction:
    """Return the prediction that the intent holds, whatever the call does."""
    words = f"takes effect: {by_whom(made)} has made the GPU devices so"
    return Prediction(PredictionKind.HAPPENS, words=words, because=made.span.row)


def granted(stated: StatedIntent, predictions: Sequence[Prediction], run: EntryRun) -> Prediction | None:
    """Return the prediction for growth that the options of a session or the environment bring, whatever the call
    does."""
    if stated.intent.purpose is not Purpose.GROWTH or any(found.reason not in ("", "dropped") for found in predictions):
        return None
    forced = run.env("TF_FORCE_GPU_ALLOW_GROWTH")
    if forced in ("true", "false"):
        row = run.env_row("TF_FORCE_GPU_ALLOW_GROWTH")
        words = f"takes effect: TF_FORCE_GPU_ALLOW_GROWTH={forced} in line {row}, which logical devices do not drop"
        brought = (
            stated.intent.value is True and forced == "true" and any(found.reason == "dropped" for found in predictions)
        )
        return Prediction(PredictionKind.HAPPENS, words=words, because=row) if brought else None
    session, made = run.session, run.made
    if session is None or made is None or not (run.configured and run.sure):
        return None
    return _made_so(made) if run.grants(session) == Const(stated.intent.value) else None


def lost_again(stated: StatedIntent, call: Call, run: EntryRun) -> Prediction | None:
    """Return the prediction for a setting that was lost or ignored when the GPU devices were created, and is set to the
    same value again."""
    phase = call.state.allocator.under(call.guards)
    made = phase.by
    if made is None or phase.has is not Tri.YES or stated.setting not in (Purpose.GROWTH, Purpose.LIMIT):
        return None
    table = call.state.growth if stated.intent.purpose is Purpose.GROWTH else call.state.limits
    lost = [setting.by for setting in table.values() if setting.by is not None and setting.by.effect is not None]
    session = run.session_of(made)
    deaf = made.name in IGNORING_TF_CONFIG or (session is not None and run.brings_options(session))
    if not table or not (deaf or any(by.effect is not None and by.effect.kind == "lost" for by in lost)):
        return None
    outcome = ConfigEffect("lost", cause=made)
    words = words_of(outcome)
    return same(stated, outcome, run) or Prediction(
        PredictionKind.FAILS, "lost", words, ("Nothing is raised",), because=made.span.row
    )


def same(stated: StatedIntent, outcome: ConfigEffect, run: EntryRun) -> Prediction | None:
    """Return the prediction for a setting that the existing GPU devices already have, or do not prevent."""
    made = outcome.cause
    if (
        outcome.kind == "lost"
        and made is not None
        and made.name in IGNORING_TF_CONFIG
        and stated.intent.purpose is Purpose.VISIBLE
    ):
        # GPUs that keep their numbers can be chosen nevertheless.
        shown = numbers_of(stated.event.value(0, "devices"), "GPU") if isinstance(stated.event, Call) else None
        return (
            Prediction(PredictionKind.HAPPENS, words="takes effect", because=made.span.row)
            if _are_first(shown)
            else None
        )
    if outcome.kind != "lost" or made is None or stated.intent.purpose is not Purpose.GROWTH:
        return None
    session = run.session_of(made)
    granted: Value | None = Const(False)
    if session is not None and run.brings_options(session):
        granted = run.grants(session)
    elif session is not None:
        setting = made.state.growth_of(EACH)
        granted = setting.value if setting is not None else Const(bool(made.state.growth))
    if run.env("TF_FORCE_GPU_ALLOW_GROWTH") in ("true", "false"):
        granted = Const(run.env("TF_FORCE_GPU_ALLOW_GROWTH") == "true")
    return _made_so(made) if granted == Const(stated.intent.value) else None


def _are_first(numbers: Sequence[int] | None) -> bool:
    return numbers is not None and set(numbers) == set(range(len(set(numbers))))


def _is_all(stated: StatedIntent, count: int | None) -> bool:
    """Return True if the devices to be visible are all existing GPUs."""
    devices = stated.event.value(0, "devices") if isinstance(stated.event, Call) else None
    whole = isinstance(devices, Devices) and devices.whole and devices.type == "GPU"
    return whole or (count == 1 and devices is not None and numbers_of(devices, "GPU") in ([0], [-1]))


def is_in(stated: StatedIntent, settings: Iterable[Setting]) -> bool:
    """Return True if ``settings`` contain the intent: by its own call, or by one with the same intent."""
    return any(setting.by is not None and _asks_the_same(setting.by, stated) for setting in settings)


def _asks_the_same(call: Call, stated: StatedIntent) -> bool:
    if call.span == stated.span or not isinstance(stated.event, Call) or call.name != stated.event.name:
        return call.span == stated.span
    if stated.intent.purpose is Purpose.VISIBLE:
        return call.value(0, "devices") == stated.event.value(0, "devices")
    keyword = "enable" if stated.intent.purpose is Purpose.GROWTH else "logical_devices"
    intended = stated.event.value(1, keyword)
    return intended != UNKNOWN and call.value(1, keyword) == intended
