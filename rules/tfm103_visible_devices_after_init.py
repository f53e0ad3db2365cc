"""TFM103: the visible devices are set after the runtime has started."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from tfmemlint.knowledge.functions import SET_VISIBLE
from tfmemlint.model.finding import Finding, Severity
from tfmemlint.rulekit.explain import in_one_loop, too_late, visible_intent
from tfmemlint.rulekit.rule import Rule

if TYPE_CHECKING:
    from tfmemlint.fixes.editor import Editor
    from tfmemlint.interpreter.program import Program


class VisibleDevicesAfterInit(Rule):
    """The visible devices are set after the runtime has started.

    What it does
    ------------
    Finds ``set_visible_devices`` calls that run after something has started TensorFlow's runtime: a tensor, a variable,
    a dataset, a strategy, ``tf.device``, a listing of logical devices. Setting the same list in the same order again is
    accepted and is not reported.

    Why it matters
    --------------
    The eager context reads the configuration once, when it starts. A later change raises an error. If ``except
    RuntimeError`` catches it, the change is silently lost, and TensorFlow uses all GPUs that the driver reports.

    Example
    -------
    ```python
    import tensorflow as tf

    strategy = tf.distribute.MirroredStrategy()
    tf.config.set_visible_devices(tf.config.list_physical_devices("GPU")[:1], "GPU")
    ```

    Use instead
    -----------
    ```python
    import tensorflow as tf

    tf.config.set_visible_devices(tf.config.list_physical_devices("GPU")[:1], "GPU")
    strategy = tf.distribute.MirroredStrategy()
    ```

    Seen as
    -------
    ``RuntimeError: Visible devices cannot be modified after being initialized``
    """

    code = "TFM103"
    name = "visible-devices-after-init"
    severity = Severity.ERROR
    triggers = ("visible_device",)
    whole_program = True
    fixable = "sometimes"

    def check(self, program: Program) -> Iterator[Finding]:
        """Yield each call that sets other visible devices than those in force after the eager context has started."""
        for call in program.calls(*SET_VISIBLE):
            if call.effect is not None and call.effect.kind == "late" and not in_one_loop(call):
                yield too_late(self, program, call, visible_intent(call))

    def fix(self, finding: Finding, editor: Editor) -> None:
        """Move the configuration above what starts the runtime."""
        editor.call_at(finding.span, "set_visible_devices")
        editor.move_above_start(finding)
