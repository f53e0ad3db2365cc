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

_PLAIN = frozenset(name for name in SESSIONS if "Monitored" not in name)
"""A monitored session asks the eager context for its devices before it makes its own."""


class SessionConfigDiscardsTfConfig(Rule):
    """A session with a configuration of its own discards what was set by ``tf.config``.

    What it does
    ------------
    Finds a TF1 session that is made with a ``ConfigProto``, before anything else has made the GPU devices, in a program
    that has set memory growth, a memory limit or the visible devices by ``tf.config``, where the ``ConfigProto`` does
    not say the same.

    Why it matters
    --------------
    A session without a configuration takes over the settings of ``tf.config``; one with a ``ConfigProto`` of its own,
    even an empty one, looks at nothing else. It makes the GPU devices of the process with the defaults: all GPUs, and
    nearly all of their memory. Nothing is raised, but where the two number the visible GPUs differently: then the start
    of the eager runtime raises ``AlreadyExistsError``.

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
    Only the allocator in TensorFlow's C++ part shows this; without a GPU nothing is to be seen.
    """

    code = "TFM404"
    name = "session-config-discards-tf-config"
    severity = Severity.ERROR
    about_earlier_settings = True
    triggers = (r"\bSession\(", "InteractiveSession", "ConfigProto")

    def check(self, program: Program) -> Iterator[Finding]:
        """Sessions that make the devices without a look at ``tf.config``."""
        if program.target.major < 2:
            return
        for session in program.of(SessionMade):
            if session.name not in _PLAIN or not session.own_config or not names.exists(session.name, program.target):
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
            f"This {short(session.name)} has a configuration of its own: {what} {in_line(call, session.path)}"
            " has no effect on it",
            severity=Severity.ERROR if sure else Severity.WARNING,
            intent=_intent(call),
            outcome=_OUTCOME[_kind(call)],
            advice=f"Set {field} in the ConfigProto, or leave the ConfigProto out, so that tf.config counts",
            fixable=False,
        )


_ALL = "Nothing is raised; the session makes the GPU devices with its own options, and takes nearly all of the memory"
_OUTCOME = {
    "growth": _ALL,
    "limit": _ALL,
    "visible": "The session sees every GPU; eager code after it raises AlreadyExistsError, for the two number the GPUs"
    " differently",
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
    """The settings of ``tf.config`` that a session's own configuration does not repeat."""
    fields, state = session.fields or {}, session.state
    says = {name.rpartition(".")[2] for name in fields}
    if session.fields is None or "gpu_options" in fields:
        return
    grown = [one for one in state.growth.values() if one.value == Const(True)]
    if "TF_FORCE_GPU_ALLOW_GROWTH" not in state.env and "allow_growth" not in says:
        yield from _made_by(grown)
    if not says & {"per_process_gpu_memory_fraction", "virtual_devices", "memory_limit_mb"}:
        yield from _made_by(state.limits.values())
    if "visible_device_list" not in says and "CUDA_VISIBLE_DEVICES" not in state.env and state.visible is not None:
        hides = state.visible_gpus
        if hides is not None and not state.one_gpu and "device_count" not in fields:
            yield from _made_by([state.visible])


def _made_by(settings: Iterable[Setting]) -> Iterator[Call]:
    for one in settings:
        if one.by is not None and not one.either:
            yield one.by
