"""TFM306: a GPU's logical device without a memory limit, or a CPU's with one."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from tfmemlint.interpreter.values import Const, Device, Limit, Seq
from tfmemlint.knowledge.functions import SET_LOGICAL
from tfmemlint.model.finding import Finding, Severity
from tfmemlint.model.intent import Intent, Purpose
from tfmemlint.rulekit.explain import attribute_severity, device_words, handler_notes
from tfmemlint.rulekit.rule import Rule

if TYPE_CHECKING:
    from tfmemlint.interpreter.program import Program

_REQUIRED = "ValueError: Setting memory limit is required for GPU virtual devices"
_ON_CPU = "ValueError: Setting memory limit on CPU virtual devices is currently not supported"


class MemoryLimitMissing(Rule):
    """A GPU's logical device without a memory limit, or a CPU's with one.

    What it does
    ------------
    Finds ``LogicalDeviceConfiguration()`` without ``memory_limit`` on a GPU, and with one on a CPU, which is the first
    device of a listing of all types.

    Why it matters
    --------------
    A logical device of a GPU is a share of its memory, so its size is required. The memory of the CPU cannot be
    limited.

    Example
    -------
    ```python
    import tensorflow as tf

    for gpu in tf.config.list_physical_devices("GPU"):
        tf.config.set_logical_device_configuration(gpu, [tf.config.LogicalDeviceConfiguration()])
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
    ``ValueError: Setting memory limit is required for GPU virtual devices``
    """

    code = "TFM306"
    name = "memory-limit-missing"
    severity = Severity.ERROR
    triggers = ("(?:logical|virtual)_device",)
    whole_program = True

    def check(self, program: Program) -> Iterator[Finding]:
        """Yield each limit that is missing, or not allowed."""
        for call in program.calls(*SET_LOGICAL):
            device, logical = call.arg(0, "device"), call.arg(1, "logical_devices")
            if device is None or logical is None:
                continue
            if not isinstance(device.value, Device) or not isinstance(logical.value, Seq):
                continue
            limits = [item.value for item in logical.value.items if isinstance(item, Limit)]
            missing = any(limit is None or limit == Const(None) for limit in limits)
            given = any(limit is not None and isinstance(limit, Const) and limit.value is not None for limit in limits)
            if device.value.type == "GPU" and missing:
                seen, words = _REQUIRED, "a GPU's logical device needs a memory limit, in MiB"
            elif given and (device.value.type == "CPU" or _is_first_of_all(device.value)):
                seen, words = _ON_CPU, "the memory of a CPU's logical device can't be limited"
            else:
                continue
            yield self.finding(
                program,
                call,
                words[0].upper() + words[1:],
                severity=attribute_severity(call, "ValueError"),
                intent=Intent(Purpose.LIMIT, device_words(device.value, device.text)),
                outcome=f"TensorFlow raises {seen}",
                advice="Give each of them memory_limit=<MiB>" if seen is _REQUIRED else "Leave memory_limit out",
                notes=handler_notes(call, "ValueError", "the setting never takes effect"),
            )


def _is_first_of_all(device: Device) -> bool:
    """True for the first physical device of a listing of all types: the CPU."""
    return device.kind == "physical" and device.type is None and device.index == 0
