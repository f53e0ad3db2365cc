"""TFM321: tf.device, or a strategy, gets something that names no logical device."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from tfmemlint.interpreter.values import Const, Device, DeviceName, Devices, NumberedName, Seq, Value
from tfmemlint.knowledge.device_names import gpus_meant
from tfmemlint.model.finding import Finding, Severity, Span
from tfmemlint.model.intent import Intent, Purpose
from tfmemlint.model.records import dataclass
from tfmemlint.rulekit.explain import attribute_severity, device_words, handler_notes, short
from tfmemlint.rulekit.rule import Rule

if TYPE_CHECKING:
    from tfmemlint.fixes.editor import Editor
    from tfmemlint.interpreter.program import Arg, Call, Program

_ONE = {"tf.device": "device_name", "tf.distribute.OneDeviceStrategy": "device"}
"""Functions that take one device, with the names of their parameters."""
_SEVERAL = {
    "tf.distribute.MirroredStrategy": "devices",
    "tf.distribute.experimental.CentralStorageStrategy": "compute_devices",
}
"""Functions that take a list of devices."""
_PART = re.compile(r"(?P<type>[A-Za-z]+):?(?P<numbers>[0-9]+(?:,[0-9]+)*)?")
_RIGHT = re.compile(
    r"/?(?:gpu|device:gpu:[0-9]+|gpu:[0-9]+|device:xla_gpu:[0-9]+|gpu:\*|device:gpu:\*|)", re.IGNORECASE
)
"""A name that TensorFlow reads as that of a GPU."""
_UNKNOWN = "ValueError: Unknown attribute {!r} is encountered while parsing the device spec"
_NO_STRING = "ValueError: Expecting a string device name"
_NO_NUMBER = "ValueError: invalid literal for int() with base 10: {!r}"
_NO_SPLIT = "AttributeError: {!r} object has no attribute 'split'"
_MOST_NAMES = 8


class NotALogicalDevice(Rule):
    """`tf.device`, or a strategy, gets something that names no logical device.

    What it does
    ------------
    Finds ``tf.device``, ``OneDeviceStrategy``, ``MirroredStrategy`` and ``CentralStorageStrategy`` with physical
    devices (``gpus[0]``), their names (``gpus[0].name``), numbers, or names of GPUs that other libraries use:
    ``"cuda:0"``, ``"GPU0"``.

    Why it matters
    --------------
    Operations are placed on logical devices, whose names are ``"GPU:0"``, ``"GPU:1"``. The name of a physical device,
    ``/physical_device:GPU:0``, raises ``ValueError``, and so does ``"cuda:0"``. ``OneDeviceStrategy(0)`` raises
    nothing: it is the CPU.

    Example
    -------
    ```python
    import tensorflow as tf

    gpus = tf.config.list_physical_devices("GPU")
    strategy = tf.distribute.MirroredStrategy(gpus)
    ```

    Use instead
    -----------
    ```python
    import tensorflow as tf

    strategy = tf.distribute.MirroredStrategy(tf.config.list_logical_devices("GPU"))
    ```

    Seen as
    -------
    ``ValueError: Unknown attribute 'physical_device' is encountered while parsing the device spec``, or
    ``AttributeError: 'PhysicalDevice' object has no attribute 'split'``
    """

    code = "TFM321"
    name = "not-a-logical-device"
    severity = Severity.ERROR
    fixable = "sometimes"
    triggers = (
        "physical_device",
        "cuda:[0-9{]",
        "(?i:[\"']/?(?:xla_)?gpu[0-9{])",
        "(?i:[\"']/device:gpu[\"'0-9])",
        "(?i:gpu:[0-9]+,)",
        "(?:device|Strategy)\\((?:[a-z_]+=)?\\[?[\"']?[0-9]",
    )

    def check(self, program: Program) -> Iterator[Finding]:
        """Yield each call with a device that TensorFlow refuses, or takes for the CPU."""
        seen: set[Span] = set()
        for call in program.calls(*_ONE, *_SEVERAL):
            keyword = _ONE.get(call.name) or _SEVERAL[call.name]
            place = call.arg(0, keyword)
            if place is None or place.star or place.span in seen:
                continue
            wrong = _wrong(call, place.value)
            if wrong is None:
                continue
            seen.add(place.span)
            yield self._refused(program, call, place, wrong)

    def _refused(self, program: Program, call: Call, place: Arg, wrong: _Wrong) -> Finding:
        exception = wrong.raises.partition(":")[0]
        several = call.name in _SEVERAL
        names = "a list of names of logical devices, such as ['GPU:0', 'GPU:1']"
        takes = names if several else "the name of a logical device, such as 'GPU:0'"
        name = call.name if call.name == "tf.device" else short(call.name)
        return self.finding(
            program,
            call,
            f"{name} takes {takes}: {wrong.what}",
            span=place.span,
            severity=attribute_severity(call, exception) if exception else Severity.ERROR,
            intent=Intent(Purpose.OTHER, text=f"{_meant(place.value, wrong)} for {name}"),
            outcome=f"TensorFlow raises {wrong.raises}"
            if exception
            else "TensorFlow takes it for the CPU, and says nothing",
            advice="Use 'GPU:0', 'GPU:1', ..., or devices of tf.config.list_logical_devices('GPU')",
            notes=handler_notes(call, exception, "nothing runs there") if exception else (),
            fixable=wrong.form != "" and not (wrong.form == "device" and _renumbered(call)),
            details={"form": wrong.form, "names": wrong.names, "several": several, "index": wrong.index},
        )

    def fix(self, finding: Finding, editor: Editor) -> None:
        """Name the logical devices."""
        from tfmemlint.fixes.rewrites import device_places

        device_places.name_devices(editor, finding)


@dataclass(frozen=True, slots=True)
class _Wrong:
    """The defect of a device.

    Attributes:
        what: in words.
        raises: the exception with its message; "" if none is raised.
        form: of the code, for the fix: ``names`` (constants that mean ``names``), ``numbered`` (a name with a number in
            an f-string), ``device`` (one physical device), ``every`` (all GPUs), ``list`` (physical devices), ``texts``
            (names of physical devices); "" if there is no fix.
        names: the right names.
        index: the number of the physical device, if it is known.
    """

    what: str
    raises: str
    form: str
    names: tuple[str, ...] = ()
    index: int | None = None


def _meant(value: Value, wrong: _Wrong) -> str:
    """Return words for the GPUs that are meant."""
    device = value.device if isinstance(value, DeviceName) else value
    if isinstance(device, (Device, Devices)):
        words = device_words(device)
        return words if words.endswith("GPU") or words.startswith("GPU ") else "a GPU"
    return f"GPU {wrong.names[0].removeprefix('GPU:')}" if len(wrong.names) == 1 else "a list of GPUs"


def _wrong(call: Call, value: Value) -> _Wrong | None:
    if call.name in _ONE:
        return _wrong_one(call, value)
    match value:
        case Devices():
            return _wrong_list(value)
        case Const(bool()) | Const(None) | Const(0):
            return None
        case Const(int() as count):
            names = tuple(f"GPU:{number}" for number in range(count)) if 0 < count <= _MOST_NAMES else ()
            return _Wrong(
                "this is a number", "TypeError: 'int' object is not iterable", "names" if names else "", names
            )
        case Const(str() as text):
            names = tuple(_names(text)) if _RIGHT.fullmatch(text) is None else (text,)
            names = names or tuple(name.strip() for name in text.split(","))
            if not text or any(_RIGHT.fullmatch(name) is None for name in names):
                return None
            first = next((sign for sign in text if sign != "/"), "")
            return _Wrong("this is one string", _UNKNOWN.format(first), "names", names)
        case Seq(items) if items:
            return _wrong_items(call, items)
        case _:
            return None


def _wrong_items(call: Call, items: Sequence[Value]) -> _Wrong | None:
    each = [_wrong_one(call, item) for item in items]
    first = next((wrong for wrong in each if wrong is not None), None)
    if first is None:
        return None
    names: list[str] = []
    for item, wrong in zip(items, each, strict=True):
        if wrong is None and isinstance(item, Const) and isinstance(item.value, str):
            names.append(item.value)
        elif wrong is not None and wrong.index is not None:
            names.append(f"GPU:{wrong.index}")
        elif wrong is not None and len(wrong.names) == 1:
            names += wrong.names
        else:
            return _Wrong(first.what, first.raises, "")
    moved = any(wrong is not None and wrong.index is not None for wrong in each) and _renumbered(call)
    return _Wrong(first.what, first.raises, "" if moved else "names", tuple(names))


def _wrong_one(call: Call, value: Value) -> _Wrong | None:
    is_scope = call.name == "tf.device"
    graph = is_scope and call.state.eager is not True
    match value:
        case Device(kind="physical"):
            raises = _NO_STRING if is_scope and not graph else _NO_SPLIT.format("PhysicalDevice")
            return _Wrong("this is a physical device", raises, "device", index=_index(value))
        case DeviceName(Device(kind="physical") as device):
            raises = _UNKNOWN.format("physical_device")
            return _Wrong("this is the name of a physical device", raises, "device", index=_index(device))
        case Devices(kind="physical", names=False) if call.name in _ONE:
            raises = _NO_STRING if is_scope and not graph else _NO_SPLIT.format("list")
            return _Wrong("this is a list of physical devices", raises, "")
        case Const(bool()):
            return None
        case Const(int() as number) if call.name in _SEVERAL:
            return _Wrong("this is a number", _NO_SPLIT.format("int"), "names", (f"GPU:{number}",))
        case Const(int() as number) if not graph:
            return _Wrong("this is a number", _NO_STRING if is_scope else "", "names", (f"GPU:{number}",))
        case Const(str() as text) if _RIGHT.fullmatch(text) is None:
            return _wrong_text(text)
        case NumberedName(prefix=prefix) if _RIGHT.fullmatch(f"{prefix}0") is None and _names(f"{prefix}0"):
            what = "TensorFlow knows no such name"
            return _Wrong(what, _UNKNOWN.format(_attribute(f"{prefix}<i>")), "numbered")
        case _:
            return None


def _wrong_list(value: Devices) -> _Wrong | None:
    if value.kind != "physical":
        return None
    what = "these are the names of physical devices" if value.names else "these are physical devices"
    raises = _UNKNOWN.format("physical_device") if value.names else _NO_SPLIT.format("PhysicalDevice")
    every = value.whole and value.type == "GPU"
    return _Wrong(what, raises, "every" if every else "texts" if value.names else "list")


def _wrong_text(text: str) -> _Wrong | None:
    names = _names(text)
    if not names:
        return None
    if _PART.fullmatch(text.rpartition("/")[2].removeprefix("device:")) and "," in text:
        numbers = text.rpartition(":")[2]
        return _Wrong("this is a string with several numbers", _NO_NUMBER.format(numbers), "")
    what = "this is the name of a physical device" if "physical_device" in text else "TensorFlow knows no such name"
    return _Wrong(what, _UNKNOWN.format(_attribute(text)), "names" if len(names) == 1 else "", names)


def _attribute(text: str) -> str:
    """Return the part of a name that TensorFlow says it does not know."""
    return text.removeprefix("/").partition(":")[0]


def _names(text: str) -> tuple[str, ...]:
    """Return the right names of the GPUs that a text likely means; () where it means something else."""
    return tuple(f"GPU:{number}" for number in gpus_meant(text))


def _index(device: Device) -> int | None:
    index = device.index
    return index if isinstance(index, int) and index >= 0 and not device.loop else None


def _renumbered(call: Call) -> bool:
    """Return True if logical devices may have other numbers than the physical ones."""
    return call.state.visible is not None or bool(call.state.limits)
