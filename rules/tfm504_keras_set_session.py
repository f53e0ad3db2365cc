"""TFM504: Keras is given a TF1 session with GPU options."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from tfmemlint.interpreter.program import Call, SessionMade
from tfmemlint.interpreter.values import Made
from tfmemlint.knowledge import names
from tfmemlint.knowledge.functions import SET_SESSION, SET_SESSION_OF_KERAS
from tfmemlint.knowledge.memory_names import GPU_OPTIONS
from tfmemlint.model.finding import Finding, Severity
from tfmemlint.rulekit.explain import (
    attribute_error,
    attribute_severity,
    carriers,
    constants_of,
    grows_already,
    handler_notes,
    options_intent,
    plain_options,
)
from tfmemlint.rulekit.rule import Rule

if TYPE_CHECKING:
    from tfmemlint.fixes.editor import Editor
    from tfmemlint.interpreter.program import Program


class KerasSetSession(Rule):
    """Keras is given a TF1 session with GPU options.

    What it does
    ------------
    Finds ``set_session(Session(config=...))`` of Keras's backend if the targeted release no longer has that function,
    or if eager execution is on and Keras does not use the session.

    Why it matters
    --------------
    TensorFlow 2.0 removed ``tf.keras.backend.set_session``, 2.16 removed ``tf.compat.v1.keras.backend.set_session``,
    and Keras 3 has neither. In releases that still have it, eager Keras does not run in the session: its options take
    effect only as a side effect, and only if nothing has created the GPU devices before.

    Example
    -------
    ```python
    import tensorflow as tf

    config = tf.compat.v1.ConfigProto()
    config.gpu_options.allow_growth = True
    tf.compat.v1.keras.backend.set_session(tf.compat.v1.Session(config=config))
    ```

    Use instead
    -----------
    ```python
    import tensorflow as tf

    for gpu in tf.config.list_physical_devices("GPU"):
        tf.config.experimental.set_memory_growth(gpu, True)
    ```

    Seen as
    -------
    ``AttributeError: module 'tensorflow._api.v2.compat.v1.keras.backend' has no attribute 'set_session'``
    """

    code = "TFM504"
    name = "keras-set-session"
    of_another_release = True
    severity = Severity.ERROR
    triggers = ("set_session",)
    fixable = "sometimes"
    supersedes = ("TFM206", "TFM201", "TFM501", "TFM502")

    def check(self, program: Program) -> Iterator[Finding]:
        """Yield each session that is passed to a Keras that does not use sessions."""
        if program.target.major < 2:
            return
        sessions = {session.serial: session for session in program.of(SessionMade)}
        for event in program.events:
            if not isinstance(event, Call) or event.name not in (*SET_SESSION, *SET_SESSION_OF_KERAS) or event.probed:
                continue
            if event.name in SET_SESSION_OF_KERAS:
                gone = program.target.keras3
            else:
                gone = not names.exists(event.name, program.target)
            if not gone and event.state.graph_mode:
                continue
            given = event.value(0, "session")
            session = sessions.get(given.serial) if isinstance(given, Made) else None
            options = plain_options(session.fields) if session is not None else {}
            # ``Session()`` has no options, whatever other sessions of the file have.
            plain = session is not None and session.fields is not None and not session.fields
            until = names.until(event.name) if event.name in SET_SESSION else "Keras 2"
            where = f"{event.name} is gone: its last release was {until}"
            yield self.finding(
                program,
                event,
                where
                if gone
                else "Keras does not run in this session: its GPU options take effect only as a side effect",
                severity=attribute_severity(event) if gone else Severity.WARNING,
                intent=options_intent(options) if options else None,
                outcome=attribute_error(event.name)
                if gone
                else "The options take effect only as long as nothing makes the GPU devices before this line",
                advice="Configure the physical devices with tf.config, before the first operation",
                notes=handler_notes(event, "AttributeError") if gone else (),
                fixable=bool(options) or (session is not None and "device_count.GPU" in (session.fields or {})),
                details={
                    "options": options,
                    "grown": grows_already(event),
                    "values": constants_of(session.fields if session is not None else None),
                },
                anchors=carriers(session) if session is not None else {},
                on_request=not options and (plain or GPU_OPTIONS.search(program.source.text) is None),
            )

    def fix(self, finding: Finding, editor: Editor) -> None:
        """Set the same options with ``tf.config``."""
        from tfmemlint.fixes.rewrites import sessions

        sessions.replace_session(editor, finding)
