"""Predictions for the GPU options of a TF1 session: the first that creates the GPU devices sets them for the
process."""

from __future__ import annotations

from tfmemlint.intents import StatedIntent
from tfmemlint.interpreter.program import RuntimeStart, SessionMade
from tfmemlint.interpreter.state import Tri
from tfmemlint.interpreter.values import EACH, Const
from tfmemlint.knowledge.functions import MAKES_VARIABLES
from tfmemlint.model.intent import Purpose
from tfmemlint.plans.entry_run import EntryRun
from tfmemlint.plans.model import Prediction, PredictionKind
from tfmemlint.rulekit.explain import short, written
from tfmemlint.rulekit.options_given import CONFIG_OF, options_given


def predict(stated: StatedIntent, session: SessionMade, run: EntryRun) -> Prediction | None:
    """Return the prediction for one option of ``session``, or None if nothing is known."""
    passes = [other for other in run.of(SessionMade) if other.span == session.span]
    for other in passes:
        phase = other.state.allocator.under(other.guards)
        if phase.has not in (Tri.YES, Tri.MAYBE) or (phase.by is not None and phase.by.span == other.span):
            continue
        found = _after(stated, other, phase.by, phase.has is Tri.YES and not other.state.entry_unknown, run)
        if found is not None:
            return found
    return _in_time(stated, session, run)


def _in_time(stated: StatedIntent, session: SessionMade, run: EntryRun) -> Prediction:
    forced = run.env("TF_FORCE_GPU_ALLOW_GROWTH")
    if stated.intent.purpose is Purpose.GROWTH and forced == "false" and stated.intent.value is True and run.has_gpus:
        row = run.env_row("TF_FORCE_GPU_ALLOW_GROWTH")
        words = f"is overridden: TF_FORCE_GPU_ALLOW_GROWTH=false in line {row} wins"
        return Prediction(PredictionKind.FAILS, "overridden", words, ("Nothing is raised",), because=row)
    if stated.intent.purpose is Purpose.VISIBLE and run.count:
        missing = _beyond(stated, run.count) or _seen_again(stated, session, run)
        if missing is not None:
            return missing
    earlier = next(
        (start for start in run.of(RuntimeStart) if start.span == session.span and start.what == "context"), None
    )
    if earlier is not None and stated.intent.purpose is not Purpose.VISIBLE and _has_variables(run):
        setting = earlier.state.growth_of(EACH)
        same = setting is not None and setting.value == Const(stated.intent.value)
        if stated.intent.purpose is Purpose.GROWTH and same and not earlier.state.limits:
            words = "takes effect: the eager runtime, which is started first, has it from tf.config"
            return Prediction(PredictionKind.HAPPENS, words=words, because=session.span.row)
        words = f"comes too late: {short(session.name)} makes a Saver first, which starts the eager runtime"
        counts = "What counts is tf.config.experimental.set_memory_growth, or a limit, set before"
        return Prediction(PredictionKind.FAILS, "lost", words, ("Nothing is raised", counts), because=session.span.row)
    details: tuple[str, ...] = ()
    if not session.graph_mode and not session.used:
        details = ("By a side effect alone: eager code never looks at this session, which makes the GPU devices",)
    value = stated.intent.value
    if stated.intent.purpose is Purpose.FRACTION and isinstance(value, (int, float)) and not isinstance(value, bool):
        if value == 0:
            words = "limits nothing: 0 means the default, nearly all of the memory"
            return Prediction(PredictionKind.FAILS, "value", words, ("Nothing is raised",))
        if value > 1:
            words = f"is more than the whole: {value:g} means unified memory, of which the GPU has only a part"
            return Prediction(PredictionKind.FAILS, "value", words, ("Nothing is raised",))
        if run.memory is not None:
            details = (*details, f"That is {value * run.memory:g} MiB of {run.memory:g}")
    return Prediction(PredictionKind.HAPPENS, words="takes effect", details=details)


def _has_variables(run: EntryRun) -> bool:
    """Return True if anything creates a variable: without one a monitored session creates no Saver, and starts
    nothing."""
    return any(call.name.endswith(MAKES_VARIABLES) for call in run.program.calls())


def _beyond(stated: StatedIntent, count: int) -> Prediction | None:
    """Return the prediction for a number in the list of visible devices that no GPU has."""
    listed = [int(part) for part in str(stated.intent.value).split(",") if part.strip().isdigit()]
    number = next((number for number in listed if number >= count), None)
    if number is None:
        return None
    message = f"'visible_device_list' listed an invalid Device id '{number}' but visible device count is {count}"
    exception = ("tf.errors.InvalidArgumentError", message)
    words = f"fails: there is no GPU {number}, there {'is' if count == 1 else 'are'} only {count}"
    return Prediction(
        PredictionKind.FAILS, "value", words, (f"TensorFlow raises {': '.join(exception)}",), exception=exception
    )


def _seen_again(stated: StatedIntent, session: SessionMade, run: EntryRun) -> Prediction | None:
    """Return the prediction for devices that a session leaves out, and that a later eager context still sees."""
    listed = [part for part in str(stated.intent.value).split(",") if part.strip()]
    behind = False
    for event in run.events:
        behind = behind or event is session
        eager = isinstance(event, RuntimeStart) and event.what == "context" and event.certain
        if not (behind and eager) or run.count == len(listed) or event.state.visible is not None:
            continue
        row = event.span.row
        words = f"holds for this session only: line {row} starts the eager runtime, which sees every GPU"
        conflict = "Where the GPUs get other numbers by that, TensorFlow raises AlreadyExistsError"
        return Prediction(PredictionKind.FAILS, "overridden", words, (conflict,), because=row)
    return None


def _after(
    stated: StatedIntent, session: SessionMade, by: RuntimeStart | None, certain: bool, run: EntryRun
) -> Prediction | None:
    """Return the prediction if the GPU devices already exist: their options stay, which may be the same ones."""
    row = by.span.row if by is not None else None
    who = f"line {row} ({written(by.text, 40)})" if by is not None else "something before"
    if stated.intent.purpose is Purpose.VISIBLE:
        return Prediction(
            PredictionKind.UNKNOWN, "lost", f"not known: {who} has made the GPU devices before", because=row
        )
    same = _has_same(stated, session, by, run)
    if same is None:
        return Prediction(
            PredictionKind.UNKNOWN, "lost", f"not known: {who} has made the GPU devices, with unknown options"
        )
    if same:
        return Prediction(PredictionKind.HAPPENS, words=f"takes effect: {who} has made the GPU devices so", because=row)
    if session.state.entry_unknown and by is not None and by.what == "context":
        # Nothing starts in a graph, which a caller may have opened.
        return Prediction(
            PredictionKind.UNKNOWN, "lost", f"not known: {who} starts the runtime, unless it is in a graph", because=row
        )
    words = f"comes too late: {who} has made the GPU devices, with their old options"
    kind, lead = (PredictionKind.FAILS, "") if certain else (PredictionKind.DEPENDS, "depends: on some ways it ")
    return Prediction(kind, "lost", lead + words, ("Nothing is raised",), because=row)


def _has_same(stated: StatedIntent, session: SessionMade, by: RuntimeStart | None, run: EntryRun) -> bool | None:
    """Return True if the devices that ``by`` has created have the option of the intent."""
    name = stated.text
    intended = session.fields.get(name) if session.fields else None
    if intended is None or by is None:
        return None
    if run.env("TF_FORCE_GPU_ALLOW_GROWTH") == "true" and stated.intent.purpose is Purpose.GROWTH:
        return True
    sessions = (other for other in run.program.of(SessionMade) if other.span == by.span)
    first = next(sessions, None)
    if first is not None:
        if first.fields is None:
            return None
        if first.fields:
            there = first.fields.get(name)
            if there is None:
                return False
            return there == intended if isinstance(there, Const) and isinstance(intended, Const) else there is intended
        if stated.intent.purpose is Purpose.GROWTH and run.is_bare(first):
            return intended == Const(True)
    if first is None and by.name in CONFIG_OF:
        given = options_given(run.program, by)
        there = given.get(name) if given is not None else None
        return None if given is None else there is not None and there == intended
    if stated.intent.purpose is Purpose.GROWTH:
        setting = by.state.growth_of(EACH) or next(iter(by.state.growth.values()), None)
        if setting is not None and not by.state.limits:
            return setting.value == intended if isinstance(setting.value, Const) else None
    return False
