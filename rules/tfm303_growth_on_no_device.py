"""TFM303: set_memory_growth gets a device that is not a GPU, or a value that is not a bool."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from tfmemlint.interpreter.values import (
    Amount,
    Const,
    Device,
    DeviceName,
    Devices,
    FileValue,
    Index,
    NumberedName,
    Seq,
    Value,
)
from tfmemlint.knowledge.functions import SET_GROWTH
from tfmemlint.model.finding import Finding, Severity
from tfmemlint.model.intent import Purpose
from tfmemlint.model.text_defect import TextDefect
from tfmemlint.rulekit.explain import attribute_severity, file_severity, file_trace, growth_intent, handler_notes
from tfmemlint.rulekit.rule import Rule

if TYPE_CHECKING:
    from tfmemlint.fixes.editor import Editor
    from tfmemlint.interpreter.program import Call, Program

_UNRECOGNISED = "ValueError: Unrecognized device"
_NOT_GPU = "ValueError: Cannot set memory growth on non-GPU and non-Pluggable devices"


class GrowthOnNoDevice(Rule):
    """set_memory_growth gets a device that is not a GPU, or a value that is not a bool.

    What it does
    ------------
    Finds ``set_memory_growth`` calls whose device is missing, or is a list of devices, a string, a number, a logical
    device or a CPU, or whose value is a string.

    Why it matters
    --------------
    The function takes one physical GPU. Anything else raises ``ValueError`` or ``TypeError``, which the usual ``except
    RuntimeError`` does not catch. The first device of a listing without ``'GPU'`` is the CPU.

    Example
    -------
    ```python
    import tensorflow as tf

    gpus = tf.config.list_physical_devices("GPU")
    tf.config.experimental.set_memory_growth(gpus, True)
    ```

    Use instead
    -----------
    ```python
    import tensorflow as tf

    gpus = tf.config.list_physical_devices("GPU")
    for gpu in gpus:
        tf.config.experimental.set_memory_growth(gpu, True)
    ```

    Seen as
    -------
    ``ValueError: Unrecognized device: [PhysicalDevice(name='/physical_device:GPU:0', device_type='GPU')]``
    """

    code = "TFM303"
    name = "growth-on-no-device"
    severity = Severity.ERROR
    text_defects = (TextDefect.GROWTH_ARGUMENT,)
    triggers = ("memory_growth",)
    whole_program = True
    fixable = "sometimes"
    supersedes = ("TFM401", "TFM402")

    def check(self, program: Program) -> Iterator[Finding]:
        """Yield each call with an argument that TensorFlow refuses."""
        for call in program.calls(SET_GROWTH):
            if call.has_star or any(argument.keyword not in (None, "device", "enable") for argument in call.args):
                continue
            judged = _judge(call)
            if judged is None:
                continue
            what, seen, kind = judged
            enable = call.arg(1, "enable")
            if kind == "listing" and any("device_type" in text or "GPU" in text for text, _ in call.guards):
                continue
            exception, device = seen.partition(":")[0], call.arg(0, "device")
            yield self.finding(
                program,
                call,
                f"set_memory_growth takes one physical GPU and True or False: {what}",
                severity=_severity(call, exception, enable.value if enable is not None else None),
                trace=file_trace(enable.value, call, enable.span) if enable is not None else (),
                intent=growth_intent(call),
                outcome=f"TensorFlow raises {seen}",
                advice="Call it for every GPU of tf.config.list_physical_devices('GPU')",
                notes=handler_notes(call, exception),
                fixable=kind in ("list", "missing", "string", "name", "value", "listing", "logical", "number"),
                anchors={"device": device.span} if device is not None else {},
                details={"kind": kind, "caught": call.handler_for(exception) is not None, **_texts(call)},
            )

    def fix(self, finding: Finding, editor: Editor) -> None:
        """Call the function for every GPU, with a bool."""
        from tfmemlint.fixes.rewrites import call_arguments

        call_arguments.fix_growth_arguments(editor, finding)


def _severity(call: Call, exception: str, enable: Value | None) -> Severity:
    severity = attribute_severity(call, exception)
    return severity if enable is None or severity is not Severity.ERROR else file_severity(enable)


def _judge(call: Call) -> tuple[str, str, str] | None:
    """Return the defect of the arguments, the error that is raised, and the kind of mistake."""
    device, enable = call.arg(0, "device"), call.arg(1, "enable")
    if device is not None and enable is not None:
        judged = _judge_device(device.value)
        if judged is not None:
            return judged
        if isinstance(enable.value, Const) and isinstance(enable.value.value, str):
            seen = "TypeError, when the runtime starts: 'str' object cannot be interpreted as an integer"
            return f"{enable.text} is a string", seen, "value"
        if (
            isinstance(enable.value, Amount)
            and enable.value.type == "str"
            and (enable.value.sure or isinstance(enable.value, FileValue))
        ):
            seen = "TypeError, when the runtime starts: 'str' object cannot be interpreted as an integer"
            source = f", from {enable.value.source}" if enable.value.source else ""
            return f"{enable.text} is a string{source}", seen, "text"
        return None
    if device is None and enable is None and not call.args:
        return (
            "both are missing",
            "TypeError: missing 2 required positional arguments: 'device' and 'enable'",
            "missing",
        )
    if device is not None and isinstance(device.value, Const) and isinstance(device.value.value, bool):
        return "the device is missing", "TypeError: missing 1 required positional argument: 'enable'", "missing"
    if device is None and enable is not None:
        return "the device is missing", "TypeError: missing 1 required positional argument: 'device'", "missing"
    if device is not None and len(call.args) == 1:
        return "the value is missing", "TypeError: missing 1 required positional argument: 'enable'", "value"
    return None


def _judge_device(value: Value) -> tuple[str, str, str] | None:
    match value:
        case Devices(kind="physical", whole=whole, type=type_):
            return "this is a list of devices", _UNRECOGNISED, "list" if whole and type_ == "GPU" else "part"
        case Seq():
            return "this is a list", _UNRECOGNISED, "part"
        case DeviceName(Device(kind="physical")):
            return "this is a device's name", _UNRECOGNISED, "name"
        case DeviceName() | Const(str()):
            return "this is a string", _UNRECOGNISED, "string"
        case NumberedName() | Amount(type="str", sure=True):
            return "this is a string", _UNRECOGNISED, ""
        case Const(bool()) | Const(None):
            return "this is not a device", _UNRECOGNISED, ""
        case Const(int()) | Index():
            return "this is a number", _UNRECOGNISED, "number"
        case Amount(type="number", sure=True):
            return "this is a number", _UNRECOGNISED, ""
        case Device(kind="logical"):
            return "this is a logical device", _UNRECOGNISED, "logical"
        case Device(kind="local"):
            return "this is not a physical device", _UNRECOGNISED, ""
        case Device(type="CPU"):
            return "this is a CPU", _NOT_GPU, ""
        case Device(type=None, index=0):
            return "the first device of a listing of all types is the CPU", _NOT_GPU, "listing"
        case _:
            return None


def _texts(call: Call) -> dict[str, object]:
    device, enable = call.arg(0, "device"), call.arg(1, "enable")
    wanted = enable.text if enable is not None and enable is not device else "True"
    if isinstance(getattr(enable, "value", None), Const) and isinstance(enable.value.value, str):  # type: ignore[union-attr]
        wanted = "False" if enable.value.value.strip().lower() in ("false", "0", "no") else "True"  # type: ignore[union-attr]
    if device is not None and isinstance(device.value, Const) and isinstance(device.value.value, bool):
        wanted = device.text
    return {
        "device": device.text if device is not None else "",
        "enable": wanted,
        "in_loop": call.devices_loop is not None,
        "purpose": Purpose.GROWTH.value,
        "enable_span": enable.span if enable is not None else None,
    }
