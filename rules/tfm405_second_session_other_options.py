"""TFM405: GPU options come with a session that is not the first to make the GPU devices."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from tfmemlint.explain import in_line, options_intent, plain_options, short, start_trace, written
from tfmemlint.finding import Finding, Severity
from tfmemlint.flow.program import SessionMade, Start
from tfmemlint.flow.state import Tri
from tfmemlint.flow.values import Const, Value
from tfmemlint.knowledge import names
from tfmemlint.rule import Rule

if TYPE_CHECKING:
    from tfmemlint.flow.program import Program

_GROWTH = "gpu_options.allow_growth"
_SHARE = "gpu_options.per_process_gpu_memory_fraction"


class SecondSessionOtherOptions(Rule):
    """GPU options come with a session that is not the first to make the GPU devices.

    What it does
    ------------
    Finds TF1 sessions with memory growth, or a share of the memory, in their GPU options, made after another session,
    the eager runtime, or a listing by ``device_lib`` has made the GPU devices with other options.

    Why it matters
    --------------
    The allocator of a GPU is made once in a process, with the options of whoever comes first. The options of later
    sessions are ignored, and nothing is raised.

    Example
    -------
    ```python
    import tensorflow as tf

    with tf.compat.v1.Session(graph=tf.Graph()) as session:
        print(session.list_devices())

    config = tf.compat.v1.ConfigProto()
    config.gpu_options.allow_growth = True
    with tf.compat.v1.Session(graph=tf.Graph(), config=config) as session:
        print(session.list_devices())
    ```

    Use instead
    -----------
    ```python
    import tensorflow as tf

    config = tf.compat.v1.ConfigProto()
    config.gpu_options.allow_growth = True
    with tf.compat.v1.Session(graph=tf.Graph(), config=config) as session:
        print(session.list_devices())

    with tf.compat.v1.Session(graph=tf.Graph(), config=config) as session:
        print(session.list_devices())
    ```

    Ground
    ------
    Only the allocator in TensorFlow's C++ part shows this; without a GPU nothing is to be seen.
    """

    code = "TFM405"
    name = "second-session-other-options"
    severity = Severity.ERROR

    def check(self, program: Program) -> Iterator[Finding]:
        """Sessions whose GPU options come too late."""
        if program.target.major < 2:
            return
        sessions = list(program.of(SessionMade))
        for session in sessions:
            unused = not session.graph_mode and not session.used
            if unused or not names.exists(session.name, program.target) or session.state.most == 0:
                continue
            allocator = session.state.allocator.under(session.guards)
            first = allocator.by
            if allocator.has is not Tri.YES or first is None:
                continue
            before = _options_of(first, sessions)
            wanted = plain_options(session.fields)
            lost = _lost(before, session.fields or {}, wanted) if before is not None else {}
            if lost:
                yield self._finding(program, session, first, lost)

    def _finding(self, program: Program, session: SessionMade, first: Start, lost: dict[str, object]) -> Finding:
        what = " and ".join(short(name) for name in lost)
        return self.finding(
            program,
            session,
            f"{what} comes too late: {written(first.text)} {in_line(first, session.path)} has made the GPU devices",
            severity=Severity.ERROR if not session.state.open else Severity.WARNING,
            intent=options_intent(lost),
            outcome="Nothing is raised; the options of the first allocator of the process stay in force",
            advice="Give the same options to the first session, or set the memory by tf.config before it",
            trace=start_trace(first, session, f"{written(short(session.name))} comes after the devices are made"),
            fixable=False,
        )


def _options_of(first: Start, sessions: list[SessionMade]) -> Mapping[str, Value] | None:
    """The options with which the GPU devices were made; None where they aren't known."""
    if "TF_FORCE_GPU_ALLOW_GROWTH" in first.state.env:
        return None
    made = next((one for one in sessions if (one.path, one.span) == (first.path, first.span)), None)
    if made is not None and made.own_config:
        return made.fields
    if made is not None and made.fields is None:
        return None
    if made is None and first.what != "context":
        return {}
    # What `tf.config` has set.
    if first.state.limits or first.state.open:
        return None
    return {_GROWTH: Const(True)} if first.state.growth else {}


def _lost(before: Mapping[str, Value], fields: Mapping[str, Value], wanted: dict[str, object]) -> dict[str, object]:
    """The options that differ for sure from those in force."""
    lost: dict[str, object] = {}
    for name in (_GROWTH, _SHARE):
        value, other = fields.get(name), before.get(name)
        known = isinstance(value, Const) and (other is None or isinstance(other, Const))
        if name in wanted and known and value != other and isinstance(value, Const) and value.value not in (0, False):
            lost[name] = value.value
    return lost
