"""Predictions for environment variables that the program sets."""

from __future__ import annotations

from tfmemlint.intents import StatedIntent
from tfmemlint.interpreter.program import EnvWrite
from tfmemlint.interpreter.state import Phase, Tri
from tfmemlint.interpreter.values import UNKNOWN, Const
from tfmemlint.knowledge import environment
from tfmemlint.knowledge.environment import Moment
from tfmemlint.knowledge.variables import VISIBLE, judge_name, judge_value, run_together
from tfmemlint.plans.entry_run import EntryRun, listed_numbers
from tfmemlint.plans.model import Prediction, PredictionKind, Variable
from tfmemlint.rulekit.env_writes import hides_what_is_hidden, is_for_others, is_for_the_next_program, puts_back
from tfmemlint.rulekit.explain import written
from tfmemlint.rulekit.list_texts import list_texts

_PHASES = {Moment.LISTING: "listed", Moment.DEVICES: "allocator"}
_READ = {
    Moment.LISTING: "the first listing of the GPUs",
    Moment.DEVICES: "the making of the GPU devices",
}
_PACKAGES = {"JAX": "jax", "PyTorch": "torch", "NVTabular": "nvtabular"}


def predict(stated: StatedIntent, write: EnvWrite, run: EntryRun) -> Prediction | None:
    """Return the prediction for the intent ``stated`` of ``write``, or None if nothing prevents it."""
    if environment.read_at(write.name) is None:
        return _unread(write, run)
    wrong = _wrong_value(write)
    if wrong is not None:
        return wrong if wrong.exception else _replaced(write, run) or wrong
    if is_text_of_list(write, run):
        words = "without effect: the text of a list names no GPU"
        return Prediction(PredictionKind.FAILS, "value", words, ("Nothing is raised",))
    missing = _no_such_gpu(write, run)
    if missing is not None:
        return missing
    phase = _phase(write)
    before = write.state.env.get(write.name)
    set_before = before is not None and before == write.value
    if phase.has not in (Tri.YES, Tri.MAYBE) or set_before or hides_what_is_hidden(write):
        return _replaced(write, run)
    if is_for_the_next_program(run.program, write):
        words = "not known: it is for the program that is started next; for this one it comes too late"
        return Prediction(PredictionKind.UNKNOWN, "late", words)
    if puts_back(run.program, write):
        return Prediction(PredictionKind.UNKNOWN, "late", "not known: it puts back what was there before")
    certain = phase.has is Tri.YES and not write.state.entry_unknown
    row = phase.by.span.row if phase.by is not None else None
    who = f"line {row} ({written(phase.by.text, 40)})" if phase.by is not None else "something before"
    verb = "listed the GPUs" if environment.read_at(write.name) is Moment.LISTING else "made the GPU devices"
    words = f"comes too late: {who} has {verb}, which reads it"
    kind, lead = (PredictionKind.FAILS, "") if certain else (PredictionKind.DEPENDS, "depends: on some ways it ")
    return Prediction(kind, "late", lead + words, ("Nothing is raised",), because=row)


def is_text_of_list(write: EnvWrite, run: EntryRun) -> bool:
    """Return True if CUDA_VISIBLE_DEVICES gets the text of a list that isn't known."""
    program = run.program
    if write.name != VISIBLE or isinstance(write.value, Const) or write.path != program.source.path:
        return False
    rows = (program.source.span(text.value).row for text in list_texts(program.tree))
    return any(write.statement.row <= row <= write.statement.end_row for row in rows)


def _no_such_gpu(write: EnvWrite, run: EntryRun) -> Prediction | None:
    """Return the prediction for a list of GPUs with a number that no GPU has, if their number is given.

    CUDA reads the list up to that number.
    """
    if write.name != "CUDA_VISIBLE_DEVICES" or write.value != run.in_force.cuda_visible_devices or run.gpus is None:
        return None
    listed = listed_numbers(run.in_force) or []
    missing = next((number for number in listed if number >= run.gpus), None)
    if missing is None:
        return None
    there = "there is none" if not run.gpus else f"there {'is' if run.gpus == 1 else 'are'} only {run.gpus}"
    left = "no GPU" if not run.count else "1 GPU" if run.count == 1 else f"{run.count} GPUs"
    words = f"fails: there is no GPU {missing}, {there}: TensorFlow sees {left}"
    return Prediction(PredictionKind.FAILS, "value", words, ("Nothing is raised",))


def variables(run: EntryRun) -> list[Variable]:
    """Return the variables about GPUs that an entry point sets, each with whether TensorFlow reads it afterwards."""
    found: dict[tuple[str, int], Variable] = {}
    for write in run.of(EnvWrite):
        moment = environment.read_at(write.name)
        if moment not in _PHASES or write.repeated:
            continue
        value = str(write.value.value) if isinstance(write.value, Const) else None
        in_time = {Tri.YES: False, Tri.NO: True, Tri.MAYBE: None, Tri.UNKNOWN: None}[_phase(write).has]
        found.setdefault(
            (write.name, write.span.row), Variable(write.name, value, write.span.row, _READ[moment], in_time)
        )
    return list(found.values())


def _phase(write: EnvWrite) -> Phase:
    moment = environment.read_at(write.name)
    which = _PHASES.get(moment) if moment is not None else None
    if which is None:
        return Phase()
    phase: Phase = getattr(write.state, which)
    return phase.under(write.guards)


def _unread(write: EnvWrite, run: EntryRun) -> Prediction | None:
    """Return the prediction for a variable that TensorFlow never reads; the program or another library may read it."""
    owner = environment.OTHERS.get(write.name)
    bad = judge_name(write.name)
    if write.state.max_gpus == 0:
        return Prediction(
            PredictionKind.UNKNOWN, "unread", f"not known: no GPU is left that {write.name} could be about"
        )
    others = bad is not None and is_for_others(run.program, write, bad)
    if owner is not None:
        if others:
            return Prediction(
                PredictionKind.UNKNOWN, "unread", f"not known: {write.name} is for {owner}; TensorFlow never reads it"
            )
        words = f"without effect: TensorFlow never reads {write.name}, which is for {owner}"
    elif others:
        words = f"not known: TensorFlow never reads {write.name}; the program may do so itself"
        return Prediction(PredictionKind.UNKNOWN, "unread", words)
    else:
        words = f"without effect: TensorFlow never reads {write.name}"
    return Prediction(PredictionKind.FAILS, "unread", words, ("Nothing is raised",))


def _wrong_value(write: EnvWrite) -> Prediction | None:
    if not isinstance(write.value, Const):
        return None
    value = write.value.value
    if not isinstance(value, str):
        words = f"fails: the value of an environment variable is a string, not {type(value).__name__}"
        exception = ("TypeError", f"str expected, not {type(value).__name__}")
        return Prediction(
            PredictionKind.FAILS, "value", words, (f"Python raises {': '.join(exception)}",), exception=exception
        )
    allowed = environment.allowed(write.name)
    if (
        allowed is None
        or value in allowed
        or (not run_together(write.name, value) and not judge_value(write.name, value))
    ):
        return None
    choices = " or ".join(repr(value) for value in allowed)
    words = f"without effect: {write.name} takes {choices}, not {value!r}"
    return Prediction(PredictionKind.FAILS, "value", words, ("Nothing is raised",))


def _replaced(write: EnvWrite, run: EntryRun) -> Prediction | None:
    """Return the prediction for a variable that gets another value before it is read."""
    later = False
    for other in run.of(EnvWrite):
        if other is write:
            later = True
        elif later and other.name == write.name and other.value != write.value and other.certain:
            if _phase(other).has in (Tri.YES, Tri.MAYBE) or other.repeated:
                return None
            words = f"is replaced in line {other.span.row}, before it is read"
            return Prediction(PredictionKind.REPLACED, words=words, because=other.span.row)
    if run.sure and write.value != UNKNOWN and run.in_force.env.get(write.name) == UNKNOWN:
        words = "not known: it is taken out of the environment, or changed, before it is read"
        return Prediction(PredictionKind.UNKNOWN, "overridden", words)
    return None
