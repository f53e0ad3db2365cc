"""TFM604: get_memory_usage is deprecated."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from tfmemlint.knowledge import names
from tfmemlint.model.finding import Finding, Severity
from tfmemlint.model.intent import Intent, Purpose
from tfmemlint.rulekit.rule import Rule

if TYPE_CHECKING:
    from tfmemlint.fixes.editor import Editor
    from tfmemlint.interpreter.program import Program
    from tfmemlint.knowledge.releases import Target
    from tfmemlint.rulekit.correction import Correction

_OLD = "tf.config.experimental.get_memory_usage"
_NEW = "tf.config.experimental.get_memory_info"


class MemoryUsageDeprecated(Rule):
    """get_memory_usage is deprecated.

    What it does
    ------------
    Finds ``tf.config.experimental.get_memory_usage(device)``.

    Why it matters
    --------------
    The function works but prints a warning. It is the same as ``get_memory_info(device)['current']``, and
    ``get_memory_info`` also returns the peak.

    Example
    -------
    ```python
    import tensorflow as tf

    print(tf.config.experimental.get_memory_usage("CPU:0"))
    ```

    Use instead
    -----------
    ```python
    import tensorflow as tf

    print(tf.config.experimental.get_memory_info("CPU:0")["current"])
    ```
    """

    code = "TFM604"
    name = "memory-usage-deprecated"
    severity = Severity.ADVICE
    triggers = ("memory_usage",)
    fixable = "always"

    def check(self, program: Program) -> Iterator[Finding]:
        """Yield each call of the old function if the release has the new one."""
        if not names.exists(_NEW, program.target):
            return
        for call in program.calls(_OLD):
            device = call.arg(0, "device")
            yield self.finding(
                program,
                call,
                "get_memory_usage is deprecated",
                intent=Intent(Purpose.REPORT, device.text if device else "", "current"),
                outcome="TensorFlow logs a deprecation warning; the number is right",
                advice="Use get_memory_info(device)['current']",
                fixable=device is not None and len(call.args) == 1 and not (device.star or device.unpacked),
                details={"name": call.name},
            )

    def correction(self, finding: Finding, text: str, target: Target) -> Correction:
        """Return what to write instead."""
        from tfmemlint.rulekit.correction import MEMORY_REPORT, by_name

        return by_name(finding, MEMORY_REPORT, target)

    def fix(self, finding: Finding, editor: Editor) -> None:
        """Use ``get_memory_info``."""
        from tfmemlint.fixes.unused_imports import drop_imports

        call = editor.call_to_rewrite(finding.span, "get_memory_usage")
        argument = editor.code(call.args[0].value)
        new = f"{editor.tf(_NEW)}({argument})[{editor.quoted('current')}]"
        editor.replace(call, new)
        drop_imports(editor, {call.func}, new)
        editor.safe("Use get_memory_info")
