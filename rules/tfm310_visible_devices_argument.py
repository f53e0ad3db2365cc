"""TFM310: set_visible_devices, or a listing, gets devices or a type that TensorFlow does not know."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from tfmemlint.facts.syntax import dotted
from tfmemlint.interpreter.state import Event, State
from tfmemlint.interpreter.values import Amount, Const, Device, DeviceName, Devices, Index, NumberedName, Seq, Value
from tfmemlint.knowledge.functions import LIST_LOGICAL, LIST_PHYSICAL, SET_VISIBLE, meant_type
from tfmemlint.model.finding import Finding, Severity
from tfmemlint.model.intent import Intent, Purpose
from tfmemlint.rulekit.explain import handler_notes, short, visible_intent
from tfmemlint.rulekit.gpu_counts import LISTS_LOCAL, CountOfAll, counts_of_all
from tfmemlint.rulekit.rule import Rule

if TYPE_CHECKING:
    from tfmemlint.fixes.editor import Editor
    from tfmemlint.interpreter.program import Arg, Call, Program

_UNRECOGNISED = "TensorFlow raises ValueError: Unrecognized device"
_NO_CPU = "TensorFlow raises NotFoundError when the runtime starts: No CPU devices are available in this process"

_MEANT = ("string", "number", "logical")
"""Mistakes that leave room for another intent, or for another outcome on a machine without that GPU."""

Judged = tuple[str, str, str]
"""The defect, what TensorFlow does, and the kind of mistake."""


class VisibleDevicesArgument(Rule):
    """set_visible_devices, or a listing, gets devices or a type that TensorFlow does not know.

    What it does
    ------------
    Finds ``set_visible_devices`` calls whose devices are a string, a number, a tuple, a logical device or devices of
    another type than the call names; calls that pass GPUs without the type ``'GPU'``; types in lower case, as in
    ``list_physical_devices('gpu')``; and the length of a listing of all types as the number of the GPUs, as in
    ``num_gpus = len(list_physical_devices())``.

    Why it matters
    --------------
    The function takes one physical device or a list of them. Anything else raises ``ValueError``, which the usual
    ``except RuntimeError`` does not catch. Without a type, the list replaces all visible devices, so a list of GPUs
    hides the CPU, and no program runs without a CPU. The only type for GPUs is ``'GPU'``: a listing of ``'gpu'`` is
    empty and raises nothing. A listing without a type has the CPU, so that ``num_gpus`` is too high.

    Example
    -------
    ```python
    import tensorflow as tf

    gpus = tf.config.list_physical_devices("GPU")
    tf.config.set_visible_devices(gpus[:1])
    print(tf.constant(1))
    ```

    Use instead
    -----------
    ```python
    import tensorflow as tf

    gpus = tf.config.list_physical_devices("GPU")
    tf.config.set_visible_devices(gpus[:1], "GPU")
    print(tf.constant(1))
    ```

    Seen as
    -------
    ``ValueError: Unrecognized device: 'GPU:0'``, or, at the first tensor,
    ``NotFoundError: No CPU devices are available in this process``
    """

    code = "TFM310"
    name = "visible-devices-argument"
    severity = Severity.ERROR
    triggers = ("(?:logical|physical|visible|local)_device",)
    whole_program = True
    fixable = "sometimes"
    supersedes = ("TFM103",)

    def check(self, program: Program) -> Iterator[Finding]:
        """Yield each call with arguments that TensorFlow refuses or reads differently."""
        for counted in counts_of_all(program.tree):
            yield self._count(program, counted)
        for call in program.calls(*SET_VISIBLE, *LIST_PHYSICAL, *LIST_LOGICAL):
            if call.has_star or any(argument.keyword not in (None, "devices", "device_type") for argument in call.args):
                continue
            if call.name not in SET_VISIBLE:
                kind = call.arg(0, "device_type")
                wrong = _other_type(kind)
                if kind is not None and wrong and not _tries_several(call):
                    yield self._listing(program, call, kind, wrong)
                continue
            judged = _judge(call)
            if judged is not None:
                yield self._visible(program, call, judged)

    def _count(self, program: Program, counted: CountOfAll) -> Finding:
        source = program.source
        span = source.span(counted.count)
        event = Event(path=source.path, span=span, statement=span, state=State())
        lists = source.segment(source.span(counted.listing))
        return self.finding(
            program,
            event,
            f"{counted.name} counts the CPU as a GPU: {lists} lists devices of all types",
            severity=Severity.WARNING,
            intent=Intent(Purpose.DEVICES),
            outcome="The number is one too high at least; without a GPU it is 1",
            advice="List the devices of type 'GPU'",
            fixable=dotted(counted.listing.func).rpartition(".")[2] != LISTS_LOCAL,
            anchors={"listing": source.span(counted.listing)},
            details={"kind": "count", "caught": False, "doubtful": True},
        )

    def _listing(self, program: Program, call: Call, kind: Arg, wrong: str) -> Finding:
        return self.finding(
            program,
            call,
            f"{short(call.name)}({kind.text}) finds nothing: the type is {wrong!r}",
            span=kind.span,
            intent=Intent(Purpose.DEVICES) if wrong == "GPU" else Intent(Purpose.OTHER, text="a list of the CPUs"),
            outcome="The list is empty on every machine; nothing is raised",
            advice=f"Ask for {wrong!r}",
            fixable=_is_literal(kind),
            anchors={"type": kind.span},
            details={"kind": "type", "type": wrong, "caught": False, "doubtful": True},
        )

    def _visible(self, program: Program, call: Call, judged: Judged) -> Finding:
        what, outcome, kind = judged
        devices, type_ = call.arg(0, "devices"), call.arg(1, "device_type")
        raises = outcome == _UNRECOGNISED
        anchors = {
            name: argument.span for name, argument in (("devices", devices), ("type", type_)) if argument is not None
        }
        return self.finding(
            program,
            call,
            f"set_visible_devices takes physical devices and their type: {what}",
            severity=Severity.WARNING if raises and call.handler_for("ValueError") else Severity.ERROR,
            intent=visible_intent(call),
            outcome=outcome,
            advice=_advice(kind),
            notes=handler_notes(call, "ValueError") if raises else (),
            fixable=bool(kind) and (kind != "type" or _is_literal(type_)),
            anchors=anchors,
            details={
                "kind": kind,
                "type": _other_type(type_) or "GPU",
                "caught": raises and call.handler_for("ValueError") is not None,
                "doubtful": not raises or kind in _MEANT,
            },
        )

    def fix(self, finding: Finding, editor: Editor) -> None:
        """Write the devices and their type as TensorFlow expects them."""
        from tfmemlint.fixes.rewrites import visible_devices

        visible_devices.fix_devices(editor, finding)


def _advice(kind: str) -> str:
    if kind == "hides":
        return "Name the type: set_visible_devices(..., 'GPU')"
    if kind == "type":
        return "Write the type as 'GPU' or 'CPU'"
    return "Pass it devices of tf.config.list_physical_devices('GPU'), and the type 'GPU'"


def _other_type(kind: Arg | None) -> str:
    """Return the right spelling of a misspelled type, or "" if the type is right or means something else."""
    value = kind.value if kind is not None else None
    return meant_type(value.value) if isinstance(value, Const) and isinstance(value.value, str) else ""


def _is_literal(argument: Arg | None) -> bool:
    return argument is not None and isinstance(argument.node, ast.Constant)


def _tries_several(call: Call) -> bool:
    """Return True if the type is one of several that a loop tries."""
    kind = call.arg(0, "device_type")
    return call.repeated or (kind is not None and isinstance(kind.node, ast.Name) and bool(call.ways))


def _judge(call: Call) -> Judged | None:
    devices, type_ = call.arg(0, "devices"), call.arg(1, "device_type")
    if devices is None:
        return None
    judged = _judge_devices(devices)
    if judged is not None:
        return judged
    wanted = type_.value if type_ is not None else Const(None)
    if wanted == Const(None):
        late = call.effect is not None and call.effect.kind == "late"
        if late or call.state.eager is not True or not _only_gpus(devices.value):
            return None
        if devices.value == Seq(()):
            return "without a type, an empty list hides the CPU as well", _NO_CPU, "hides"
        return "without 'GPU' as the type, this hides the CPU", _NO_CPU, "hides"
    right = _other_type(type_)
    if type_ is not None and right:
        if devices.value == Seq(()):
            outcome = f"Nothing is hidden, since no device is of that type; every {right} stays visible"
            return f"{type_.text} is not a type of device, {right!r} is", outcome, "type"
        return f"{type_.text} is not a type of device, {right!r} is", _UNRECOGNISED, "type"
    if wanted in (Const("GPU"), Const("CPU")) and isinstance(wanted, Const):
        return _judge_type(devices, str(wanted.value))
    return None


def _judge_devices(argument: Arg) -> Judged | None:
    match argument.value:
        case Const(str() as text):
            kind = "string" if re.fullmatch(r"\d+|(?:/?(?:physical_)?device:|/)?GPU:\d+", text, re.IGNORECASE) else ""
            return "this is a string", _UNRECOGNISED, kind
        case Const(bool()) | Const(None):
            return "this is not a device", _UNRECOGNISED, ""
        case Const(int() as number):
            return "this is a number", _UNRECOGNISED, "number" if number >= 0 else ""
        case Index() | Amount(type="number", sure=True):
            return "this is a number", _UNRECOGNISED, ""
        case Amount(type="str", sure=True) | NumberedName():
            return "this is a string", _UNRECOGNISED, ""
        case Amount(type="list", sure=True):
            return "the list holds strings", _UNRECOGNISED, ""
        case DeviceName(Device(kind="physical")):
            return "this is a device's name", _UNRECOGNISED, "name"
        case DeviceName() | Devices(names=True):
            return "this is a name, not a device", _UNRECOGNISED, ""
        case Device(kind="logical" | "local") | Devices(kind="logical" | "local"):
            return "this is not a physical device", _UNRECOGNISED, "logical"
        case Seq(items, "tuple") if isinstance(argument.node, ast.Tuple) and items:
            return "this is a tuple, which does not count as a list", _UNRECOGNISED, "tuple"
        case Seq(items):
            return _judge_items(items)
        case _:
            return None


def _judge_items(items: tuple[Value, ...]) -> Judged | None:
    for item in items:
        match item:
            case Const(str()) | DeviceName() | NumberedName() | Amount(type="str", sure=True):
                return "the list holds a string", _UNRECOGNISED, ""
            case Const(int()) | Amount(type="number", sure=True):
                return "the list holds a number", _UNRECOGNISED, ""
            case Devices() | Seq():
                return "the list holds a list", _UNRECOGNISED, ""
            case Device(kind="logical" | "local"):
                return "the list holds a device that is not a physical device", _UNRECOGNISED, ""
            case _:
                pass
    return None


def _only_gpus(value: Value) -> bool:
    """Return True if a value holds no devices other than GPUs."""
    match value:
        case Device(kind="physical", type="GPU") | Devices(kind="physical", type="GPU"):
            return True
        case Seq(items):
            return all(isinstance(item, Device) and _only_gpus(item) for item in items)
        case _:
            return False


def _judge_type(argument: Arg, type_: str) -> Judged | None:
    """Return the mistake if the devices have another type than the one named, else None."""
    for item in argument.value.items if isinstance(argument.value, Seq) else (argument.value,):
        match item:
            case Device(kind="physical", type=None, index=0, loop=False) if type_ == "GPU":
                return "the first device of a listing of all types is the CPU", _UNRECOGNISED, ""
            case Devices(kind="physical", type=None, whole=True) if type_ == "GPU":
                return "a listing of all types includes the CPU", _UNRECOGNISED, "all"
            case Device(kind="physical", type="GPU" | "CPU" as type_of_devices) if type_of_devices != type_:
                return f"this is a {type_of_devices}, not a {type_}", _UNRECOGNISED, ""
            case Devices(kind="physical", type="CPU", whole=True) if type_ == "GPU":
                return "these are CPUs, not GPUs", _UNRECOGNISED, ""
            case _:
                pass
    return None
