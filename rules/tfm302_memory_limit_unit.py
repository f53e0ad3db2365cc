"""TFM302: a memory limit in bytes or gigabytes, negative, or a string."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from tfmemlint.interpreter.values import Const
from tfmemlint.knowledge.functions import LOGICAL_CONFIGURATION
from tfmemlint.model.finding import Finding, Severity
from tfmemlint.model.intent import Intent, Wish
from tfmemlint.model.text_defect import TextDefect
from tfmemlint.rulekit.made_up import LEAST_BYTES
from tfmemlint.rulekit.rule import Rule

if TYPE_CHECKING:
    from tfmemlint.fixes.editor import Editor
    from tfmemlint.interpreter.program import Program
    from tfmemlint.knowledge.releases import Target
    from tfmemlint.rulekit.correction import Correction

_FEW = 64
"""MiB; hardly any kernel runs in so little, so a whole number up to this one is likely gigabytes."""


class MemoryLimitUnit(Rule):
    """A memory limit in bytes or gigabytes, negative, or a string.

    What it does
    ------------
    Finds ``memory_limit`` values that can't be meant as MiB: numbers beyond 16 million (bytes), negative ones, strings;
    and, as a warning, whole numbers up to 64, which are nearly always gigabytes.

    Why it matters
    --------------
    TensorFlow checks nothing. A limit in bytes or below zero is no limit at all: the process takes all of the memory.
    A limit of 4 MiB ends in an out-of-memory error at the first tensor of that size. A string fails when the runtime
    starts, far from the line that is to blame.

    Example
    -------
    ```python
    import tensorflow as tf

    for gpu in tf.config.list_physical_devices("GPU"):
        tf.config.set_logical_device_configuration(
            gpu, [tf.config.LogicalDeviceConfiguration(memory_limit=4 * 1024**3)]
        )
    ```

    Use instead
    -----------
    ```python
    import tensorflow as tf

    for gpu in tf.config.list_physical_devices("GPU"):
        tf.config.set_logical_device_configuration(gpu, [tf.config.LogicalDeviceConfiguration(memory_limit=4 * 1024)])
    ```

    Seen as
    -------
    ``TypeError: must be real number, not str``, for a string; else nothing is raised

    Ground
    ------
    Python accepts any number; what it does shows in the allocator of TensorFlow's C++ part only.
    """

    code = "TFM302"
    name = "memory-limit-unit"
    severity = Severity.ERROR
    text_defects = (TextDefect.LIMIT_UNIT,)
    triggers = ("(?:Logical|Virtual)Device",)
    whole_program = True
    fixable = "sometimes"

    def check(self, program: Program) -> Iterator[Finding]:
        """Constant limits that are no sensible number of MiB."""
        calls = list(program.calls(*LOGICAL_CONFIGURATION))
        for call in calls:
            limit = call.arg(0, "memory_limit")
            if limit is None or not isinstance(limit.value, Const):
                continue
            judged = _judge(limit.value.value)
            if judged is None:
                continue
            severity, unit, words, outcome = judged
            if unit == "gib" and any(other.statement == call.statement and other.span != call.span for other in calls):
                # A GPU split into several tiny devices is a test's, on purpose.
                continue
            value = limit.value.value
            yield self.finding(
                program,
                call,
                f"memory_limit is in MiB: {limit.text} {words}",
                span=limit.span,
                severity=severity,
                intent=Intent(Wish.LIMIT, "", value if isinstance(value, (int, float)) else None, limit.text),
                outcome=outcome,
                advice="Give the limit in MiB, as a number",
                fixable=unit in ("bytes", "string"),
                anchors={"call": call.span},
                details={"unit": unit, "value": value},
            )

    def correction(self, finding: Finding, text: str, target: Target) -> Correction:
        """Return what to write instead."""
        from tfmemlint.rulekit.correction import of_amount

        return of_amount(finding, text)

    def fix(self, finding: Finding, editor: Editor) -> None:
        """Write bytes, and numbers in quotes, as MiB."""
        from tfmemlint.fixes.rewrites import memory_sizes

        node = editor.expression_at(finding.span)
        if finding.details["unit"] == "string":
            value, code = str(finding.details["value"]).strip(), editor.code(node)
            kind = "float" if "." in value else "int"
            editor.replace(node, value if code[:1] in "'\"" else f"{kind}({code})")
            editor.safe("Make the limit a number")
        else:
            editor.replace(node, memory_sizes.bytes_in_mib(editor.code(node)))
            editor.unsafe("Turn the bytes into MiB")


def _judge(value: object) -> tuple[Severity, str, str, str] | None:
    if isinstance(value, str):
        digits = value.strip().replace(".", "", 1).isdigit()
        outcome = "TensorFlow raises TypeError when the runtime starts: must be real number, not str"
        return Severity.ERROR, "string" if digits else "", "is a string", outcome
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return None
    unlimited = "Nothing is raised, and nothing is limited: the process takes nearly all of the memory"
    if value < 0:
        return Severity.ERROR, "", "is negative", unlimited
    if LEAST_BYTES <= value < float("inf"):
        size = f"is {value / 1024**2:,.0f} TiB" if value < 2**80 else "is more than there is memory on earth"
        return Severity.ERROR, "bytes", f"{size}, so it is probably bytes", unlimited
    if isinstance(value, int) and 1 <= value <= _FEW:
        outcome = "A tensor of that size raises ResourceExhaustedError"
        return Severity.WARNING, "gib", "is too little for any work, so it is probably gigabytes", outcome
    return None
