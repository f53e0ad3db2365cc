"""TFM305: the logical devices are not a list of LogicalDeviceConfiguration."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from tfmemlint.interpreter.values import Const, Dict, Limit, Seq, Value
from tfmemlint.knowledge.functions import SET_LOGICAL
from tfmemlint.model.finding import Finding, Severity
from tfmemlint.model.intent import Intent, Purpose
from tfmemlint.rulekit.explain import attribute_severity, device_words, handler_notes, short
from tfmemlint.rulekit.limits_for_each import limits_for_each_gpu
from tfmemlint.rulekit.rule import Rule

if TYPE_CHECKING:
    from tfmemlint.fixes.editor import Editor
    from tfmemlint.interpreter.program import Program

_NO_LIMIT = "AttributeError: '{}' object has no attribute 'memory_limit'"


class LogicalConfigShape(Rule):
    """The logical devices are not a list of LogicalDeviceConfiguration.

    What it does
    ------------
    Finds ``set_logical_device_configuration`` (and its older name) called with one configuration instead of a list,
    with numbers or dictionaries, with ``None``, or with an empty list; and with a list that has a configuration for
    each of several GPUs (``[... for _ in gpus]``) and goes to ``gpus[0]`` alone.

    Why it matters
    --------------
    The call raises ``AttributeError`` or ``TypeError``, which the usual ``except RuntimeError`` does not catch; an
    empty list fails when the runtime starts. A list for all GPUs raises nothing: it divides the one GPU, and the others
    have no limit.

    Example
    -------
    ```python
    import tensorflow as tf

    for gpu in tf.config.list_physical_devices("GPU"):
        tf.config.set_logical_device_configuration(gpu, [4096])
    ```

    Use instead
    -----------
    ```python
    import tensorflow as tf

    for gpu in tf.config.list_physical_devices("GPU"):
        tf.config.set_logical_device_configuration(gpu, [tf.config.LogicalDeviceConfiguration(memory_limit=4096)])
    ```

    Seen as
    -------
    ``AttributeError: 'int' object has no attribute 'memory_limit'``
    """

    code = "TFM305"
    name = "logical-config-shape"
    severity = Severity.ERROR
    triggers = ("(?:logical|virtual)_device",)
    whole_program = True
    fixable = "sometimes"

    def check(self, program: Program) -> Iterator[Finding]:
        """Yield each call whose second argument has a shape that TensorFlow refuses."""
        for call in program.calls(*SET_LOGICAL):
            logical = call.arg(1, "logical_devices")
            if logical is None:
                if call.has_star or not call.args:
                    continue
                judged = ("the logical devices are missing", "TypeError: missing 1 required positional argument", "")
            else:
                found = _judge(logical.value)
                if found is None:
                    continue
                judged = found
            what, seen, kind = judged
            device = call.arg(0, "device")
            exception = seen.partition(":")[0]
            number = _numbers(logical.value) if logical is not None else None
            yield self.finding(
                program,
                call,
                f"{short(call.name)} takes a list of LogicalDeviceConfiguration: {what}",
                span=logical.span if logical is not None else call.span,
                severity=attribute_severity(call, exception),
                intent=Intent(Purpose.LIMIT, device_words(device.value, device.text) if device else "", number),
                outcome=f"TensorFlow raises {seen}",
                advice="Use [tf.config.LogicalDeviceConfiguration(memory_limit=<MiB>)]",
                notes=handler_notes(call, exception, "the setting never takes effect"),
                fixable=kind in ("single", "numbers", "dictionaries"),
                details={
                    "kind": kind,
                    "caught": call.handler_for(exception) is not None,
                    "several": logical is not None and isinstance(logical.value, Seq),
                },
            )

        for call, name, made in limits_for_each_gpu(program):
            device = call.arg(0, "device")
            words = device.text if device is not None else "one GPU"
            yield self.finding(
                program,
                call,
                f"{words} alone gets a list with a configuration for each GPU of {name}",
                severity=Severity.WARNING,
                intent=Intent(Purpose.LIMIT, name),
                outcome=f"Nothing is raised; {words} is divided into logical GPUs, and the others have no limit",
                advice=f"Give each GPU a list with its own limit: for gpu in {name}",
                anchors={"made": program.source.span(made)},
                details={"kind": "each", "listing": name},
            )

    def fix(self, finding: Finding, editor: Editor) -> None:
        """Make it a list of configurations."""
        from tfmemlint.fixes.rewrites import call_arguments, logical_devices

        if finding.details["kind"] == "each":
            logical_devices.set_for_each(editor, finding)
            return
        call_arguments.fix_logical_devices(editor, finding)


def _judge(value: Value) -> tuple[str, str, str] | None:
    """Return the defect of the value, the error that is raised, and the kind of mistake."""
    match value:
        case Limit():
            # It is a named tuple: TensorFlow takes its fields for configurations.
            return "this is one, not a list", _NO_LIMIT.format("int"), "single"
        case Const(None):
            return "this is None", "TypeError: 'NoneType' object is not iterable", ""
        case Const(bool() | int() | float() as number):
            kind = "numbers" if not isinstance(number, bool) else ""
            return "this is a number", f"TypeError: '{type(number).__name__}' object is not iterable", kind
        case Const(str()):
            return "this is a string", _NO_LIMIT.format("str"), ""
        case Dict():
            return "this is a dictionary", _NO_LIMIT.format("str"), ""
        case Seq(items) if not items:
            return "the list is empty", "UnknownError when the runtime starts: Not enough GPUs", ""
        case Seq(items):
            return _judge_items(items)
        case _:
            return None


def _judge_items(items: tuple[Value, ...]) -> tuple[str, str, str] | None:
    for item in items:
        match item:
            case Const(bool() | None | str() as constant):
                return "it holds something else", _NO_LIMIT.format(type(constant).__name__), ""
            case Const(constant):
                whole = all(isinstance(item, Const) and isinstance(item.value, (int, float)) for item in items)
                what = "these are plain numbers"
                return what, _NO_LIMIT.format(type(constant).__name__), "numbers" if whole else ""
            case Dict():
                alike = all(isinstance(item, Dict) for item in items)
                return "it holds a dictionary", _NO_LIMIT.format("dict"), "dictionaries" if alike else ""
            case _:
                pass
    return None


def _numbers(value: Value) -> float | None:
    items = value.items if isinstance(value, Seq) else (value,)
    first = items[0] if items else None
    if isinstance(first, Const) and isinstance(first.value, (int, float)) and not isinstance(first.value, bool):
        return first.value
    return None
