"""TFM101: memory growth is set after the runtime has started."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from tfmemlint.knowledge.functions import SET_GROWTH
from tfmemlint.model.finding import Finding, Severity
from tfmemlint.model.intent import Purpose
from tfmemlint.rulekit.explain import growth_intent, late_calls, too_late
from tfmemlint.rulekit.rule import Rule

if TYPE_CHECKING:
    from tfmemlint.fixes.editor import Editor
    from tfmemlint.interpreter.program import Program


class GrowthAfterInit(Rule):
    """Memory growth is set after the runtime has started.

    What it does
    ------------
    Finds ``set_memory_growth`` calls that run after something has started TensorFlow's runtime: a tensor, a variable, a
    dataset, a strategy, ``tf.device``, a listing of logical devices. Setting the value that is already in force is
    accepted and is not reported.

    Why it matters
    --------------
    The eager context reads the configuration once, when it starts. A later change raises an error. If ``except
    RuntimeError`` catches it, the change is silently lost, and TensorFlow has already taken nearly all of the GPU's
    memory.

    Example
    -------
    ```python
    import tensorflow as tf

    strategy = tf.distribute.MirroredStrategy()
    for gpu in tf.config.list_physical_devices("GPU"):
        tf.config.experimental.set_memory_growth(gpu, True)
    ```

    Use instead
    -----------
    ```python
    import tensorflow as tf

    for gpu in tf.config.list_physical_devices("GPU"):
        tf.config.experimental.set_memory_growth(gpu, True)
    strategy = tf.distribute.MirroredStrategy()
    ```

    Seen as
    -------
    ``RuntimeError: Physical devices cannot be modified after being initialized``
    """

    code = "TFM101"
    name = "growth-after-init"
    severity = Severity.ERROR
    triggers = ("memory_growth",)
    whole_program = True
    fixable = "sometimes"

    def check(self, program: Program) -> Iterator[Finding]:
        """Yield each call that sets a growth other than the one in force after the eager context has started."""
        for call, intent in late_calls(program, (SET_GROWTH,), (Purpose.GROWTH,)):
            yield too_late(self, program, call, intent or growth_intent(call))

    def fix(self, finding: Finding, editor: Editor) -> None:
        """Move the configuration above what starts the runtime."""
        editor.call_at(finding.span, str(finding.details["called"]))
        editor.move_above_start(finding)
