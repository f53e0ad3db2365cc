"""``set_visible_devices``."""

from __future__ import annotations

from dataclasses import replace

from tfmemlint.interpreter.context import Context
from tfmemlint.interpreter.operations.in_force import as_visible, is_refused, late_effect
from tfmemlint.interpreter.operations.starting import start_runtime
from tfmemlint.interpreter.program import Call
from tfmemlint.interpreter.registry import Invocation, models, outcome_of
from tfmemlint.interpreter.state import ANY, ConfigEffect, Setting
from tfmemlint.interpreter.values import EACH, UNKNOWN, Const, Device, Devices, Seq, Value
from tfmemlint.knowledge.functions import SET_VISIBLE, VISIBLE_FIXED

_ALL_GPUS = Devices("physical", "GPU")


def _shows_what_is_visible(context: Context, devices: Value, kind: Value) -> bool:
    """True if all GPUs are made visible where all of them are on every path: accepted at any time."""
    visible = context.here.visible
    if visible is not None and not all(way is None or way.value == _ALL_GPUS for way in visible.ways):
        return False
    if not isinstance(devices, (Device, Devices)) or devices.kind != "physical":
        return False
    if kind != Const("GPU"):
        return isinstance(devices, Devices) and devices.whole and devices.type is None
    return devices.type == "GPU" and (context.here.one_gpu or (isinstance(devices, Devices) and devices.whole))


def _visible_outcome(context: Context, devices: Value) -> ConfigEffect | None:
    """Return whether a list of visible GPUs is set too late.

    A list that hides some GPUs, but not the first, changes nothing on a machine with one GPU: it is in force already,
    which is accepted.
    """
    in_force = _visible_in_force(context)
    late = late_effect(context, VISIBLE_FIXED, in_force, as_visible(devices))
    if late is None or late.kind != "late" or not late.certain:
        return late
    shown = in_force.value if in_force is not None else Devices("physical", "GPU")
    if context.here.min_gpus > 1 or _differ_on_one_gpu(shown, as_visible(devices)):
        return late
    return replace(late, certain=False, of_many=True)


def _visible_in_force(context: Context) -> Setting | None:
    """Return the last ``set_visible_devices``, with its value in the form in which values are compared."""
    visible = context.here.visible
    if visible is None:
        return Setting(UNKNOWN) if ANY in context.here.growth and context.here.growth[ANY].by is None else None
    ways = tuple(replace(way, value=as_visible(way.value)) if way is not None else None for way in visible.either)
    return Setting(as_visible(visible.value), visible.by, ways)


def _differ_on_one_gpu(first: Value, other: Value) -> bool:
    """True if two lists of visible GPUs are known to differ on a machine with one GPU."""
    left, right = _count_on_one_gpu(first), _count_on_one_gpu(other)
    return left is not None and right is not None and left != right


def _count_on_one_gpu(shown: Value) -> int | None:
    """Return how many GPUs a list shows on a machine with one; -1 if asking for them fails there; None if unknown."""
    match shown:
        case Devices(kind="physical", type="GPU", whole=True):
            return 1
        case Seq(items):
            if not all(isinstance(item, Device) and item.type == "GPU" for item in items):
                return None
            numbers = [item.index for item in items if isinstance(item, Device)]
            if any(isinstance(number, int) and number not in (0, -1) for number in numbers):
                return -1
            known = all(isinstance(number, (int, str)) and number in (0, -1, EACH) for number in numbers)
            return (len(numbers) if known else None) if numbers else 0
        case _:
            return None


def _apply_visible(context: Context, devices: Value | None, device_type: Value | None, call: Call) -> None:
    start_runtime(context, call.node or context.unit.tree, "listed", call.name, call.text)
    if not is_refused(context, call) and device_type != Const("CPU"):
        known = isinstance(devices, Devices) and devices.first is not None
        context.state = replace(
            context.here, visible=Setting(as_visible(devices) if known and devices else devices or UNKNOWN, call)
        )


@outcome_of(*SET_VISIBLE)
def check_visible(context: Context, call: Invocation) -> ConfigEffect | None:
    devices, kind = call.argument(0, "devices") or UNKNOWN, call.argument(1, "device_type") or UNKNOWN
    if kind == Const("GPU") and context.here.max_gpus == 0:
        # Without a GPU every list of GPUs is the empty one, which is in force.
        return None
    if kind == Const("CPU") or _shows_what_is_visible(context, devices, kind):
        return None
    return _visible_outcome(context, devices)


@models(*SET_VISIBLE)
def set_visible_devices(context: Context, call: Invocation) -> Value:
    _apply_visible(context, call.argument(0, "devices"), call.argument(1, "device_type"), call.event)
    return Const(None)
