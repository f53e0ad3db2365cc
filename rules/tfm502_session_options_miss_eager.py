"""TFM502: GPU options are set on a session that the program does not use."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from tfmemlint.interpreter.program import Call, SessionMade
from tfmemlint.interpreter.state import Tri
from tfmemlint.interpreter.values import Const
from tfmemlint.knowledge import names
from tfmemlint.knowledge.functions import SET_GROWTH
from tfmemlint.model.finding import Finding, Severity
from tfmemlint.rulekit.explain import (
    carriers,
    constants_of,
    grows_already,
    grows_in_part,
    line,
    options_intent,
    plain_options,
    short,
    start_trace,
    written,
)
from tfmemlint.rulekit.rule import Rule

if TYPE_CHECKING:
    from tfmemlint.fixes.editor import Editor
    from tfmemlint.interpreter.program import Program


class SessionOptionsMissEager(Rule):
    """GPU options are set on a session that the program does not use.

    What it does
    ------------
    Finds TF1 sessions that eager code creates with GPU options and never uses, such as
    ``InteractiveSession(config=config)`` at the top of a Keras script.

    Why it matters
    --------------
    Eager code and Keras never use such a session. The options take effect only as a side effect: the session
    creates the GPU devices of the process, and whatever creates them first sets their options. Once the runtime has
    started, the options have no effect, and nothing is raised.

    Example
    -------
    ```python
    import tensorflow as tf

    config = tf.compat.v1.ConfigProto()
    config.gpu_options.allow_growth = True
    session = tf.compat.v1.InteractiveSession(config=config)
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

    Ground
    ------
    Whether the side effect takes place is decided by the allocator in TensorFlow's C++ part.
    """

    code = "TFM502"
    name = "session-options-miss-eager"
    whole_program = True
    severity = Severity.WARNING
    triggers = (r"\bSession\(", "InteractiveSession")
    fixable = "sometimes"

    def check(self, program: Program) -> Iterator[Finding]:
        """Yield each unused session with GPU options in eager mode."""
        for session in program.of(SessionMade):
            options = plain_options(session.fields)
            if session.graph_mode or session.used or not options or not names.exists(session.name, program.target):
                continue
            context = session.state.context.under(session.guards)
            late = context.has is Tri.YES and context.by is not None
            where = line(context.by) if context.by is not None else ""
            below = _growth_below(program, session)
            yield self.finding(
                program,
                session,
                f"Eager code never uses this {short(session.name)}"
                + (
                    f", and {where} has started the runtime"
                    if late
                    else ": its GPU options take effect only as a side effect"
                ),
                severity=Severity.ERROR if late and not session.state.entry_unknown else Severity.WARNING,
                intent=options_intent(options),
                outcome="Nothing is raised; the options are lost"
                if late
                else "The options take effect only as long as nothing makes the GPU devices before this line",
                advice="Configure the physical devices with tf.config, before the first operation",
                trace=start_trace(
                    context.by, session, f"{written(short(session.name))} comes after the devices are made"
                )
                if late
                else (),
                details={
                    "options": options,
                    "grown": grows_already(session) or (below is not None and below.devices_loop is not None),
                    "grown_in_part": grows_in_part(session),
                    "grown_in_part_below": below is not None and below.devices_loop is None,
                    "values": constants_of(session.fields),
                },
                anchors=carriers(session),
            )

    def fix(self, finding: Finding, editor: Editor) -> None:
        """Set the same options with ``tf.config``; where it has set growth for one GPU, that is corrected first."""
        if finding.details["grown_in_part"]:
            raise editor.Withheld("growth is set for some GPUs above: set it for every GPU there first")
        if finding.details["grown_in_part_below"]:
            raise editor.Withheld("growth is set for some GPUs below: set it for every GPU there first")
        from tfmemlint.fixes.rewrites import sessions

        sessions.replace_session(editor, finding)


def _growth_below(program: Program, session: SessionMade) -> Call | None:
    """Return the call that sets growth after a session, in the same function; None if there is none.

    A second loop is not what anybody wants.
    """
    events = iter(program.events)
    # What comes after it.
    next(event for event in events if event is session)
    for event in events:
        if not isinstance(event, Call) or event.name != SET_GROWTH or event.value(1, "enable") != Const(True):
            continue
        if event.path == session.path and event.frames == session.frames:
            return event
    return None
