"""TFM322: a device is picked by a name or type that none has."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from tfmemlint.interpreter.program import DeviceTest
from tfmemlint.knowledge.device_names import BEGINNINGS, gpus_meant
from tfmemlint.model.finding import Finding, Severity
from tfmemlint.model.intent import Intent, Purpose
from tfmemlint.rulekit.rule import Rule

if TYPE_CHECKING:
    from tfmemlint.fixes.editor import Editor
    from tfmemlint.interpreter.program import Program

_FOUND = {
    "value": "Nothing is found for any device, and nothing is raised",
    "found": "Python raises KeyError",
}
_HOW = {"is": "is", "contains": "contains", "starts": "starts with", "ends": "ends with"}


class DeviceNameNeverMatches(Rule):
    """A device is picked by a name or type that none has.

    What it does
    ------------
    Finds tests of ``device.name`` and ``device.device_type`` that no device passes: ``device_type == "gpu"``,
    ``"gpu" in name``, ``name == "GPU:0"``; and names that are looked up where no device's name is:
    ``limits.get(gpu.name)`` where the keys are ``"GPU:0"`` and ``"GPU:1"``. A physical device is called
    ``/physical_device:GPU:0``, a logical one ``/device:GPU:0``, and types are in upper case.

    Why it matters
    --------------
    The code behind the test runs for no device, or for all of them, and nothing is raised: no GPU is configured.

    Example
    -------
    ```python
    import tensorflow as tf

    for device in tf.config.list_physical_devices():
        if device.device_type == "gpu":
            tf.config.experimental.set_memory_growth(device, True)
    ```

    Use instead
    -----------
    ```python
    import tensorflow as tf

    for device in tf.config.list_physical_devices():
        if device.device_type == "GPU":
            tf.config.experimental.set_memory_growth(device, True)
    ```
    """

    code = "TFM322"
    name = "device-name-never-matches"
    severity = Severity.ERROR
    fixable = "sometimes"
    triggers = (
        r"\bdevice_type\b",
        r"\.name\s*[=!]=",
        r"(?:[=!]=|\bin)\s*[\w.\[\]()]{1,80}\.name\b",
        r"\.name\.(?:starts|ends)with\(",
        r"['\"]/?(?:(?:physical_)?device:)?(?i:gpu):[\d{%]",
    )

    def check(self, program: Program) -> Iterator[Finding]:
        """Yield each test that comes out alike for all devices."""
        for event in program.of(DeviceTest):
            right = _right(event)
            kind = "physical" if event.device.kind == "physical" else "logical"
            says = f"The name of no {kind} device {_HOW.get(event.how)} {event.given!r}"
            if event.attribute == "device_type":
                says = f"No device has the type {event.given!r}"
            if event.keys:
                says = f"No {kind} device has a name such as {event.given!r}"
            yield self.finding(
                program,
                event,
                says,
                intent=Intent(Purpose.DEVICES),
                outcome=_FOUND.get(event.how, "The test comes out alike for all devices; nothing is raised"),
                advice=f"Write {right!r}" if right else "Pick the device by its place in the list of GPUs",
                fixable=bool(right) and (event.literal is not None or bool(event.keys)),
                anchors={"text": event.literal} if event.literal is not None else {},
                details={"right": right, "keys": event.keys, "start": BEGINNINGS[event.device.kind]},
            )

    def fix(self, finding: Finding, editor: Editor) -> None:
        """Write the name, or the type, that devices have."""
        right = str(finding.details["right"])
        if finding.details["keys"]:
            from tfmemlint.fixes.rewrites import device_names

            device_names.rename_keys(editor, finding)
            return
        editor.replace(editor.expression_at(finding.anchors["text"]), editor.quoted(right))
        editor.unsafe(f"Write {right!r}, as TensorFlow does")


def _right(event: DeviceTest) -> str:
    """Return what was meant, as TensorFlow writes it; "" if that is not known."""
    if event.attribute == "device_type":
        return event.given.upper()
    if event.keys:
        return f"{BEGINNINGS[event.device.kind]}GPU:{event.given.rpartition(':')[2]}"
    numbers = gpus_meant(event.given) if event.given[-1:].isdigit() else ()
    if len(numbers) > 1 or (not numbers and event.how in ("is", "ends")):
        return ""
    start = BEGINNINGS[event.device.kind] if event.how in ("is", "starts") else ""
    return f"{start}GPU:{numbers[0]}" if numbers else f"{start}GPU"
