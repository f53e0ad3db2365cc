"""TFM606: an amount of GPU memory is printed beside another unit than its own."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from tfmemlint.interpreter.program import AmountTold
from tfmemlint.knowledge.units import WORDS, factor_between, written_unit
from tfmemlint.model.finding import Finding, Severity
from tfmemlint.model.intent import Intent, Purpose
from tfmemlint.rulekit.rule import Rule

if TYPE_CHECKING:
    from tfmemlint.fixes.editor import Editor
    from tfmemlint.interpreter.program import Program


class AmountInAnotherUnit(Rule):
    """An amount of GPU memory is printed beside another unit than its own.

    What it does
    ------------
    Finds amounts that ``get_memory_info`` and NVML return, in bytes, and that an f-string, ``%``, ``format`` or
    ``print`` puts beside another unit: ``f"{info['peak']} MB"``. Divisions by powers of 1000 or 1024 are followed; MB
    and MiB count as one unit. Amounts of GPUtil and nvidia-smi, which are in MiB, are judged alike. So are names that
    say another unit, of variables, attributes, keys and functions that return it:
    ``used_gb = info["current"] / 1024**2``. So is the heading of a table whose rows have as many cells, in texts of
    columns, ``csv``, ``pandas``, ``rich`` and ``tabulate``: ``print("step", "used_mb")``, then ``print(step, used)``.

    Why it matters
    --------------
    The report is wrong by a factor of a thousand, or a million.

    Example
    -------
    ```python
    import tensorflow as tf

    info = tf.config.experimental.get_memory_info("GPU:0")
    print(f"peak: {info['peak']} MB")
    ```

    Use instead
    -----------
    ```python
    import tensorflow as tf

    info = tf.config.experimental.get_memory_info("GPU:0")
    print(f"peak: {info['peak'] / 2**20} MB")
    ```
    """

    code = "TFM606"
    name = "amount-in-another-unit"
    severity = Severity.WARNING
    whole_program = True
    fixable = "sometimes"
    triggers = ("memory_info", "nvmlDeviceGetMemoryInfo", "GPUtil", "nvidia-smi")

    def check(self, program: Program) -> Iterator[Finding]:
        """Yield each amount beside a unit that is not its own."""
        for event in program.of(AmountTold):
            factor = factor_between(event.unit, event.told)
            times = factor.lstrip("/* ")
            if event.whole:
                factor = factor.replace("/ ", "// ")
            yield self.finding(
                program,
                event,
                f"{event.text} is in {WORDS[event.unit]}, and {_told(event)} {event.label}",
                span=event.place,
                intent=Intent(Purpose.REPORT),
                outcome=f"What is told is wrong by a factor of {times}; nothing is raised",
                advice=f"Write {factor} behind it",
                anchors={"amount": event.place},
                details={"divisor": event.label if event.text.endswith(f"/ {event.label}") else "", "told": event.told}
                | {"factor": factor, "label": event.label if written_unit(event.label) else WORDS[event.told]},
            )

    def fix(self, finding: Finding, editor: Editor) -> None:
        """Convert the amount to the unit that is told."""
        import libcst as cst

        from tfmemlint.fixes.rewrites import memory_units

        divisor = str(finding.details["divisor"])
        if divisor:
            memory_units.correct_unit(editor, divisor, str(finding.details["told"]))
            return
        amount = editor.expression_at(finding.anchors["amount"])
        code = editor.code(amount)
        plain = isinstance(amount, (cst.Name, cst.Attribute, cst.Subscript, cst.Call)) or (
            isinstance(amount, cst.BinaryOperation) and isinstance(amount.operator, (cst.Divide, cst.Multiply))
        )
        editor.replace(amount, f"{code if plain else f'({code})'} {finding.details['factor']}")
        editor.unsafe(f"Convert the amount to {finding.details['label']}")


def _told(event: AmountTold) -> str:
    """Return the way in which the unit is told: beside the amount, above its column, or in a name that
    the amount gets."""
    if event.headed:
        return "told under the heading"
    return "told in" if written_unit(event.label) else "called"
