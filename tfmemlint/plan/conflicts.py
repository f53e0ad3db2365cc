"""What is in the way of a setting: what made the GPU devices before, or without a look at it, and other settings."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from tfmemlint.intents import Wanted
from tfmemlint.interpreter.program import Call, RuntimeStart
from tfmemlint.interpreter.state import ConfigEffect, Setting, Tri
from tfmemlint.interpreter.values import EACH, UNKNOWN, Const, Devices, Value
from tfmemlint.knowledge.functions import SET_VISIBLE
from tfmemlint.model.intent import Wish
from tfmemlint.plan.entry_run import BLIND, Scene, numbers_of
from tfmemlint.plan.model import Fate, Prediction
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


def voided(one: Wanted, scene: Scene) -> Fate | None:
    """Growth that logical devices make void afterwards: those of any device drop that of every GPU."""
    if one.intent.wish is not Wish.GROWTH or one.intent.value is False:
        return None
    if scene.env("TF_FORCE_GPU_ALLOW_GROWTH") == "true":
        return None
    behind = False
    for call in scene.of(Call):
        behind = behind or call is one.event
        outcome = call.effect
        if not behind or outcome is None or outcome.kind != "drops":
            continue
        if (scene.gpus and call.state.max_gpus == 0) or not call.state.growth or beyond(call, scene) is not None:
            continue
        if any((text, not truth) in one.event.guards for text, truth in call.guards):
            continue
        always = outcome.certain and call.comes_with(one.event)
        words = f"is dropped: the logical devices of line {call.span.row} win"
        verdict, lead = (Prediction.FAILS, "") if always else (Prediction.DEPENDS, "depends: on some ways it ")
        return Fate(verdict, "dropped", lead + words, ("Nothing is raised",), because=call.span.row)
    return None


def beyond(call: Call, scene: Scene) -> int | None:
    """The number of a GPU in the arguments of a call that doesn't exist; None where a condition rules that out."""
    if scene.count is None or call.state.min_gpus > scene.count:
        return None
    value = call.value(0, "device") if call.name not in SET_VISIBLE else call.value(0, "devices")
    numbers = numbers_of(value, "GPU") or []
    return next((number for number in numbers if not -scene.count <= number < scene.count), None)


def hidden(one: Wanted, scene: Scene) -> Fate | None:
    """A limit for a GPU that TensorFlow doesn't see."""
    setting = scene.in_force.visible
    shown = numbers_of(setting.value, "GPU") if setting is not None else None
    if one.setting is not Wish.LIMIT or setting is None or setting.by is None or shown is None:
        return None
    every = one.gpu == EACH and not shown
    known = isinstance(one.gpu, int) and all(number >= 0 for number in shown) and one.gpu not in shown
    if not (every or (known and one.gpu != -1)) or not setting.by.certain:
        return None
    row = setting.by.span.row
    words = f"is without effect: set_visible_devices in line {row} hides {'this GPU' if shown else 'every GPU'}"
    return Fate(Prediction.FAILS, "hidden", words, ("Nothing is raised",), because=row)


def overruled(one: Wanted, scene: Scene) -> Fate | None:
    """Settings that an environment variable overrides, or that what makes the GPU devices does not look at."""
    wish = one.setting
    forced = scene.env("TF_FORCE_GPU_ALLOW_GROWTH")
    if wish is Wish.GROWTH and isinstance(one.intent.value, bool) and forced in ("true", "false"):
        if (forced == "true") == one.intent.value:
            return None
        row = scene.env_row("TF_FORCE_GPU_ALLOW_GROWTH")
        words = f"is overridden: TF_FORCE_GPU_ALLOW_GROWTH={forced} in line {row} wins"
        return Fate(Prediction.FAILS, "overridden", words, ("Nothing is raised",), because=row)
    if wish is Wish.LIMIT and scene.env("TF_GPU_ALLOCATOR") == "cuda_malloc_async":
        row = scene.env_row("TF_GPU_ALLOCATOR")
        words = f"is not enforced: the allocator cuda_malloc_async (line {row}) knows no limits"
        return Fate(Prediction.FAILS, "overridden", words, ("Nothing is raised",), because=row)
    made = scene.made
    if made is None or wish not in (Wish.GROWTH, Wish.LIMIT, Wish.VISIBLE):
        return None
    row = made.span.row
    if (
        scene.blind
        and wish is not Wish.VISIBLE
        and is_in(one, (*made.state.growth.values(), *made.state.limits.values()))
    ):
        words = f"is lost: line {row} ({written(made.text, 40)}) makes the GPU devices without a look at it"
        return Fate(Prediction.FAILS, "lost", words, ("Nothing is raised",), because=row)
    session = scene.session
    every = wish is Wish.VISIBLE and _is_all(one, scene.count)
    if session is not None and scene.configured and scene.sure and not every:
        granted = scene.grants(session)
        if granted is None:
            words = f"not known: the session of line {row} brings options of its own, which are not known"
            return Fate(Prediction.UNKNOWN, "overridden", words, because=row)
        if wish is Wish.GROWTH and granted == Const(one.intent.value):
            return _made_so(made)
        if wish is Wish.LIMIT and "gpu_options.visible_device_list" in (session.fields or {}):
            words = f"not known: the session of line {row} makes only some of the GPU devices"
            return Fate(Prediction.UNKNOWN, "overridden", words, because=row)
        own = "options that an InteractiveSession has" if scene.is_bare(session) else "options of its own ConfigProto"
        words = f"is lost: the session of line {row} makes the GPU devices, with the {own}"
        return Fate(Prediction.FAILS, "overridden", words, ("Nothing is raised",), because=row)
    return None


def _made_so(made: RuntimeStart) -> Fate:
    """What is asked for is so, whatever becomes of the call."""
    words = f"takes effect: {by_whom(made)} has made the GPU devices so"
    return Fate(Prediction.HAPPENS, words=words, because=made.span.row)


def granted(one: Wanted, fates: Sequence[Fate], scene: Scene) -> Fate | None:
    """Growth that the options of a session bring, or the environment does, whatever becomes of the call's own."""
    if one.intent.wish is not Wish.GROWTH or any(found.reason not in ("", "dropped") for found in fates):
        return None
    forced = scene.env("TF_FORCE_GPU_ALLOW_GROWTH")
    if forced in ("true", "false"):
        row = scene.env_row("TF_FORCE_GPU_ALLOW_GROWTH")
        words = f"takes effect: TF_FORCE_GPU_ALLOW_GROWTH={forced} in line {row}, which logical devices do not drop"
        brought = one.intent.value is True and forced == "true" and any(found.reason == "dropped" for found in fates)
        return Fate(Prediction.HAPPENS, words=words, because=row) if brought else None
    session, made = scene.session, scene.made
    if session is None or made is None or not (scene.configured and scene.sure):
        return None
    return _made_so(made) if scene.grants(session) == Const(one.intent.value) else None


def lost_again(one: Wanted, call: Call, scene: Scene) -> Fate | None:
    """A setting that was lost, or not looked at, when the GPU devices were made, set to the same value once more."""
    phase = call.state.allocator.under(call.guards)
    made = phase.by
    if made is None or phase.has is not Tri.YES or one.setting not in (Wish.GROWTH, Wish.LIMIT):
        return None
    table = call.state.growth if one.intent.wish is Wish.GROWTH else call.state.limits
    lost = [one.by for one in table.values() if one.by is not None and one.by.effect is not None]
    session = scene.session_of(made)
    deaf = made.name in BLIND or (session is not None and scene.brings_options(session))
    if not table or not (deaf or any(by.effect is not None and by.effect.kind == "lost" for by in lost)):
        return None
    outcome = ConfigEffect("lost", cause=made)
    words = words_of(outcome)
    return same(one, outcome, scene) or Fate(
        Prediction.FAILS, "lost", words, ("Nothing is raised",), because=made.span.row
    )


def same(one: Wanted, outcome: ConfigEffect, scene: Scene) -> Fate | None:
    """What the GPU devices that were made before have, or don't stand in the way of."""
    made = outcome.cause
    if outcome.kind == "lost" and made is not None and made.name in BLIND and one.intent.wish is Wish.VISIBLE:
        # Those that keep their numbers can be chosen all the same.
        shown = numbers_of(one.event.value(0, "devices"), "GPU") if isinstance(one.event, Call) else None
        return Fate(Prediction.HAPPENS, words="takes effect", because=made.span.row) if _are_first(shown) else None
    if outcome.kind != "lost" or made is None or one.intent.wish is not Wish.GROWTH:
        return None
    session = scene.session_of(made)
    granted: Value | None = Const(False)
    if session is not None and scene.brings_options(session):
        granted = scene.grants(session)
    elif session is not None:
        setting = made.state.growth_of(EACH)
        granted = setting.value if setting is not None else Const(bool(made.state.growth))
    if scene.env("TF_FORCE_GPU_ALLOW_GROWTH") in ("true", "false"):
        granted = Const(scene.env("TF_FORCE_GPU_ALLOW_GROWTH") == "true")
    return _made_so(made) if granted == Const(one.intent.value) else None


def _are_first(numbers: Sequence[int] | None) -> bool:
    return numbers is not None and set(numbers) == set(range(len(set(numbers))))


def _is_all(one: Wanted, count: int | None) -> bool:
    """Whether what is to be visible are all GPUs that there are."""
    devices = one.event.value(0, "devices") if isinstance(one.event, Call) else None
    whole = isinstance(devices, Devices) and devices.whole and devices.type == "GPU"
    return whole or (count == 1 and devices is not None and numbers_of(devices, "GPU") in ([0], [-1]))


def is_in(one: Wanted, settings: Iterable[Setting]) -> bool:
    """Whether what ``one`` asks for is among ``settings``: by its own call, or by one that asks for the same."""
    return any(setting.by is not None and _asks_the_same(setting.by, one) for setting in settings)


def _asks_the_same(call: Call, one: Wanted) -> bool:
    if call.span == one.span or not isinstance(one.event, Call) or call.name != one.event.name:
        return call.span == one.span
    if one.intent.wish is Wish.VISIBLE:
        return call.value(0, "devices") == one.event.value(0, "devices")
    keyword = "enable" if one.intent.wish is Wish.GROWTH else "logical_devices"
    wished = one.event.value(1, keyword)
    return wished != UNKNOWN and call.value(1, keyword) == wished
