"""TFM404: a session with a configuration of its own discards what was set by ``tf.config``."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from tfmemlint.interpreter.program import Call, SessionMade
from tfmemlint.interpreter.state import Setting, Tri
from tfmemlint.interpreter.values import Const
from tfmemlint.knowledge import names
from tfmemlint.knowledge.functions import SESSIONS, SET_GROWTH, SET_VISIBLE
from tfmemlint.model.finding import Finding, Severity
from tfmemlint.model.intent import Intent
from tfmemlint.rulekit.explain import growth_intent, in_line, limit_intent, short, visible_intent
from tfmemlint.rulekit.rule import Rule

if TYPE_CHECKING:
    from tfmemlint.interpreter.program import Program

_PLAIN_SESSIONS = frozenset(name for name in SESSIONS if "Monitored" not in name)
"""The plain sessions. A monitored session asks the eager context for its devices before it creates its own."""


class SessionConfigDiscardsTfConfig(Rule):
    """A session with a configuration of its own discards what was set by ``tf.config``.

    What it does
    ------------
    Finds TF1 sessions that are created with a ``ConfigProto`` before anything else has created the GPU devices, in a
    program that has set memory growth, a memory limit or the visible devices with ``tf.config``, if the ``ConfigProto``
    does not repeat these settings.

    Why it matters
    --------------
    A session without a configuration takes over the settings of ``tf.config``. A session with its own ``ConfigProto``,
    even an empty one, ignores them. It creates the GPU devices of the process with the defaults: all GPUs, and nearly
    all of their memory. Nothing is raised, unless the two number the visible GPUs differently: then the start of the
    eager runtime raises ``AlreadyExistsError``.

    Example
    -------
    ```python
    import tensorflow as tf

    for gpu in tf.config.list_physical_devices("GPU"):
        tf.config.experimental.set_memory_growth(gpu, True)

    session = tf.compat.v1.Session(config=tf.compat.v1.ConfigProto(allow_soft_placement=True))
    ```

    Use instead
    -----------
    ```python
    import tensorflow as tf

    config = tf.compat.v1.ConfigProto(allow_soft_placement=True)
    config.gpu_options.allow_growth = True
    session = tf.compat.v1.Session(config=config)
    ```

    Ground
    ------
    Only the allocator in TensorFlow's C++ part shows this; without a GPU there is nothing to see.
    """

    code = "TFM404"
    name = "session-config-discards-tf-config"
    whole_program = True
    severity = Severity.ERROR
    about_earlier_settings = True
    triggers = (r"\bSession\(", "InteractiveSession", "ConfigProto")

    def check(self, program: Program) -> Iterator[Finding]:
        """Yield each session that creates the devices without the settings of ``tf.config``."""
        if program.target.major < 2:
            return
        for session in program.of(SessionMade):
            if (
                session.name not in _PLAIN_SESSIONS
                or not session.own_config
                or not names.exists(session.name, program.target)
            ):
                continue
            state = session.state
            if state.allocator.under(session.guards).has is not Tri.NO or state.max_gpus == 0:
                continue
            for call in _discarded(session):
                yield self._finding(program, session, call)
                break

    def _finding(self, program: Program, session: SessionMade, call: Call) -> Finding:
        what, field = _WORDS[_kind(call)]
        sure = not session.state.entry_unknown and call.comes_with(session)
        return self.finding(
            program,
            session,
            f"This {short(session.name)} has a configuration of its own: {what} {in_line(call)} has no effect on it",
            severity=Severity.ERROR if sure else Severity.WARNING,
            intent=_intent(call),
            outcome=_OUTCOME[_kind(call)],
            advice=f"Set {field} in the ConfigProto, or leave the ConfigProto out, so that tf.config applies",
            fixable=False,
        )


_ALL = "Nothing is raised; the session makes the GPU devices with its own options, and takes nearly all of the memory"
_OUTCOME = {
    "growth": _ALL,
    "limit": _ALL,
    "visible": "The session sees every GPU; eager code after it raises AlreadyExistsError, because the two number"
    " the GPUs differently",
}
_WORDS = {
    "growth": ("memory growth", "gpu_options.allow_growth"),
    "limit": ("the memory limit", "gpu_options.per_process_gpu_memory_fraction"),
    "visible": ("the choice of visible devices", "gpu_options.visible_device_list"),
}


def _kind(call: Call) -> str:
    if call.name == SET_GROWTH:
        return "growth"
    return "visible" if call.name in SET_VISIBLE else "limit"


def _intent(call: Call) -> Intent:
    return {"growth": growth_intent, "limit": limit_intent, "visible": visible_intent}[_kind(call)](call)


def _discarded(session: SessionMade) -> Iterator[Call]:
    """Yield the calls of ``tf.config`` whose settings a session's own configuration does not repeat."""
    fields, state = session.fields or {}, session.state
    says = {name.rpartition(".")[2] for name in fields}
    if session.fields is None or "gpu_options" in fields:
        return
    grown = [setting for setting in state.growth.values() if setting.value == Const(True)]
    if "TF_FORCE_GPU_ALLOW_GROWTH" not in state.env and "allow_growth" not in says:
        yield from _made_by(grown)
    if not says & {"per_process_gpu_memory_fraction", "virtual_devices", "memory_limit_mb"}:
        yield from _made_by(state.limits.values())
    if "visible_device_list" not in says and "CUDA_VISIBLE_DEVICES" not in state.env and state.visible is not None:
        hides = state.visible_gpus
        if hides is not None and not state.one_gpu and "device_count" not in fields:
            yield from _made_by([state.visible])


def _made_by(settings: Iterable[Setting]) -> Iterator[Call]:
    for setting in settings:
        if setting.by is not None and not setting.either:
            yield setting.by
