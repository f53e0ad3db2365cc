"""TFM311: A session gets its options as its target."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from tfmemlint.interpreter.values import Proto
from tfmemlint.knowledge.functions import SESSIONS, TARGETED
from tfmemlint.model.finding import Finding, Severity
from tfmemlint.model.intent import Intent
from tfmemlint.rulekit.explain import attribute_severity, handler_notes, options_intent, plain_options, short
from tfmemlint.rulekit.rule import Rule

if TYPE_CHECKING:
    from tfmemlint.fixes.editor import Editor
    from tfmemlint.interpreter.program import Program

_PLACES = (("target", "must be a string"), ("graph", "must be a tf.Graph"))


class SessionConfigPositional(Rule):
    """A session gets its options as its target.

    What it does
    ------------
    Finds ``Session(config)`` and ``InteractiveSession(config)`` calls that pass a ``ConfigProto`` or ``GPUOptions`` as
    the first or second positional argument.

    Why it matters
    --------------
    The parameters are ``target``, ``graph`` and ``config``, in that order. The options become the target, and the
    session is never created.

    Example
    -------
    ```python
    import tensorflow as tf

    config = tf.compat.v1.ConfigProto()
    config.gpu_options.allow_growth = True
    session = tf.compat.v1.Session(config)
    ```

    Use instead
    -----------
    ```python
    import tensorflow as tf

    config = tf.compat.v1.ConfigProto()
    config.gpu_options.allow_growth = True
    session = tf.compat.v1.Session(config=config)
    ```

    Seen as
    -------
    ``TypeError: Argument `target` must be a string, but got "ConfigProto". Did you do "Session(config)" instead of
    "Session(config=config)"?``
    """

    code = "TFM311"
    name = "session-config-positional"
    severity = Severity.ERROR
    triggers = (r"\bSession\(", "InteractiveSession")
    fixable = "sometimes"

    def check(self, program: Program) -> Iterator[Finding]:
        """Yield each session with options in one of the first two positions."""
        for call in program.calls(*SESSIONS):
            if short(call.name) not in TARGETED:
                continue
            for position, (parameter, wanted) in enumerate(_PLACES):
                given = call.arg(position, parameter)
                if given is None or not isinstance(given.value, Proto):
                    continue
                proto = given.value
                whole = short(proto.name) == "ConfigProto"
                yield self.finding(
                    program,
                    call,
                    f"{short(call.name)} takes this {short(proto.name)} as its {parameter}",
                    span=given.span,
                    severity=attribute_severity(call, "TypeError"),
                    intent=_intent(proto),
                    outcome=f"TensorFlow raises TypeError: {parameter} {wanted}",
                    advice="Pass it by name: config=..." if whole else "Pass it as config=ConfigProto(gpu_options=...)",
                    notes=handler_notes(call, "TypeError", "there is no session"),
                    fixable=whole and given.keyword is None,
                    anchors={"call": call.span},
                    details={"caught": call.handler_for("TypeError") is not None},
                )
                break

    def fix(self, finding: Finding, editor: Editor) -> None:
        """Pass the options by keyword."""
        from tfmemlint.fixes.rewrites import call_arguments

        call = editor.call_to_rewrite(finding.anchors["call"], *TARGETED)
        call_arguments.name_argument(editor, call, finding, "config")


def _intent(proto: Proto) -> Intent | None:
    fields = proto.record.fields
    if short(proto.name) == "GPUOptions":
        fields = {f"gpu_options.{name}": value for name, value in fields.items()}
    options = plain_options(fields)
    return options_intent(options) if options else None
