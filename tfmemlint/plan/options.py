"""What becomes of the GPU options of a TF1 session: the first that makes the GPU devices sets them for the process."""

from __future__ import annotations

from tfmemlint.intents import Wanted
from tfmemlint.interpreter.program import RuntimeStart, SessionMade
from tfmemlint.interpreter.state import Tri
from tfmemlint.interpreter.values import EACH, Const
from tfmemlint.knowledge.functions import MAKES_VARIABLES
from tfmemlint.model.intent import Wish
from tfmemlint.plan.entry_run import Scene
from tfmemlint.plan.model import Fate, Prediction
from tfmemlint.rulekit.explain import short, written


def fate(one: Wanted, session: SessionMade, scene: Scene) -> Fate | None:
    """What becomes of one option of ``session``; None where nothing is known."""
    passes = [other for other in scene.of(SessionMade) if other.span == session.span]
    for other in passes:
        phase = other.state.allocator.under(other.guards)
        if phase.has not in (Tri.YES, Tri.MAYBE) or (phase.by is not None and phase.by.span == other.span):
            continue
        found = _after(one, other, phase.by, phase.has is Tri.YES and not other.state.entry_unknown, scene)
        if found is not None:
            return found
    return _in_time(one, session, scene)


def _in_time(one: Wanted, session: SessionMade, scene: Scene) -> Fate:
    forced = scene.env("TF_FORCE_GPU_ALLOW_GROWTH")
    if one.intent.wish is Wish.GROWTH and forced == "false" and one.intent.value is True:
        row = scene.env_row("TF_FORCE_GPU_ALLOW_GROWTH")
        words = f"is overridden: TF_FORCE_GPU_ALLOW_GROWTH=false in line {row} wins"
        return Fate(Prediction.FAILS, "overridden", words, ("Nothing is raised",), because=row)
    if one.intent.wish is Wish.VISIBLE and scene.count:
        missing = _beyond(one, scene.count) or _seen_again(one, session, scene)
        if missing is not None:
            return missing
    earlier = next(
        (start for start in scene.of(RuntimeStart) if start.span == session.span and start.what == "context"), None
    )
    if earlier is not None and one.intent.wish is not Wish.VISIBLE and _has_variables(scene):
        setting = earlier.state.growth_of(EACH)
        same = setting is not None and setting.value == Const(one.intent.value)
        if one.intent.wish is Wish.GROWTH and same and not earlier.state.limits:
            words = "takes effect: the eager runtime, which is started first, has it by tf.config"
            return Fate(Prediction.HAPPENS, words=words, because=session.span.row)
        words = f"comes too late: {short(session.name)} makes a Saver first, which starts the eager runtime"
        counts = "What counts is tf.config.experimental.set_memory_growth, or a limit, set before"
        return Fate(Prediction.FAILS, "lost", words, ("Nothing is raised", counts), because=session.span.row)
    details: tuple[str, ...] = ()
    if not session.graph_mode and not session.used:
        details = ("By a side effect alone: eager code never looks at this session, which makes the GPU devices",)
    value = one.intent.value
    if one.intent.wish is Wish.FRACTION and isinstance(value, (int, float)) and not isinstance(value, bool):
        if value == 0:
            words = "limits nothing: 0 stands for the default, nearly all of the memory"
            return Fate(Prediction.FAILS, "value", words, ("Nothing is raised",))
        if value > 1:
            words = f"is more than the whole: {value:g} means unified memory, of which the GPU has only a part"
            return Fate(Prediction.FAILS, "value", words, ("Nothing is raised",))
        if scene.memory is not None:
            details = (*details, f"That is {value * scene.memory:g} MiB of {scene.memory:g}")
    return Fate(Prediction.HAPPENS, words="takes effect", details=details)


def _has_variables(scene: Scene) -> bool:
    """Whether anything makes a variable: without one a monitored session makes no Saver, and starts nothing."""
    return any(call.name.endswith(MAKES_VARIABLES) for call in scene.program.calls())


def _beyond(one: Wanted, count: int) -> Fate | None:
    """A number in the list of visible devices that no GPU has."""
    listed = [int(part) for part in str(one.intent.value).split(",") if part.strip().isdigit()]
    number = next((number for number in listed if number >= count), None)
    if number is None:
        return None
    message = f"'visible_device_list' listed an invalid Device id '{number}' but visible device count is {count}"
    exception = ("tf.errors.InvalidArgumentError", message)
    words = f"fails: there is no GPU {number}, there {'is' if count == 1 else 'are'} only {count}"
    return Fate(Prediction.FAILS, "value", words, (f"TensorFlow raises {': '.join(exception)}",), exception=exception)


def _seen_again(one: Wanted, session: SessionMade, scene: Scene) -> Fate | None:
    """Devices that a session leaves out, and an eager context behind it, which never heard of that."""
    listed = [part for part in str(one.intent.value).split(",") if part.strip()]
    behind = False
    for event in scene.events:
        behind = behind or event is session
        eager = isinstance(event, RuntimeStart) and event.what == "context" and event.certain
        if not (behind and eager) or scene.count == len(listed) or event.state.visible is not None:
            continue
        row = event.span.row
        words = f"holds for this session only: line {row} starts the eager runtime, which sees every GPU"
        conflict = "Where the GPUs get other numbers by that, TensorFlow raises AlreadyExistsError"
        return Fate(Prediction.FAILS, "overridden", words, (conflict,), because=row)
    return None


def _after(one: Wanted, session: SessionMade, by: RuntimeStart | None, certain: bool, scene: Scene) -> Fate | None:
    """The GPU devices exist already: their options stay, which may be the same ones."""
    row = by.span.row if by is not None else None
    who = f"line {row} ({written(by.text, 40)})" if by is not None else "something before"
    if one.intent.wish is Wish.VISIBLE:
        return Fate(Prediction.UNKNOWN, "lost", f"not known: {who} has made the GPU devices before", because=row)
    same = _has_same(one, session, by, scene)
    if same is None:
        return Fate(Prediction.UNKNOWN, "lost", f"not known: {who} has made the GPU devices, with unknown options")
    if same:
        return Fate(Prediction.HAPPENS, words=f"takes effect: {who} has made the GPU devices so", because=row)
    if session.state.entry_unknown and by is not None and by.what == "context":
        # Within a graph, which a caller may have opened, nothing is started.
        return Fate(
            Prediction.UNKNOWN, "lost", f"not known: {who} starts the runtime, unless it is in a graph", because=row
        )
    words = f"comes too late: {who} has made the GPU devices, with their old options"
    verdict, lead = (Prediction.FAILS, "") if certain else (Prediction.DEPENDS, "depends: on some ways it ")
    return Fate(verdict, "lost", lead + words, ("Nothing is raised",), because=row)


def _has_same(one: Wanted, session: SessionMade, by: RuntimeStart | None, scene: Scene) -> bool | None:
    """Whether the devices that ``by`` has made have the option that is asked for."""
    name = one.text
    wished = session.fields.get(name) if session.fields else None
    if wished is None or by is None:
        return None
    if scene.env("TF_FORCE_GPU_ALLOW_GROWTH") == "true" and one.intent.wish is Wish.GROWTH:
        return True
    sessions = (other for other in scene.program.of(SessionMade) if other.span == by.span)
    first = next(sessions, None)
    if first is not None:
        if first.fields is None:
            return None
        if first.fields:
            there = first.fields.get(name)
            if there is None:
                return False
            return there == wished if isinstance(there, Const) and isinstance(wished, Const) else there is wished
        if one.intent.wish is Wish.GROWTH and scene.is_bare(first):
            return wished == Const(True)
    if one.intent.wish is Wish.GROWTH:
        setting = by.state.growth_of(EACH) or next(iter(by.state.growth.values()), None)
        if setting is not None and not by.state.limits:
            return setting.value == wished if isinstance(setting.value, Const) else None
    return False
