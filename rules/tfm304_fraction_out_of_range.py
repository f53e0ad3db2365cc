"""TFM304: per_process_gpu_memory_fraction is out of range."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from tfmemlint.interpreter.program import ProtoMade
from tfmemlint.interpreter.values import Amount, Const, FileValue
from tfmemlint.knowledge import units
from tfmemlint.model.finding import Finding, Severity
from tfmemlint.model.intent import Intent, Purpose
from tfmemlint.model.text_defect import TextDefect
from tfmemlint.rulekit.explain import file_trace, short
from tfmemlint.rulekit.rule import Rule

if TYPE_CHECKING:
    from tfmemlint.fixes.editor import Editor
    from tfmemlint.interpreter.program import Program
    from tfmemlint.knowledge.releases import Target
    from tfmemlint.model.finding import Span
    from tfmemlint.rulekit.correction import Correction

_SHARE = "per_process_gpu_memory_fraction"
_MIN_PERCENT, _MAX_PERCENT = 10, 100
"""From 10 on nobody means that many times the GPU's memory. Below 10 some do, since unified memory allows it."""


class FractionOutOfRange(Rule):
    """per_process_gpu_memory_fraction is out of range.

    What it does
    ------------
    Finds a ``per_process_gpu_memory_fraction`` of 10 or more, of 0, or below 0; and a fraction in options that also
    divide the GPU into virtual devices; and an amount of memory in its place, such as ``memory_mb / 1024``, which is in
    GiB. Numbers between 1 and 10 are left alone: some programs ask for unified memory
    of two or four times the GPU's size.

    Why it matters
    --------------
    The fraction is a number between 0 and 1. Above 1 it means unified memory of that many times the GPU's size: 50 does
    not take half of the memory but 50 times all of it, part of it in the host's memory. 0 is the default, which is
    nearly all of the memory, and so is a negative number. TensorFlow raises nothing.

    Example
    -------
    ```python
    import tensorflow as tf

    config = tf.compat.v1.ConfigProto()
    config.gpu_options.per_process_gpu_memory_fraction = 50
    session = tf.compat.v1.Session(config=config)
    ```

    Use instead
    -----------
    ```python
    import tensorflow as tf

    config = tf.compat.v1.ConfigProto()
    config.gpu_options.per_process_gpu_memory_fraction = 0.5
    session = tf.compat.v1.Session(config=config)
    ```

    Seen as
    -------
    With virtual devices, ``InvalidArgumentError: It's invalid to set per_process_gpu_memory_fraction when
    virtual_devices is set.``
    """

    code = "TFM304"
    name = "fraction-out-of-range"
    severity = Severity.ERROR
    text_defects = (TextDefect.FRACTION,)
    triggers = ("memory_fraction",)
    whole_program = True
    sees_launch_environment = True
    fixable = "sometimes"

    def check(self, program: Program) -> Iterator[Finding]:
        """Yield each constant fraction that is out of range, and each fraction beside virtual devices."""
        for proto in program.of(ProtoMade):
            before = {"ConfigProto": "gpu_options.", "GPUOptions": ""}.get(short(proto.name))
            share = proto.fields.get(f"{before}{_SHARE}")
            span = proto.field_spans.get(f"{before}{_SHARE}")
            if before is None or span is None or not isinstance(share, (Const, Amount)):
                continue
            amount = _amount(share, proto)
            if amount is not None:
                yield self._of_amount(program, proto, span, *amount)
                continue
            value = share.value if isinstance(share, Const) else (share.default if share.type != "str" else None)
            by_default = isinstance(share, Amount)
            if isinstance(share, FileValue) and _is_called_memory(share):
                yield self._of_amount(program, proto, span, units.GIB, share.source, False)
                continue
            if isinstance(value, bool) or not isinstance(value, (int, float)):
                continue
            if by_default and value < _MIN_PERCENT:
                # 0 and negative numbers stand for "no limit", and are asked for.
                continue
            beside_limits = value > 0 and f"{before}experimental.virtual_devices" in proto.fields
            if beside_limits:
                judged = (
                    "a share of the memory cannot be combined with virtual devices, which have limits of their own",
                    f"TensorFlow raises InvalidArgumentError: {_SHARE} is invalid when virtual_devices is set",
                    "Leave the share out",
                    Severity.ERROR,
                )
            else:
                found = _judge(value, grows=f"{before}allow_growth" in proto.fields)
                if found is None:
                    continue
                judged = found
            what, outcome, advice, severity = judged
            percent = _MIN_PERCENT <= value <= _MAX_PERCENT
            if by_default:
                what, severity = f"{what}, and it is that by default", Severity.WARNING
                advice = "Divide it by 100" if percent and not beside_limits else advice
            yield self.finding(
                program,
                proto,
                f"{_SHARE} is a number between 0 and 1: {what}",
                span=span,
                severity=severity,
                intent=Intent(Purpose.FRACTION, "every GPU", value / 100 if percent else value),
                outcome=outcome,
                advice=advice,
                fixable=percent and not beside_limits,
                noqa_row=span.end_row,
                trace=file_trace(share, proto, span),
                details={"value": value},
            )

    def _of_amount(self, program: Program, proto: ProtoMade, span: Span, unit: str, source: str, sure: bool) -> Finding:
        words = units.WORDS[unit]
        return self.finding(
            program,
            proto,
            f"{_SHARE} is a number between 0 and 1: this is an amount of memory in {words}, from {source}",
            span=span,
            severity=Severity.ERROR if sure else Severity.WARNING,
            intent=Intent(Purpose.FRACTION, "every GPU"),
            outcome="TensorFlow asks for unified memory of that many times the size of the GPU's where it is above 1;"
            " nothing is raised",
            advice="Divide it by the memory of the GPU, in the same unit",
            fixable=False,
            noqa_row=span.end_row,
        )

    def correction(self, finding: Finding, text: str, target: Target) -> Correction:
        """Return what to write instead."""
        from tfmemlint.rulekit.correction import of_amount

        share = finding.details.get("value")
        if isinstance(share, int | float) and _MIN_PERCENT <= share <= _MAX_PERCENT:
            return of_amount(finding, text, f"{share / 100:g}")
        return of_amount(finding, text)

    def fix(self, finding: Finding, editor: Editor) -> None:
        """Convert percent to a fraction."""
        from tfmemlint.fixes.rewrites import memory_fraction

        memory_fraction.percent_to_fraction(editor, finding)


def _amount(share: Const | Amount, proto: ProtoMade) -> tuple[str, str, bool] | None:
    """Return the unit of what is no share but an amount of memory, its source, and whether that is sure; None for all
    else."""
    if isinstance(share, Const):
        name = proto.in_gib.get(share.value) if isinstance(share.value, float) and share.value > 1 else None
        return (units.GIB, name, False) if name else None
    plausible = share.default is None or (isinstance(share.default, (int, float)) and 1 < share.default < _MIN_PERCENT)
    if share.unit not in units.WORDS or share.scaled or not plausible or share.type not in ("", "number"):
        return None
    return share.unit, share.source, share.sure


def _is_called_memory(share: FileValue) -> bool:
    """True for a number of a configuration file that is called memory, and not a share of it, and is no share."""
    plausible = isinstance(share.value, (int, float)) and 1 < share.value < _MIN_PERCENT
    return plausible and not share.scaled and bool(_MEMORY.search(share.key)) and not _SHARES.search(share.key)


_MEMORY = re.compile(r"(?i)mem(?:ory)?(?![a-z])|vram")
_SHARES = re.compile(r"(?i)frac|share|ratio|perc|pct|part|unified|over|scale|factor|multip|times")


def _judge(value: float, *, grows: bool) -> tuple[str, str, str, Severity] | None:
    """Return the defect of a fraction, what TensorFlow does, the advice, and the severity."""
    if value < 0:
        outcome = "Nothing is raised, and nothing is limited: the process takes nearly all of the memory"
        return f"{value:g} is negative", outcome, "Give a share, or leave it out", Severity.ERROR
    if value == 0 and not grows:
        outcome = "Nothing is raised; 0 means the default, and the process takes nearly all of the memory"
        return "0 limits nothing", outcome, "Give a share, or leave it out", Severity.WARNING
    if value >= _MIN_PERCENT:
        outcome = f"TensorFlow asks for unified memory {value:g} times the size of the GPU's; nothing is raised"
        if value <= _MAX_PERCENT:
            return f"{value:g} is not read as a percentage", outcome, f"Write {value / 100:g}", Severity.ERROR
        return f"{value:g} is not read as MiB", outcome, "Give the share of the memory", Severity.ERROR
    return None
