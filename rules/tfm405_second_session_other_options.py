"""TFM405: A session has GPU options, but the GPU devices were made before it."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from tfmemlint.interpreter.program import Call, RuntimeStart, SessionMade
from tfmemlint.interpreter.state import Tri
from tfmemlint.interpreter.state.options import hides_gpus
from tfmemlint.interpreter.values import Amount, Const, Proto, Value
from tfmemlint.knowledge import effects, names
from tfmemlint.knowledge.functions import MAKES_VARIABLES, SESSIONS
from tfmemlint.knowledge.releases import Target
from tfmemlint.model.finding import Finding, Severity, Span
from tfmemlint.rulekit.earlier_branches import conditions_of, is_plain_path
from tfmemlint.rulekit.explain import carriers, in_line, options_intent, plain_options, short, start_trace, written
from tfmemlint.rulekit.options_given import CONFIG_OF, options_given
from tfmemlint.rulekit.rule import Rule
from tfmemlint.rulekit.start_trace import start_details

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
"""Since this release, an Estimator starts the eager runtime before it creates its session. Seen on 2.11 to 2.15, and
not on 1.15, 2.0, 2.1, 2.4, 2.9 and 2.10. On 2.12 and 2.15 the allocator's own log shows that growth and fraction are
lost then, and that the settings of ``tf.config`` are in force."""


class SecondSessionOtherOptions(Rule):
    """A session has GPU options, but the GPU devices were made before it.

    What it does
    ------------
    Finds TF1 sessions whose GPU options set memory growth or a fraction of the memory, and that are created after
    another session, the eager runtime, a ``tf.train.Server``, or a listing by ``device_lib`` has created the GPU
    devices with other options. Since TensorFlow 2.11, a ``MonitoredTrainingSession`` of a graph with variables, and
    an Estimator, are always too late: they start the eager runtime before they create their session.

    Where only a flag or another value leads to what comes before (``if args.warm_up:``), the finding is a warning that
    names it.

    Why it matters
    --------------
    The allocator of a GPU is created once per process, with the options of whatever creates it first. The options of
    later sessions are ignored, and nothing is raised. If the ``visible_device_list`` differs from that of the eager
    runtime, a monitored session or an Estimator raises ``AlreadyExistsError``. Seen in what TensorFlow 1.15.5 and 2.12
    to 2.21 ask a simulated driver for.

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
    Only the allocator in TensorFlow's C++ part shows this; without a GPU there is nothing to see.
    """

    code = "TFM405"
    name = "second-session-other-options"
    whole_program = True
    severity = Severity.ERROR
    triggers = (r"\bSession\(", "InteractiveSession", "ConfigProto", "GPUOptions", "gpu_options", "allow_growth")
    fixable = "sometimes"

    def check(self, program: Program) -> Iterator[Finding]:
        """Yield each session whose GPU options come too late."""
        yield from self._late_by_themselves(program)
        sessions = list(program.of(SessionMade))
        for session in sessions:
            unused = not session.graph_mode and not session.used
            if (
                unused
                or not names.exists(session.name.partition("(")[0], program.target)
                or session.state.max_gpus == 0
                or hides_gpus(session.fields)
            ):
                continue
            allocator = session.state.allocator.under(session.guards)
            first = allocator.by
            if first is None or not (allocator.has is Tri.YES or is_plain_path(allocator, session)):
                continue
            before = _options_of(program, first, sessions)
            wanted = plain_options(session.fields)
            lost = _lost(before, session.fields or {}, wanted) if before is not None else {}
            if lost:
                when = conditions_of(allocator) if allocator.has is Tri.MAYBE else ""
                yield self._finding(program, session, first, lost, plain=not before, when=when)

    def _late_by_themselves(self, program: Program) -> Iterator[Finding]:
        """Yield Estimators and monitored sessions, which start the eager runtime before their own session."""
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
            known = known and not hides_gpus(fields)
            lost, values = _lost_at_start(fields, event.state) if known else ({}, {})
            # A setting for one of them applies to the whole process.
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
        outcome = ["the memory options of tf.config apply: by default nearly all of it is taken"] if ignored else []
        outcome += ["with several GPUs it raises AlreadyExistsError"] if _VISIBLE in lost else []
        text = "; ".join(outcome)
        verb = "come" if len(lost) > 1 else "comes"
        return self.finding(
            program,
            event,
            f"{what} {verb} too late: {who} starts the eager runtime before its session",
            severity=Severity.ERROR
            if any(lost[option] for option in ignored) and not event.state.entry_unknown
            else Severity.WARNING,
            intent=options_intent(lost),
            outcome=text[0].upper() + text[1:],
            advice="Set the same with tf.config before it",
            details={"options": lost, "values": values},
            anchors=anchors,
        )

    def fix(self, finding: Finding, editor: Editor) -> None:
        """Hand the options to the server or the listing before; or set them with ``tf.config``, above the session."""
        from tfmemlint.fixes.rewrites import device_listing, helper_sessions, keras_session, session_arguments, sessions

        if "keyword" in finding.details:
            if finding.details["lists"] and not session_arguments.can_hand_to_first(editor, finding):
                device_listing.replace_local_devices(editor, finding.anchors["first"])
            else:
                session_arguments.hand_to_first(editor, finding)
            return
        if finding.details.get("moves"):
            keras_session.move_above_first(editor, finding)
            return
        values = finding.details["values"]
        unknown = "first" in finding.anchors and isinstance(values, dict) and None in values.values()
        if unknown and helper_sessions.hide_gpus(editor, finding):
            return
        sessions.add_tf_config(editor, finding)

    def _finding(
        self,
        program: Program,
        session: SessionMade,
        first: RuntimeStart,
        lost: dict[str, object],
        *,
        plain: bool,
        when: str,
    ) -> Finding:
        what = " and ".join(short(name) for name in lost)
        known = any(value is not None for value in lost.values())
        of_sessions = first.name in (*SESSIONS, *CONFIG_OF)
        # Keras makes a session of its own only if it has none.
        of_keras = (
            not of_sessions and "keras" in first.name and "set_session(" in program.source.segment(session.statement)
        )
        is_movable = of_keras and known and not _is_cleared_between(program, first, session)
        return self.finding(
            program,
            session,
            f"{what} {'come' if len(lost) > 1 else 'comes'} too late where {when}: "
            f"{written(first.text)} {in_line(first)} has made the GPU devices then"
            if when
            else f"{what} {'come' if len(lost) > 1 else 'comes'} too late: "
            f"{written(first.text)} {in_line(first)} has made the GPU devices",
            severity=Severity.ERROR if known and not session.state.entry_unknown and not when else Severity.WARNING,
            intent=options_intent(lost),
            outcome="Nothing is raised; the options of the first allocator of the process stay in force",
            advice=_advice(first),
            trace=start_trace(first, session, f"{written(short(session.name))} comes after the devices are made"),
            fixable=plain and first.path == session.path and (of_sessions or is_movable),
            details={"options": lost, "values": lost, "ways": start_details(first, session), "moves": of_keras}
            | _place_of(first),
            anchors={"first": first.span, "start": first.span},
        )


def _is_cleared_between(program: Program, first: RuntimeStart, session: SessionMade) -> bool:
    """True if Keras drops its session between the two: a session that is set above would be dropped with it."""
    behind = itertools.dropwhile(lambda event: event is not first, program.events)
    between = itertools.takewhile(lambda event: event is not session, behind)
    names_called = [event.name for event in between if isinstance(event, Call)]
    return any(short(name) == "clear_session" or name.endswith("get_session().close") for name in names_called)


def _place_of(first: RuntimeStart) -> dict[str, object]:
    """Return where a server, or a listing, takes the options."""
    if first.name not in CONFIG_OF:
        return {}
    position, keyword = CONFIG_OF[first.name]
    return {"position": position, "keyword": keyword, "lists": short(first.name) == "list_local_devices"}


def _advice(first: RuntimeStart) -> str:
    if first.name in CONFIG_OF:
        return f"Hand the same options to {short(first.name)}: {CONFIG_OF[first.name][1]}=..."
    return "Give the same options to the first session, or set the memory with tf.config before it"


def _options_of(program: Program, first: RuntimeStart, sessions: list[SessionMade]) -> Mapping[str, Value] | None:
    """Return the options with which the GPU devices were created, or None if they are unknown."""
    if "TF_FORCE_GPU_ALLOW_GROWTH" in first.state.env:
        return None
    made = next((session for session in sessions if (session.path, session.span) == (first.path, first.span)), None)
    if made is not None and made.own_config:
        return made.fields
    if made is not None and made.fields is None:
        return None
    if made is None and first.what != "context":
        return options_given(program, first)
    # The settings of `tf.config`.
    if first.state.limits or first.state.entry_unknown:
        return None
    return {_GROWTH: Const(True)} if first.state.growth else {}


def _lost_at_start(fields: Mapping[str, Value], state: State) -> tuple[dict[str, object], dict[str, object]]:
    """Return the options that the eager runtime would lack, with their constants, and all settings to pass to it."""
    if (
        state.allocator.has is not Tri.NO
        or state.max_gpus == 0
        or state.limits
        or "TF_FORCE_GPU_ALLOW_GROWTH" in state.env
    ):
        return {}, {}
    wanted = plain_options(fields)
    values = {name: wanted[name] for name in (_GROWTH, _SHARE) if name in wanted and not state.growth}
    # An unknown fraction is hardly the default.
    lost = {name: value for name, value in values.items() if value or (value is None and name == _SHARE)}
    # Both number the GPUs that the environment shows; the first GPU has number 0 for both.
    shown = state.visible is not None or "CUDA_VISIBLE_DEVICES" in state.env or state.one_gpu
    if _VISIBLE in wanted and not shown:
        values[_VISIBLE] = wanted[_VISIBLE]
        lost |= {_VISIBLE: wanted[_VISIBLE]} if wanted[_VISIBLE] not in ("", "0") else {}
    return lost, values


def _lost(before: Mapping[str, Value], fields: Mapping[str, Value], wanted: dict[str, object]) -> dict[str, object]:
    """Return the options that certainly differ from those in force."""
    lost: dict[str, object] = {}
    for name in (_GROWTH, _SHARE):
        value, in_force = fields.get(name), before.get(name)
        if name not in wanted or not (in_force is None or isinstance(in_force, Const)):
            continue
        if not isinstance(value, Const):
            # Whatever it is, it has no effect.
            default = value.default if isinstance(value, Amount) else None
            if in_force is None and default not in (0, False):
                lost[name] = None
        elif value != in_force and value.value not in (0, False):
            lost[name] = value.value
    return lost
