"""TFM503: GPU options are set on a message, or a limit on a configuration, that TensorFlow never gets."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from tfmemlint.facts.names import is_tensorflow
from tfmemlint.interpreter.program import Event, OptionsEmptied, ProtoMade, SessionMade
from tfmemlint.interpreter.state import Tri
from tfmemlint.interpreter.state.options import RunConfigDropped, hides_gpus
from tfmemlint.knowledge import names
from tfmemlint.knowledge.functions import LOGICAL_CONFIGURATION, PROTOS
from tfmemlint.model.finding import ONLY_IF_ALL_USERS, Finding, Severity, Span, Step
from tfmemlint.model.intent import Intent, Purpose
from tfmemlint.rulekit import run_configs
from tfmemlint.rulekit.emptied_options import lost_options
from tfmemlint.rulekit.explain import (
    constants_of,
    dropped_limit_intent,
    in_line,
    is_dropped_limit,
    options_intent,
    plain_options,
    short,
)
from tfmemlint.rulekit.exports import is_for_others, is_left_by_importers
from tfmemlint.rulekit.kept_options import TAKE_CONFIG, session_of_its_keeper, session_of_its_object
from tfmemlint.rulekit.rule import Rule
from tfmemlint.rulekit.session_takers import takers_beside

if TYPE_CHECKING:
    from tfmemlint.fixes.editor import Editor
    from tfmemlint.interpreter.program import Program


class ConfigNeverUsed(Rule):
    """GPU options are set on a message, or a limit on a configuration, that TensorFlow never gets.

    What it does
    ------------
    Finds ``ConfigProto`` and ``GPUOptions`` objects with GPU options that are never passed to anything: no session,
    no estimator, no function, no return value; so are those whose ``device_count`` is to hide the GPUs. Finds a
    ``LogicalDeviceConfiguration`` as a statement of its own, or under a name that nothing reads, too: it only
    describes a device, and no ``set_logical_device_configuration`` gets it. Finds GPU options that ``CopyFrom``, which
    replaces all fields of a message, or ``Clear`` loses again before a session gets them. Finds the GPU options of a
    ``RunConfig`` that no estimator gets, such as the copy that ``replace`` returns.

    Why it matters
    --------------
    The options have no effect; the process takes nearly all of the GPU's memory.

    Example
    -------
    ```python
    import tensorflow as tf

    config = tf.compat.v1.ConfigProto()
    config.gpu_options.allow_growth = True
    model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
    ```

    Use instead
    -----------
    ```python
    import tensorflow as tf

    for gpu in tf.config.list_physical_devices("GPU"):
        tf.config.experimental.set_memory_growth(gpu, True)
    model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
    ```
    """

    code = "TFM503"
    name = "config-never-used"
    whole_program = True
    severity = Severity.WARNING
    triggers = ("ConfigProto", "GPUOptions", "(?:Logical|Virtual)Device")
    fixable = "sometimes"

    def check(self, program: Program) -> Iterator[Finding]:
        """Yield each message with GPU options, and each limit, that nothing uses."""
        yield from self._dropped_limits(program)
        yield from self._emptied(program)
        yield from self._run_configs(program)
        # A module that does nothing else defines settings for other modules.
        settings = all(call.name in PROTOS for call in program.calls() if is_tensorflow(call.name))
        # The same line may make one message for a session, and another one that nothing gets.
        used = {(proto.path, proto.span) for proto in program.of(ProtoMade) if proto.consumed}
        for proto in program.of(ProtoMade):
            before = "gpu_options." if short(proto.name) == "GPUOptions" else ""
            fields = {f"{before}{name}": value for name, value in proto.fields.items()}
            options = plain_options(fields)
            hides = hides_gpus(proto.fields)
            if not (options or hides) or (proto.path, proto.span) in used:
                continue
            if (settings and not proto.function) or is_for_others(program, proto):
                continue
            left = is_left_by_importers(program, proto)
            if left is False:
                continue
            if not options:
                yield self._hidden_for_nothing(program, proto)
                continue
            found = session_of_its_object(program, proto)
            session, kept = found or (_session_without(program, proto), "")
            if session is None:
                session, kept = session_of_its_keeper(program, proto) or (None, "")
            if session is not None and session.path != proto.path:
                if short(proto.name) == "ConfigProto":
                    yield self._at_session(program, proto, options, session, kept)
                    continue
                session, kept = None, ""
            beside = None if session is not None else takers_beside(program, proto)
            yield self.finding(
                program,
                proto,
                f"No session ever gets this {short(proto.name)}: its GPU options have no effect",
                intent=options_intent(options),
                outcome="Nothing is raised; the settings of tf.config hold"
                if proto.state.growth or proto.state.limits
                else "Nothing is raised; the process takes nearly all of the GPU's memory",
                advice="Configure the physical devices with tf.config, or hand the options to the session",
                fixable=names.exists(proto.name, program.target)
                and (session is not None or beside is not None or program.target.major >= 2),
                details={"options": options, "values": constants_of(fields), "kind": short(proto.name), "kept": kept}
                | ({} if left is None else {ONLY_IF_ALL_USERS: True})
                | ({} if beside is None else {"keyword": beside[1], "beside": beside[2]}),
                anchors={f"field:{before}{name}": span for name, span in proto.field_spans.items()}
                | ({"session": session.span} if session is not None else {})
                | {f"taker:{number}": call.span for number, call in enumerate(beside[0] if beside else ())},
            )

    def _emptied(self, program: Program) -> Iterator[Finding]:
        places: set[tuple[str, Span]] = set()
        for emptied in program.of(OptionsEmptied):
            options = lost_options(program, emptied)
            if not options or (emptied.path, emptied.span) in places:
                continue
            places.add((emptied.path, emptied.span))
            names_of_them = " and ".join(name.removeprefix("gpu_options.") for name in options)
            setter = emptied.setters[next(iter(options)).removeprefix(emptied.before)]
            yield self.finding(
                program,
                emptied,
                f"{emptied.method} empties {emptied.text} first: no session gets {names_of_them}",
                intent=options_intent(options),
                outcome="Nothing is raised; the options that were set before are lost",
                advice="Call MergeFrom, which keeps what is set, or set single fields"
                if emptied.replaced
                else f"Call {emptied.method} before the options are set",
                trace=(
                    *setter["frames"],
                    Step(setter["path"], setter["span"], f"sets {names_of_them}"),
                    *emptied.frames,
                    Step(emptied.path, emptied.span, f"calls {emptied.method}, which keeps nothing of that"),
                ),
                fixable=emptied.replaced and emptied.merges,
                details={"merge": True},
            )

    def _run_configs(self, program: Program) -> Iterator[Finding]:
        for dropped in program.of(RunConfigDropped):
            options = plain_options(dropped.fields)
            if not options:
                continue
            details: dict[str, object] = {"how": "keep", "run_config": ""}
            anchors: dict[str, Span] = {}
            event: Event = dropped
            message = "Nothing gets the RunConfig that replace returns: its GPU options have no effect"
            advice = "Keep the result: run_config = run_config.replace(...)"
            if not dropped.dropped:
                other = dropped.method == "replace"
                call = (run_configs.estimator_with_another if other else run_configs.estimator_without)(
                    program, dropped
                )
                if call is None:
                    continue
                name = run_configs.name_at(program, dropped, call)
                fits = bool(name) and (other or run_configs.goes_with(dropped, call, name))
                details = {"how": "other" if other else "add", "run_config": name if fits else ""}
                anchors = {"config": run_configs.config_span(call)}
                advice = f"Hand it the RunConfig: config={name or 'run_config'}"
                event = dropped if other else call
                if not other:
                    message = (
                        f"{short(call.name)} gets no config: the GPU options of the RunConfig {in_line(dropped)} "
                        "have no effect"
                    )
            yield self.finding(
                program,
                event,
                message,
                intent=options_intent(options),
                outcome="Nothing is raised; the process takes nearly all of the GPU's memory",
                advice=advice,
                trace=(
                    *dropped.frames,
                    Step(dropped.path, dropped.given, "gives a RunConfig the GPU options"),
                    *event.frames,
                    Step(event.path, event.span, "leaves that RunConfig out"),
                ),
                fixable=details["how"] == "keep" or bool(details["run_config"]),
                anchors=anchors,
                details=details,
            )

    def _at_session(
        self, program: Program, proto: ProtoMade, options: dict[str, object], session: SessionMade, kept: str
    ) -> Finding:
        return self.finding(
            program,
            session,
            f"{short(session.name)} gets no config: the GPU options in {kept} ({in_line(proto)}) have no effect",
            intent=options_intent(options),
            outcome="Nothing is raised; the process takes nearly all of the GPU's memory",
            advice=f"Hand them to it: config={kept}",
            trace=(
                *proto.frames,
                Step(proto.path, proto.span, "makes the options"),
                *session.frames,
                Step(session.path, session.span, "makes a session without them"),
            ),
            details={"kind": short(proto.name), "kept": kept, "at_session": True},
            anchors={"session": session.span},
        )

    def _hidden_for_nothing(self, program: Program, proto: ProtoMade) -> Finding:
        return self.finding(
            program,
            proto,
            f"No session ever gets this {short(proto.name)}: its device_count hides no GPU",
            intent=Intent(Purpose.VISIBLE, text="no GPU"),
            outcome="Nothing is raised; the process takes nearly all of the GPU's memory",
            advice="Hand it to the session, or hide the GPUs with tf.config.set_visible_devices([], 'GPU')",
            fixable=names.exists(proto.name, program.target) and program.target.major >= 2,
            details={"options": {}, "values": constants_of(proto.fields)},
            anchors={f"field:{name}": span for name, span in proto.field_spans.items()},
        )

    def _dropped_limits(self, program: Program) -> Iterator[Finding]:
        for call in program.calls(*LOGICAL_CONFIGURATION):
            given = call.arg(0, "memory_limit")
            if given is None or not is_dropped_limit(call, program.events):
                continue
            yield self.finding(
                program,
                call,
                f"Nothing gets this {short(call.name)}: its limit has no effect",
                intent=dropped_limit_intent(call),
                outcome="Nothing is raised; the process takes nearly all of the GPU's memory",
                advice="Hand it to tf.config.set_logical_device_configuration for each GPU, before the first operation",
                fixable=call.state.context.has is Tri.NO and call.certain and call.devices_loop is None,
                details={"mib": given.text},
            )

    def fix(self, finding: Finding, editor: Editor) -> None:
        """Hand the options to the session beside them; where there is none, set the same with ``tf.config``."""
        if "merge" in finding.details:
            from tfmemlint.fixes.rewrites import option_types

            option_types.merge_instead(editor, finding)
            return
        if "run_config" in finding.details:
            from tfmemlint.fixes.rewrites import run_configs as rewrite

            rewrite.hand_over(editor, finding)
            return
        if "mib" in finding.details:
            from tfmemlint.fixes.rewrites import logical_devices

            logical_devices.limit_every_gpu(editor, finding)
            return
        from tfmemlint.fixes.rewrites import session_arguments, sessions

        if "beside" in finding.details:
            session_arguments.hand_beside(editor, finding)
            return
        handed = "session" in finding.anchors and session_arguments.hand_over(editor, finding)
        if not handed and "at_session" in finding.details:
            raise editor.Withheld("the session takes its arguments from elsewhere")
        if not handed:
            sessions.replace_proto(editor, finding)


def _session_without(program: Program, proto: ProtoMade) -> SessionMade | None:
    """Return the session without options that the function of a message makes below it, if it makes one."""
    last = max(span.row for span in (proto.span, *proto.field_spans.values()))
    found = {
        session.span: session
        for session in program.of(SessionMade)
        if (session.path, session.function) == (proto.path, proto.function)
    }
    only = next(iter(found.values())) if len(found) == 1 else None
    fits = only is not None and short(only.name) in TAKE_CONFIG and not only.own_config and only.span.row > last
    return only if fits else None
