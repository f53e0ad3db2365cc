"""TFM602: a memory report or its reset is called without a device."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from tfmemlint.knowledge.functions import MEMORY_CALLS, RESET_STATS
from tfmemlint.model.finding import Finding, Severity
from tfmemlint.model.intent import Intent, Purpose
from tfmemlint.rulekit.explain import attribute_severity, handler_notes, short
from tfmemlint.rulekit.rule import Rule

if TYPE_CHECKING:
    from tfmemlint.fixes.editor import Editor
    from tfmemlint.interpreter.program import Program


class ResetNeedsDevice(Rule):
    """A memory report or its reset is called without a device.

    What it does
    ------------
    Finds ``reset_memory_stats()``, ``get_memory_info()`` and ``get_memory_usage()`` without their argument.

    Why it matters
    --------------
    The device is required. Besides, ``reset_memory_stats`` only resets the peak counter: it frees no memory and does
    not prevent out-of-memory errors.

    Example
    -------
    ```python
    import tensorflow as tf

    tf.config.experimental.reset_memory_stats()
    ```

    Use instead
    -----------
    ```python
    import tensorflow as tf

    if tf.config.list_physical_devices("GPU"):
        tf.config.experimental.reset_memory_stats("GPU:0")
    ```

    Seen as
    -------
    ``TypeError: reset_memory_stats() missing 1 required positional argument: 'device'``
    """

    code = "TFM602"
    name = "reset-needs-device"
    severity = Severity.ERROR
    triggers = ("memory_(?:info|usage|stats)",)
    fixable = "always"

    def check(self, program: Program) -> Iterator[Finding]:
        """Yield each call without arguments."""
        for call in program.calls(*MEMORY_CALLS):
            if call.args:
                continue
            reset = call.name == RESET_STATS
            yield self.finding(
                program,
                call,
                f"{short(call.name)} needs the device, such as 'GPU:0'",
                severity=attribute_severity(call, "TypeError"),
                intent=None if reset else Intent(Purpose.REPORT, "", "current"),
                outcome="Python raises TypeError: missing 1 required positional argument: 'device'",
                advice=f"Use {short(call.name)}('GPU:0')",
                notes=(
                    *handler_notes(call, "TypeError", "nothing happens"),
                    *(("It resets the counter of the peak; it frees no memory.",) if reset else ()),
                ),
                details={"name": call.name},
            )

    def fix(self, finding: Finding, editor: Editor) -> None:
        """Name the first GPU."""
        from tfmemlint.fixes.rewrites import render_intent

        call = editor.call_to_rewrite(finding.span, short(str(finding.details["name"])))
        editor.replace_args(call, render_intent.logical_name("", 0, guarded=False, editor=editor))
        editor.unsafe("Name the first GPU; there may be others")
