"""TFM601: A memory report gets an argument that does not name a logical device."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from tfmemlint.interpreter.values import Const, Device, DeviceName, Devices, Index, Value
from tfmemlint.knowledge.functions import MEMORY_CALLS
from tfmemlint.model.finding import Finding, Severity
from tfmemlint.model.intent import Intent, Purpose
from tfmemlint.model.text_defect import TextDefect
from tfmemlint.rulekit.explain import attribute_severity, device_words, guarded, handler_notes, short
from tfmemlint.rulekit.rule import Rule

if TYPE_CHECKING:
    from tfmemlint.fixes.editor import Editor
    from tfmemlint.interpreter.program import Program

_TYPE = "TypeError: incompatible function arguments"
_PARSE = "ValueError: Failed parsing device name"
_MATCH = "ValueError: No matching devices found"
_LOWER = re.compile(r"(?:gpu|cpu):\d+")
_PLAIN = re.compile(r"/?(?:gpu|cpu)", re.IGNORECASE)


class MemoryInfoDevice(Rule):
    """A memory report gets an argument that does not name a logical device.

    What it does
    ------------
    Finds ``get_memory_info``, ``get_memory_usage`` and ``reset_memory_stats`` called with a physical device, with its
    ``name``, with a number, or with a string such as ``'gpu:0'`` or ``'GPU'``.

    Why it matters
    --------------
    The functions take the name of a logical device: ``'GPU:0'``. A ``PhysicalDevice`` raises ``TypeError``. Its name
    ``/physical_device:GPU:0`` raises ``ValueError``, and so does ``'gpu:0'``, while ``'/gpu:0'`` works.

    Example
    -------
    ```python
    import tensorflow as tf

    for gpu in tf.config.list_physical_devices("GPU"):
        print(tf.config.experimental.get_memory_info(gpu))
    ```

    Use instead
    -----------
    ```python
    import tensorflow as tf

    for i, gpu in enumerate(tf.config.list_physical_devices("GPU")):
        print(tf.config.experimental.get_memory_info(f"GPU:{i}"))
    ```

    Seen as
    -------
    ``TypeError: TFE_GetMemoryInfo(): incompatible function arguments``, or
    ``ValueError: No matching devices found for 'gpu:0'``
    """

    code = "TFM601"
    name = "memory-info-device"
    severity = Severity.ERROR
    text_defects = (TextDefect.REPORT_DEVICE,)
    triggers = ("memory_(?:info|usage|stats)",)
    sees_launch_environment = True
    fixable = "sometimes"

    def check(self, program: Program) -> Iterator[Finding]:
        """Yield each call whose first argument TensorFlow refuses."""
        for call in program.calls(*MEMORY_CALLS):
            device = call.arg(0, "device")
            if device is None or device.star:
                continue
            judged = _judge(device.value)
            if judged is None:
                continue
            what, seen = judged
            exception = seen.partition(":")[0]
            value = device.value.device if isinstance(device.value, DeviceName) else device.value
            yield self.finding(
                program,
                call,
                f"{short(call.name)} takes the name of a logical device, such as 'GPU:0': {what}",
                span=device.span,
                severity=attribute_severity(call, exception),
                intent=Intent(Purpose.REPORT, device_words(value, device.text), "current"),
                outcome=f"TensorFlow raises {seen}",
                advice="Use 'GPU:0', 'GPU:1', ..., or the name of one of tf.config.list_logical_devices('GPU')",
                notes=handler_notes(call, exception, "nothing is reported"),
                fixable=not isinstance(value, Devices),
                details={
                    "kind": type(device.value).__name__,
                    "logical": isinstance(device.value, Device) and device.value.kind == "logical",
                    "index": value.index if isinstance(value, Device) and not value.loop else None,
                    "text": device.value.value if isinstance(device.value, Const) else None,
                    "guarded": guarded(call, device.text) or call.devices_loop is not None,
                },
            )

    def fix(self, finding: Finding, editor: Editor) -> None:
        """Name the logical device."""
        from tfmemlint.fixes.rewrites import memory_reports

        memory_reports.name_device(editor, finding)


def _judge(value: Value) -> tuple[str, str] | None:
    match value:
        case Device(kind="physical" | "logical" as kind):
            return f"this is a {kind} device", _TYPE
        case DeviceName(Device(kind="physical")):
            return "this is the name of a physical device", _PARSE
        case Devices():
            return "this is a list of devices", _TYPE
        case Index() | Const(bool() | int()):
            return "this is a number", _TYPE
        case Const(str() as text):
            if text.startswith("/physical_device"):
                return "this is the name of a physical device", _PARSE
            if _PLAIN.fullmatch(text):
                return "the number is missing", _PARSE
            if _LOWER.fullmatch(text):
                return "without a slash it has to be in capitals", _MATCH
            return None
        case _:
            return None
