"""TFM301: a memory limit below 1 MiB."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from tfmemlint.interpreter.values import Amount
from tfmemlint.knowledge import units
from tfmemlint.knowledge.functions import LOGICAL_CONFIGURATION
from tfmemlint.model.finding import Finding, Severity
from tfmemlint.model.intent import Intent, Purpose
from tfmemlint.model.text_defect import TextDefect
from tfmemlint.rulekit.explain import default_of, file_trace, is_share
from tfmemlint.rulekit.made_up import constants
from tfmemlint.rulekit.rule import Rule

if TYPE_CHECKING:
    from tfmemlint.fixes.editor import Editor
    from tfmemlint.interpreter.program import Arg, Call, Program
    from tfmemlint.knowledge.releases import Target
    from tfmemlint.rulekit.correction import Correction


class MemoryLimitIsAFraction(Rule):
    """A memory limit below 1 MiB.

    What it does
    ------------
    Finds a ``memory_limit`` of 0, ``nan``, ``inf`` or a number between 0 and 1. Constants are folded first: ``0.3 *
    1024`` is 307 MiB, which is fine. Finds a share that ``GPUtil`` tells, too (``gpu.memoryUtil``).

    Why it matters
    --------------
    The unit is MiB. ``memory_limit=0.5`` asks for 512 KiB, and the first operation on the GPU fails.

    Example
    -------
    ```python
    import tensorflow as tf

    for gpu in tf.config.list_physical_devices("GPU"):
        tf.config.set_logical_device_configuration(gpu, [tf.config.LogicalDeviceConfiguration(memory_limit=0.5)])
    ```

    Use instead
    -----------
    ```python
    import tensorflow as tf

    for gpu in tf.config.list_physical_devices("GPU"):
        tf.config.set_logical_device_configuration(gpu, [tf.config.LogicalDeviceConfiguration(memory_limit=8192)])
    ```

    Seen as
    -------
    ``FailedPreconditionError: Failed to allocate scratch buffer for device 0``

    Ground
    ------
    Python accepts any number; only the allocator in TensorFlow's C++ part refuses it.
    """

    code = "TFM301"
    name = "memory-limit-is-a-fraction"
    severity = Severity.ERROR
    text_defects = (TextDefect.LIMIT_IS_SHARE,)
    triggers = ("(?:Logical|Virtual)Device",)
    whole_program = True
    sees_launch_environment = True
    fixable = "sometimes"

    def check(self, program: Program) -> Iterator[Finding]:
        """Yield each constant limit below 1 MiB, or that is not a finite number."""
        for call in program.calls(*LOGICAL_CONFIGURATION):
            limit = call.arg(0, "memory_limit")
            if limit is not None and isinstance(limit.value, Amount) and limit.value.unit == units.SHARE:
                yield self._share(program, call, limit, limit.value.source)
                continue
            default = default_of(limit, call) if limit is not None else None
            values = [default] if default is not None else constants(limit) if limit is not None else []
            if limit is None or not values or not all(_is_too_small(number) for number in values):
                continue
            value = values[0] if len(values) == 1 and isinstance(values[0], (int, float)) else None
            share = all(is_share(number) for number in values)
            size = f"{value} MiB"
            if share:
                size = f"{value * 1024:g} KiB" if isinstance(value, float) else "less than 1 MiB"
            yield self.finding(
                program,
                call,
                f"memory_limit is in MiB: {limit.text} is {size}{' unless another is given' if default else ''}",
                severity=Severity.ERROR if default is None else Severity.WARNING,
                span=limit.span,
                intent=Intent(Purpose.FRACTION if share else Purpose.LIMIT, "", value, limit.text),
                outcome="The first operation on the GPU raises FailedPreconditionError",
                advice="Give the limit in MiB; for a share, that share of the GPU's memory",
                fixable=share,
                trace=file_trace(limit.value, call, limit.span),
                anchors={"call": call.span},
                details={"unit": "fraction", "keyword": limit.keyword, "name": call.name, "caught": False},
            )

    def _share(self, program: Program, call: Call, limit: Arg, source: str) -> Finding:
        return self.finding(
            program,
            call,
            f"memory_limit is in MiB: {limit.text} is a share of the memory, from {source}",
            span=limit.span,
            intent=Intent(Purpose.LIMIT, "", None, limit.text),
            outcome="The first operation on the GPU raises FailedPreconditionError",
            advice="Multiply it by the GPU's memory in MiB",
            details={"unit": "", "keyword": limit.keyword, "name": call.name, "caught": False},
        )

    def correction(self, finding: Finding, text: str, target: Target) -> Correction:
        """Return what to write instead."""
        from tfmemlint.rulekit.correction import of_amount

        return of_amount(finding, text)

    def fix(self, finding: Finding, editor: Editor) -> None:
        """Convert the fraction to MiB."""
        from tfmemlint.fixes.rewrites import call_arguments

        call_arguments.replace_limit_value(editor, finding)


def _is_too_small(value: object) -> bool:
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return False
    return value != value or value == float("inf") or 0 <= value < 1
