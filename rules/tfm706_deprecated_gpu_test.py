"""TFM706: a deprecated test for GPUs."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from tfmemlint.knowledge.functions import GPU_TESTS
from tfmemlint.model.finding import Finding, Severity
from tfmemlint.model.intent import Intent, Purpose
from tfmemlint.rulekit.explain import short
from tfmemlint.rulekit.rule import Rule

if TYPE_CHECKING:
    from tfmemlint.fixes.editor import Editor
    from tfmemlint.interpreter.program import Program
    from tfmemlint.knowledge.releases import Target
    from tfmemlint.rulekit.correction import Correction


class DeprecatedGpuTest(Rule):
    """A deprecated test for GPUs.

    What it does
    ------------
    Finds ``tf.test.is_gpu_available()`` and ``tf.test.gpu_device_name()``.

    Why it matters
    --------------
    Both create every GPU device of the process with default options, so no memory growth and no limit that is set
    afterwards has any effect. The first one is deprecated.

    Example
    -------
    ```python
    import tensorflow as tf

    if tf.test.is_gpu_available():
        print("GPU")
    ```

    Use instead
    -----------
    ```python
    import tensorflow as tf

    if tf.config.list_physical_devices("GPU"):
        print("GPU")
    ```
    """

    code = "TFM706"
    name = "deprecated-gpu-test"
    severity = Severity.ADVICE
    triggers = ("is_gpu_available", "gpu_device_name")
    fixable = "sometimes"

    def check(self, program: Program) -> Iterator[Finding]:
        """Yield each call of the two functions."""
        if program.target.major < 2:
            return
        for call in program.calls(*GPU_TESTS):
            yield self.finding(
                program,
                call,
                f"{short(call.name)} makes the GPU devices to answer",
                intent=Intent(Purpose.DEVICES),
                outcome="Memory growth or a limit that is set later in this process has no effect, without an error",
                advice="Use tf.config.list_physical_devices('GPU'), which only asks the driver",
                details={"name": call.name},
            )

    def correction(self, finding: Finding, text: str, target: Target) -> Correction:
        """Return what to write instead."""
        from tfmemlint.rulekit.correction import by_name

        return by_name(finding, "tf.config.list_physical_devices", target)

    def fix(self, finding: Finding, editor: Editor) -> None:
        """List the physical GPUs."""
        from tfmemlint.fixes.rewrites import device_listing

        device_listing.replace_gpu_test(editor, finding.span)
