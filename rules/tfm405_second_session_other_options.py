"""TFM405: A session has GPU options, but the GPU devices were made before it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from tfmemlint.interpreter.program import Call, RuntimeStart, SessionMade
from tfmemlint.interpreter.state import Tri
from tfmemlint.interpreter.values import Const, Proto, Value
from tfmemlint.knowledge import effects, names
from tfmemlint.knowledge.functions import MAKES_VARIABLES
from tfmemlint.knowledge.releases import Target
from tfmemlint.model.finding import Finding, Severity, Span
from tfmemlint.rulekit.explain import carriers, in_line, options_intent, plain_options, short, start_trace, written
from tfmemlint.rulekit.rule import Rule

if TYPE_CHECKING:
    from tfmemlint.fixes.editor import Editor
    from tfmemlint.interpreter.program import Program
    from tfmemlint.interpreter.state import State

_GROWTH = "gpu_options.allow_growth"
_SHARE = "gpu_options.per_process_gpu_memory_fraction"
_VISIBLE = "gpu_options.visible_device_list"
_ESTIMATORS = frozenset(
    f"{place}.RunConfig{method}"
    for place in ("tf.estimator", "tf.compat.v1.estimator")
    for method in ("", "().replace")
)
_STARTS_SINCE = Target(2, 11)
"""From here on an Estimator starts the eager runtime before it makes its session: seen on 2.11 to 2.15, not so on 1.15,
2.0, 2.1, 2.4, 2.9 and 2.10. On 2.12 and 2.15 the allocator's own log shows that growth and share are lost then, and
that those of ``tf.config`` are in force."""


class SecondSessionOtherOptions(Rule):
    """A session has GPU options, but the GPU devices were made before it.

    What it does
    ------------
    Finds TF1 sessions with memory growth, or a share of the memory, in their GPU options, made after another session,
    the eager runtime, or a listing by ``device_lib`` has made the GPU devices with other options. From TensorFlow 2.11
    on, a ``MonitoredTrainingSession`` of a graph with variables, and an Estimator, are late by themselves: they start
    the eager runtime before they make their session.

    Why it matters
    --------------
    The allocator of a GPU is made once in a process, with the options of whoever comes first. The options of later
    sessions are ignored, and nothing is raised. With another ``visible_device_list`` than the eager runtime has, a
    monitored session or an Estimator raises ``AlreadyExistsError``.

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
    triggers = (r"\bSession\(", "InteractiveSession", "ConfigProto", "GPUOptions", "gpu_options", "allow_growth")
    fixable = "sometimes"

    def check(self, program: Program) -> Iterator[Finding]:
        """Sessions whose GPU options come too late."""
        if program.target.major < 2:
            return
        yield from self._late_by_themselves(program)
        sessions = list(program.of(SessionMade))
        for session in sessions:
            unused = not session.graph_mode and not session.used
            if unused or not names.exists(session.name, program.target) or session.state.max_gpus == 0:
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

    def _late_by_themselves(self, program: Program) -> Iterator[Finding]:
        """Estimators and monitored sessions, which start the eager runtime before their own session."""
        if program.target < _STARTS_SINCE:
            return
        trains = any(call.name.endswith(MAKES_VARIABLES) for call in program.calls())
        said: set[str] = set()
        for event in program.events:
            if isinstance(event, Call) and event.name in _ESTIMATORS and not event.probed:
                config = event.arg(5, "session_config")
                if config is None or not isinstance(config.value, Proto):
                    continue
                fields: Mapping[str, Value] = config.value.record.fields
                spans = {name: span for name, span in config.value.record.spans.items() if span is not None}
                anchors, who = {f"field:{name}": span for name, span in spans.items()}, "the Estimator"
                known = names.exists(event.name.partition("(")[0], program.target)
            elif isinstance(event, SessionMade) and event.own_config and trains:
                fields, anchors, who = event.fields or {}, carriers(event), short(event.name)
                known = names.exists(event.name, program.target)
                known = known and effects.effect(event.name, program.target, graph=True) is effects.Effect.STARTS
            else:
                continue
            lost, values = _lost_at_start(fields, event.state) if known else ({}, {})
            # What is set for one of them is set for the process.
            if lost.keys() - said:
                said |= lost.keys()
                yield self._by_itself(program, event, who, lost, values, anchors)

    def _by_itself(
        self,
        program: Program,
        event: Call | SessionMade,
        who: str,
        lost: dict[str, object],
        values: dict[str, object],
        anchors: Mapping[str, Span],
    ) -> Finding:
        what = " and ".join(short(name) for name in lost)
        ignored = lost.keys() - {_VISIBLE}
        outcome = ["the memory options are those of tf.config, by default nearly all of it is taken"] if ignored else []
        outcome += ["with several GPUs it raises AlreadyExistsError"] if _VISIBLE in lost else []
        text = "; ".join(outcome)
        verb = "come" if len(lost) > 1 else "comes"
        return self.finding(
            program,
            event,
            f"{what} {verb} too late: {who} starts the eager runtime before its session",
            severity=Severity.ERROR
            if any(lost[one] for one in ignored) and not event.state.entry_unknown
            else Severity.WARNING,
            intent=options_intent(lost),
            outcome=text[0].upper() + text[1:],
            advice="Set the same by tf.config before it",
            details={"options": lost, "values": values},
            anchors=anchors,
        )

    def fix(self, finding: Finding, editor: Editor) -> None:
        """Set the same by ``tf.config`` as well, above."""
        from tfmemlint.fixes.rewrites import sessions

        sessions.add_tf_config(editor, finding)

    def _finding(self, program: Program, session: SessionMade, first: RuntimeStart, lost: dict[str, object]) -> Finding:
        what = " and ".join(short(name) for name in lost)
        return self.finding(
            program,
            session,
            f"{what} comes too late: {written(first.text)} {in_line(first, session.path)} has made the GPU devices",
            severity=Severity.ERROR if not session.state.entry_unknown else Severity.WARNING,
            intent=options_intent(lost),
            outcome="Nothing is raised; the options of the first allocator of the process stay in force",
            advice="Give the same options to the first session, or set the memory by tf.config before it",
            trace=start_trace(first, session, f"{written(short(session.name))} comes after the devices are made"),
            fixable=False,
        )


def _options_of(first: RuntimeStart, sessions: list[SessionMade]) -> Mapping[str, Value] | None:
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
    if first.state.limits or first.state.entry_unknown:
        return None
    return {_GROWTH: Const(True)} if first.state.growth else {}


def _lost_at_start(fields: Mapping[str, Value], state: State) -> tuple[dict[str, object], dict[str, object]]:
    """The options that the eager runtime would not have, with their constants; and all that it is to be told."""
    if (
        state.allocator.has is not Tri.NO
        or state.max_gpus == 0
        or state.limits
        or "TF_FORCE_GPU_ALLOW_GROWTH" in state.env
    ):
        return {}, {}
    wanted = plain_options(fields)
    values = {name: wanted[name] for name in (_GROWTH, _SHARE) if name in wanted and not state.growth}
    # A share that isn't known is hardly none.
    lost = {name: value for name, value in values.items() if value or (value is None and name == _SHARE)}
    # What the environment shows is what both number; the first GPU has number 0 for both.
    shown = state.visible is not None or "CUDA_VISIBLE_DEVICES" in state.env or state.one_gpu
    if _VISIBLE in wanted and not shown:
        values[_VISIBLE] = wanted[_VISIBLE]
        lost |= {_VISIBLE: wanted[_VISIBLE]} if wanted[_VISIBLE] not in ("", "0") else {}
    return lost, values


def _lost(before: Mapping[str, Value], fields: Mapping[str, Value], wanted: dict[str, object]) -> dict[str, object]:
    """The options that differ for sure from those in force."""
    lost: dict[str, object] = {}
    for name in (_GROWTH, _SHARE):
        value, other = fields.get(name), before.get(name)
        known = isinstance(value, Const) and (other is None or isinstance(other, Const))
        if name in wanted and known and value != other and isinstance(value, Const) and value.value not in (0, False):
            lost[name] = value.value
    return lost
