"""TFM317: set_logical_device_configuration gets something other than one physical device."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from tfmemlint.interpreter.program import Call, End, RuntimeStart
from tfmemlint.interpreter.state.numbering import are_limits_hidden, state_where
from tfmemlint.interpreter.values import Amount, Const, Device, DeviceName, Devices, Index, NumberedName, Seq, Value
from tfmemlint.knowledge.functions import SET_LOGICAL
from tfmemlint.model.finding import Finding, Severity, Step
from tfmemlint.rulekit.explain import attribute_severity, handler_notes, in_line, limit_intent, short
from tfmemlint.rulekit.rule import Rule

if TYPE_CHECKING:
    from tfmemlint.fixes.editor import Editor
    from tfmemlint.interpreter.program import Program


class LimitOnNoGpu(Rule):
    """set_logical_device_configuration gets something other than one physical device.

    What it does
    ------------
    Finds ``set_logical_device_configuration`` (and its older name) whose first argument is a list of devices, a string,
    a number or a logical device; and limits for GPUs that ``set_visible_devices`` hides, where those that stay visible
    have none.

    Why it matters
    --------------
    The function takes one physical device. Anything else raises ``ValueError``, which the usual ``except RuntimeError``
    does not catch. A limit for a hidden GPU is accepted, and limits nothing.

    Example
    -------
    ```python
    import tensorflow as tf

    gpus = tf.config.list_physical_devices("GPU")
    tf.config.set_logical_device_configuration(gpus, [tf.config.LogicalDeviceConfiguration(memory_limit=4096)])
    ```

    Use instead
    -----------
    ```python
    import tensorflow as tf

    gpus = tf.config.list_physical_devices("GPU")
    for gpu in gpus:
        tf.config.set_logical_device_configuration(gpu, [tf.config.LogicalDeviceConfiguration(memory_limit=4096)])
    ```

    Seen as
    -------
    ``ValueError: Unrecognized device: [PhysicalDevice(name='/physical_device:GPU:0', device_type='GPU')]``
    """

    code = "TFM317"
    name = "limit-on-no-gpu"
    severity = Severity.ERROR
    triggers = ("(?:logical|virtual)_device",)
    whole_program = True
    fixable = "sometimes"
    supersedes = ("TFM102", "TFM306", "TFM401")

    def check(self, program: Program) -> Iterator[Finding]:
        """First arguments that TensorFlow refuses."""
        for call in program.calls(*SET_LOGICAL):
            device = call.arg(0, "device")
            if device is None or call.has_star:
                continue
            judged = _judge(device.value)
            if judged is None:
                continue
            what, kind = judged
            yield self.finding(
                program,
                call,
                f"{short(call.name)} takes one physical device: {what}",
                span=device.span,
                severity=attribute_severity(call, "ValueError"),
                intent=limit_intent(call),
                outcome="TensorFlow raises ValueError: Unrecognized device",
                advice="Call it for each GPU of tf.config.list_physical_devices('GPU')",
                notes=handler_notes(call, "ValueError", "the limit never takes effect"),
                fixable=kind in ("list", "single", "name", "string"),
                anchors={"call": call.span},
                details={
                    "kind": kind,
                    "device": device.text,
                    "keyword": device.keyword is not None,
                    "caught": call.handler_for("ValueError") is not None,
                },
            )

        yield from self._hidden(program)

    def _hidden(self, program: Program) -> Iterator[Finding]:
        """Limits for GPUs that are hidden when the runtime starts, or the program ends."""
        reported: set[Call] = set()
        for event in program.events:
            if not (isinstance(event, End) or (isinstance(event, RuntimeStart) and event.what == "context")):
                continue
            for setting in event.state.limits.values():
                call = setting.by
                here = state_where(event.state, call.guards) if call is not None else None
                device = call.arg(0, "device") if call is not None else None
                if call is None or here is None or device is None or call in reported or not are_limits_hidden(here):
                    continue
                shows = here.visible.by if here.visible is not None else None
                if shows is None:
                    continue
                reported.add(call)
                yield self.finding(
                    program,
                    call,
                    f"The limit is set on {device.text}, which {short(shows.name)} {in_line(shows)} hides",
                    severity=Severity.WARNING,
                    intent=limit_intent(call),
                    outcome="Nothing is raised, and the GPU that stays visible has no limit",
                    advice="Set it for the GPU that stays visible",
                    trace=(
                        *call.frames,
                        Step(call.path, call.span, f"{short(call.name)} on {device.text}"),
                        *shows.frames,
                        Step(shows.path, shows.span, "hides it, and leaves another GPU visible"),
                    ),
                    fixable=call.path == shows.path and bool(_shown_device(shows, device.text)),
                    anchors={"device": device.span},
                    details={"kind": "hidden", "device": _shown_device(shows, device.text)},
                )

    def fix(self, finding: Finding, editor: Editor) -> None:
        """Call it for each GPU of the list, or for the device itself."""
        from tfmemlint.fixes.rewrites import logical_devices

        logical_devices.fix_device(editor, finding)


_SHOWN = re.compile(r"\[?\s*(\w+)\[(\d+)(?::(?:\d+)?)?\]\s*\]?")


def _shown_device(shows: Call, device: str) -> str:
    """Return the GPU that stays visible, where both calls name theirs by numbers of one list; "" if they don't."""
    given = shows.arg(0, "devices")
    shown = _SHOWN.fullmatch(given.text) if given is not None else None
    hidden = re.fullmatch(r"(\w+)\[\d+\]", device)
    if shown is None or hidden is None or shown[1] != hidden[1]:
        return ""
    return f"{shown[1]}[{shown[2]}]"


def _judge(value: Value) -> tuple[str, str] | None:
    """Return the defect of the device, and the kind of mistake."""
    match value:
        case Devices(kind="physical", whole=True, type="GPU", names=False):
            return "this is a list of devices", "list"
        case Devices(names=False) | Seq(kind="list" | "tuple"):
            single = isinstance(value, Seq) and len(value.items) == 1 and isinstance(value.items[0], Device)
            return "this is a list", "single" if single else ""
        case DeviceName(Device(kind="physical")):
            return "this is a device's name", "name"
        case DeviceName() | Const(str()):
            return "this is a string", "string"
        case NumberedName() | Amount(type="str", sure=True):
            return "this is a string", ""
        case Const(bool()) | Const(None):
            return "this is not a device", ""
        case Const(int()) | Index() | Amount(type="number", sure=True):
            return "this is a number", ""
        case Device(kind="logical"):
            return "this is a logical device", ""
        case _:
            return None
