"""TFM102: logical devices are configured after the runtime has started."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from tfmemlint.knowledge.functions import SET_LOGICAL
from tfmemlint.model.finding import Finding, Severity
from tfmemlint.model.intent import Purpose
from tfmemlint.rulekit.explain import late_calls, limit_intent, too_late
from tfmemlint.rulekit.rule import Rule

if TYPE_CHECKING:
    from tfmemlint.fixes.editor import Editor
    from tfmemlint.interpreter.program import Program


class LogicalDevicesAfterInit(Rule):
    """Logical devices are configured after the runtime has started.

    What it does
    ------------
    Finds ``set_logical_device_configuration`` calls (and its older name) that run after something has started
    TensorFlow's runtime: a tensor, a variable, a dataset, a strategy, ``tf.device``, a listing of logical devices.
    Setting the same logical devices again is accepted and is not reported.

    Why it matters
    --------------
    The eager context reads the configuration once, when it starts. A later change raises an error. If ``except
    RuntimeError`` catches it, the change is silently lost, and TensorFlow takes nearly all of the GPU's memory instead
    of the limit.

    Example
    -------
    ```python
    import tensorflow as tf

    strategy = tf.distribute.MirroredStrategy()
    for gpu in tf.config.list_physical_devices("GPU"):
        tf.config.set_logical_device_configuration(gpu, [tf.config.LogicalDeviceConfiguration(memory_limit=4096)])
    ```

    Use instead
    -----------
    ```python
    import tensorflow as tf

    for gpu in tf.config.list_physical_devices("GPU"):
        tf.config.set_logical_device_configuration(gpu, [tf.config.LogicalDeviceConfiguration(memory_limit=4096)])
    strategy = tf.distribute.MirroredStrategy()
    ```

    Seen as
    -------
    ``RuntimeError: Virtual devices cannot be modified after being initialized``
    """

    code = "TFM102"
    name = "logical-devices-after-init"
    severity = Severity.ERROR
    triggers = ("(?:logical|virtual)_device", "(?:Logical|Virtual)Device")
    whole_program = True
    fixable = "sometimes"

    def check(self, program: Program) -> Iterator[Finding]:
        """Yield each call that sets other logical devices than those in force after the eager context has started."""
        for call, intent in late_calls(
            program,
            SET_LOGICAL,
            (
                Purpose.LIMIT,
                Purpose.FRACTION,
            ),
        ):
            yield too_late(self, program, call, intent or limit_intent(call))

    def fix(self, finding: Finding, editor: Editor) -> None:
        """Move the configuration above what starts the runtime."""
        editor.call_at(finding.span, str(finding.details["called"]))
        editor.move_above_start(finding)
