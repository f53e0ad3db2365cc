"""What becomes of an environment variable that the program sets."""

from __future__ import annotations

from tfmemlint.intents import Wanted
from tfmemlint.interpreter.program import EnvWrite
from tfmemlint.interpreter.state import Phase, Tri
from tfmemlint.interpreter.values import UNKNOWN, Const
from tfmemlint.knowledge import environment
from tfmemlint.knowledge.environment import Moment
from tfmemlint.knowledge.variables import judge_name, judge_value, run_together
from tfmemlint.plan.entry_run import Scene
from tfmemlint.plan.model import Fate, Prediction, Variable
from tfmemlint.rulekit.env_writes import is_for_others
from tfmemlint.rulekit.explain import written

_PHASES = {Moment.LISTING: "listed", Moment.DEVICES: "allocator"}
_READ = {
    Moment.LISTING: "the first listing of the GPUs",
    Moment.DEVICES: "the making of the GPU devices",
}
_PACKAGES = {"JAX": "jax", "PyTorch": "torch", "NVTabular": "nvtabular"}


def fate(one: Wanted, write: EnvWrite, scene: Scene) -> Fate | None:
    """What becomes of ``one``, which ``write`` asks for; None where nothing is in its way."""
    if environment.read_at(write.name) is None:
        return _unread(write, scene)
    wrong = _wrong_value(write)
    if wrong is not None:
        return wrong if wrong.exception else _replaced(write, scene) or wrong
    phase = _phase(write)
    before = write.state.env.get(write.name)
    if phase.has not in (Tri.YES, Tri.MAYBE) or (before is not None and before == write.value):
        return _replaced(write, scene)
    certain = phase.has is Tri.YES and not write.state.entry_unknown
    row = phase.by.span.row if phase.by is not None else None
    who = f"line {row} ({written(phase.by.text, 40)})" if phase.by is not None else "something before"
    verb = "listed the GPUs" if environment.read_at(write.name) is Moment.LISTING else "made the GPU devices"
    words = f"comes too late: {who} has {verb}, which reads it"
    verdict, lead = (Prediction.FAILS, "") if certain else (Prediction.DEPENDS, "depends: on some ways it ")
    return Fate(verdict, "late", lead + words, ("Nothing is raised",), because=row)


def variables(scene: Scene) -> list[Variable]:
    """The variables about GPUs that an entry point sets, each with whether TensorFlow reads it afterwards."""
    found: dict[tuple[str, int], Variable] = {}
    for write in scene.of(EnvWrite):
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


def _unread(write: EnvWrite, scene: Scene) -> Fate | None:
    """A variable that TensorFlow never reads; the program, or another library in it, may well do so."""
    owner = environment.OTHERS.get(write.name)
    bad = judge_name(write.name)
    if write.state.max_gpus == 0:
        return Fate(Prediction.UNKNOWN, "unread", f"not known: no GPU is left that {write.name} could be about")
    others = bad is not None and is_for_others(scene.program, write, bad)
    if owner is not None:
        if others:
            return Fate(
                Prediction.UNKNOWN, "unread", f"not known: {write.name} is for {owner}; TensorFlow never reads it"
            )
        words = f"without effect: TensorFlow never reads {write.name}, which is for {owner}"
    elif others:
        words = f"not known: TensorFlow never reads {write.name}; the program may do so itself"
        return Fate(Prediction.UNKNOWN, "unread", words)
    else:
        words = f"without effect: TensorFlow never reads {write.name}"
    return Fate(Prediction.FAILS, "unread", words, ("Nothing is raised",))


def _wrong_value(write: EnvWrite) -> Fate | None:
    if not isinstance(write.value, Const):
        return None
    value = write.value.value
    if not isinstance(value, str):
        words = f"fails: the value of an environment variable is a string, not {type(value).__name__}"
        exception = ("TypeError", f"str expected, not {type(value).__name__}")
        return Fate(Prediction.FAILS, "value", words, (f"Python raises {': '.join(exception)}",), exception=exception)
    allowed = environment.allowed(write.name)
    if (
        allowed is None
        or value in allowed
        or (not run_together(write.name, value) and not judge_value(write.name, value))
    ):
        return None
    choices = " or ".join(repr(one) for one in allowed)
    words = f"without effect: {write.name} takes {choices}, not {value!r}"
    return Fate(Prediction.FAILS, "value", words, ("Nothing is raised",))


def _replaced(write: EnvWrite, scene: Scene) -> Fate | None:
    """Another value that is set before this one is read."""
    later = False
    for other in scene.of(EnvWrite):
        if other is write:
            later = True
        elif later and other.name == write.name and other.value != write.value and other.certain:
            if _phase(other).has in (Tri.YES, Tri.MAYBE) or other.repeated:
                return None
            words = f"is replaced in line {other.span.row}, before it is read"
            return Fate(Prediction.REPLACED, words=words, because=other.span.row)
    if scene.sure and write.value != UNKNOWN and scene.in_force.env.get(write.name) == UNKNOWN:
        words = "not known: it is taken out of the environment, or changed, before it is read"
        return Fate(Prediction.UNKNOWN, "overridden", words)
    return None
