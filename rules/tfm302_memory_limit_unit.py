"""TFM302: a memory limit in bytes or gigabytes, negative, or a string."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from tfmemlint.facts.syntax import last_word
from tfmemlint.interpreter.values import Amount, Const, Dict, FileValue, Seq, Unknown
from tfmemlint.knowledge import units
from tfmemlint.knowledge.functions import LOGICAL_CONFIGURATION
from tfmemlint.model.finding import Finding, Severity
from tfmemlint.model.intent import Intent, Purpose
from tfmemlint.model.text_defect import TextDefect
from tfmemlint.rulekit.explain import default_of, file_trace
from tfmemlint.rulekit.made_up import MOST_GIGABYTES, unit_of_limit
from tfmemlint.rulekit.rule import Rule

if TYPE_CHECKING:
    from tfmemlint.fixes.editor import Editor
    from tfmemlint.interpreter.program import Arg, Call, Program
    from tfmemlint.interpreter.values import Value
    from tfmemlint.knowledge.releases import Target
    from tfmemlint.rulekit.correction import Correction

_LIKELY_GIGABYTES_UP_TO = 64
"""MiB; hardly any kernel runs in so little, so a number up to this one is likely gigabytes."""


class MemoryLimitUnit(Rule):
    """A memory limit in bytes or gigabytes, negative, or a string.

    What it does
    ------------
    Finds ``memory_limit`` values that can't be meant as MiB: numbers from a million on (KiB, bytes), negative ones,
    strings and lists; and, as a warning, numbers up to 64, which are nearly always gigabytes. Where the number is
    not known, its type and its unit may be: what the environment, ``argparse`` without ``type`` and ``configparser``
    return are strings; a configuration file of the project (YAML, JSON, TOML, INI) that is read by a constant path has
    its values as defaults; NVML and psutil count bytes; a name such as ``limit_gb`` says its unit, and arithmetic
    changes the unit.

    Why it matters
    --------------
    TensorFlow does not check the value. A limit in bytes or below zero is no limit at all: the process takes all of the
    memory. A limit of 4 MiB ends in an out-of-memory error at the first tensor of that size. A string fails when the
    runtime starts, far from the line that causes it.

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
    Python accepts any number; its effect shows only in the allocator of TensorFlow's C++ part.
    """

    code = "TFM302"
    name = "memory-limit-unit"
    severity = Severity.ERROR
    text_defects = (TextDefect.LIMIT_UNIT,)
    triggers = ("(?:Logical|Virtual)Device",)
    whole_program = True
    sees_launch_environment = True
    fixable = "sometimes"

    def check(self, program: Program) -> Iterator[Finding]:
        """Yield each constant limit that is not a plausible number of MiB."""
        calls = list(program.calls(*LOGICAL_CONFIGURATION))
        for call in calls:
            limit = call.arg(0, "memory_limit")
            judged = _judge_argument(limit, call) if limit is not None and not limit.star else None
            if limit is None or judged is None:
                continue
            severity, unit, words, outcome = judged
            beside = (other for other in calls if other.statement == call.statement and other.span != call.span)
            if unit == units.GIB and any(beside):
                # A GPU split into several tiny devices is a test's, on purpose.
                continue
            value = limit.value.value if isinstance(limit.value, Const) else None
            yield self.finding(
                program,
                call,
                f"memory_limit is in MiB: {limit.text} {words}",
                span=limit.span,
                severity=severity,
                intent=Intent(Purpose.LIMIT, "", value if isinstance(value, (int, float)) else None, limit.text),
                outcome=outcome,
                advice=_ADVICE.get(unit, "Give the limit in MiB, as a number"),
                trace=file_trace(limit.value, call, limit.span),
                fixable=bool(unit),
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
        from tfmemlint.fixes.withheld import Withheld

        node, unit = editor.expression_at(finding.span), finding.details["unit"]
        code = editor.code(node)
        if unit == "string":
            value = str(finding.details["value"]).strip()
            kind = "float" if "." in value else "int"
            editor.replace(node, value if code[:1] in "'\"" else f"{kind}({code})")
            editor.safe("Make the limit a number")
        elif unit == "amount":
            if code[:1] not in "'\"":
                raise Withheld(f"{code} is set elsewhere")
            editor.replace(node, f"{units.amount_in_mib(str(finding.details['value'])):.0f}")
            editor.unsafe("Write the limit in MiB")
        elif unit == "text":
            editor.replace(node, f"int({code})")
            editor.unsafe("Make the limit a number")
        elif unit == units.GIB:
            editor.replace(node, memory_sizes.gib_in_mib(code))
            editor.unsafe("Convert the GiB to MiB")
        elif unit == units.KIB:
            editor.replace(node, memory_sizes.kib_in_mib(code))
            editor.unsafe("Convert the KiB to MiB")
        else:
            editor.replace(node, memory_sizes.bytes_in_mib(code))
            editor.unsafe("Convert the bytes to MiB")


_UNLIMITED = "Nothing is raised, and nothing is limited: the process takes nearly all of the memory"
_TOO_LITTLE = "A tensor of that size raises ResourceExhaustedError"
_NO_NUMBER = "TensorFlow raises TypeError when the runtime starts: must be real number, not {}"
_ADVICE = {
    "text": "Make it a number: int(...)",
    units.BYTES: "Divide it by 1024**2: the limit is in MiB",
    units.KIB: "Divide it by 1024: the limit is in MiB",
    units.GIB: "Multiply it by 1024: the limit is in MiB",
}

Judged = tuple[Severity, str, str, str]
"""The severity, the unit, the defect in words, and the reaction of TensorFlow."""


def _judge_argument(limit: Arg, call: Call) -> Judged | None:
    value = limit.value
    if isinstance(value, Const):
        return _judge(value.value) or _judge_name(limit, value.value)
    if not isinstance(value, Unknown):
        return _judge_kind(value)
    if isinstance(value, Amount) and value.type in ("str", "list"):
        severity = Severity.ERROR if value.sure else Severity.WARNING
        words = "is a list" if value.type == "list" else "is a string"
        source = f", from {value.source}" if value.source else ""
        unit = "text" if value.type == "str" and _is_number(value) else ""
        return severity, unit, f"{words}{source}", _NO_NUMBER.format(value.type)
    default = default_of(limit, call)
    if default is not None and isinstance(value, Amount) and value.unit in ("", units.MIB):
        judged = _judge(default)
        return None if judged is None else (Severity.WARNING, judged[1], f"{judged[2]}, by default", judged[3])
    if isinstance(value, Amount) and value.unit:
        named = limit.node is not None and value.source == last_word(limit.node)
        why = "as its name says" if named else f"from {value.source}"
        return _judge_unit(value.unit, Severity.ERROR if value.sure else Severity.WARNING, why)
    return _judge_name(limit, None)


def _is_number(text: Amount) -> bool:
    """True if a text can be the text of a number, as far as it is known."""
    if isinstance(text.default, float) and not text.default.is_integer():
        # ``int("0.5")`` raises as well.
        return False
    known = text.value if isinstance(text, FileValue) else text.default if isinstance(text.default, str) else "0"
    return isinstance(known, str) and known.strip().isdecimal()


def _judge_kind(value: Value) -> Judged | None:
    """Values that are no number at all."""
    match value:
        case Seq(kind="list" | "tuple" as kind):
            return Severity.ERROR, "", f"is a {kind}", _NO_NUMBER.format(kind)
        case Dict():
            return Severity.ERROR, "", "is a dictionary", _NO_NUMBER.format("dict")
        case _:
            return None


def _judge_name(limit: Arg, value: object) -> Judged | None:
    """The unit that the name of a limit states, where it can be of such a size."""
    if limit.node is None or isinstance(value, bool):
        return None
    unit = units.unit_in_name(last_word(limit.node))
    most = {units.GIB: MOST_GIGABYTES}.get(unit, 0)
    if not unit or unit == units.MIB or (isinstance(value, (int, float)) and not 0 < value <= most):
        return None
    return _judge_unit(unit, Severity.WARNING, "as its name says")


def _judge_unit(unit: str, severity: Severity, why: str) -> Judged | None:
    if unit in (units.BYTES, units.KIB):
        return severity, unit, f"is in {units.WORDS[unit]}, {why}", _UNLIMITED
    if unit == units.GIB:
        return Severity.WARNING, unit, f"is in GiB, {why}", _TOO_LITTLE
    return None


def _judge(value: object) -> tuple[Severity, str, str, str] | None:
    if isinstance(value, str):
        digits = value.strip().replace(".", "", 1).isdigit()
        outcome = "TensorFlow raises TypeError when the runtime starts: must be real number, not str"
        return (
            Severity.ERROR,
            "string" if digits else "amount" if units.amount_in_mib(value) else "",
            "is a string",
            outcome,
        )
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return None
    if value < 0:
        return Severity.ERROR, "", "is negative", _UNLIMITED
    unit = unit_of_limit(value)
    if unit:
        size = f"is {value / 1024**2:,.0f} TiB" if value < 2**80 else "is more than there is memory on earth"
        return Severity.ERROR, unit, f"{size}, so it is probably {units.WORDS[unit]}", _UNLIMITED
    if 1 <= value <= _LIKELY_GIGABYTES_UP_TO:
        return Severity.WARNING, units.GIB, "is too little for any work, so it is probably gigabytes", _TOO_LITTLE
    return None
