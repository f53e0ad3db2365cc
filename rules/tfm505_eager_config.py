"""TFM505: a ConfigProto is handed to enable_eager_execution."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from tfmemlint.interpreter.values import Const, Proto, Value
from tfmemlint.knowledge import names
from tfmemlint.knowledge.functions import ENABLE_EAGER
from tfmemlint.model.finding import Finding, Severity, Span
from tfmemlint.rulekit.explain import attribute_error, constants_of, grows_already, options_intent, plain_options
from tfmemlint.rulekit.rule import Rule

if TYPE_CHECKING:
    from tfmemlint.fixes.editor import Editor
    from tfmemlint.interpreter.program import Program


class EagerConfig(Rule):
    """A ConfigProto is handed to enable_eager_execution.

    What it does
    ------------
    Finds ``enable_eager_execution(config=...)`` under TensorFlow 2.

    Why it matters
    --------------
    TensorFlow 2.0 removed ``tf.enable_eager_execution``. The function of the same name in ``tf.compat.v1`` takes the
    configuration and ignores it, since eager execution is already on.

    Example
    -------
    ```python
    import tensorflow as tf

    config = tf.compat.v1.ConfigProto()
    config.gpu_options.allow_growth = True
    tf.compat.v1.enable_eager_execution(config=config)
    ```

    Use instead
    -----------
    ```python
    import tensorflow as tf

    for gpu in tf.config.list_physical_devices("GPU"):
        tf.config.experimental.set_memory_growth(gpu, True)
    ```
    """

    code = "TFM505"
    name = "eager-config"
    of_another_release = True
    severity = Severity.ERROR
    triggers = ("enable_eager_execution",)
    fixable = "sometimes"
    supersedes = ("TFM206", "TFM201", "TFM210")

    def check(self, program: Program) -> Iterator[Finding]:
        """Yield each configuration that eager execution ignores."""
        if program.target.major < 2:
            return
        for call in program.calls(*ENABLE_EAGER):
            config = call.arg(0, "config")
            if config is None or config.value == Const(None) or call.state.eager is False or call.probed:
                continue
            fields = dict(config.value.record.fields) if isinstance(config.value, Proto) else {}
            options = plain_options(fields)
            if not options:
                continue
            gone = not names.exists(call.name, program.target)
            yield self.finding(
                program,
                call,
                f"{call.name} was removed from TensorFlow in 2.0, and eager execution takes no configuration"
                if gone
                else "TensorFlow 2 ignores this configuration: eager execution is on already",
                intent=options_intent(options),
                outcome=attribute_error(call.name) if gone else "Nothing is raised; the options are lost",
                advice="Configure the physical devices with tf.config, before the first operation",
                details={"options": options, "grown": grows_already(call), "values": constants_of(fields)},
                anchors={f"field:{name}": span for name, span in _spans(config.value).items()},
            )

    def fix(self, finding: Finding, editor: Editor) -> None:
        """Set the same options with ``tf.config``."""
        from tfmemlint.fixes.rewrites import sessions

        sessions.replace_session(editor, finding)


def _spans(config: Value) -> dict[str, Span]:
    """Return the span at which each option of a message was set."""
    spans = config.record.spans if isinstance(config, Proto) else {}
    return {name: span for name, span in spans.items() if span is not None}
