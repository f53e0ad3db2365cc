"""The functions that list devices."""

from __future__ import annotations

from tfmemlint.interpreter.context import Context
from tfmemlint.interpreter.operations.call_effects import apply_effect
from tfmemlint.interpreter.operations.contents import mark_escaped
from tfmemlint.interpreter.operations.in_force import shown_devices
from tfmemlint.interpreter.operations.starting import start_runtime
from tfmemlint.interpreter.registry import Invocation, models
from tfmemlint.interpreter.values import Const, Devices, Seq, Value
from tfmemlint.knowledge.functions import LIST_LOCAL, LIST_LOGICAL, LIST_PHYSICAL, meant_type


def _is_misspelt(value: Value | None) -> bool:
    """True if there is no device of that type, because it is spelled in another way."""
    return isinstance(value, Const) and isinstance(value.value, str) and bool(meant_type(value.value))


def _device_type(value: Value | None) -> str | None:
    """Return the type of device that a listing asks for; None for all, ``?`` if it isn't known."""
    if value is None or value == Const(None):
        return None
    if isinstance(value, Const) and isinstance(value.value, str):
        return value.value
    return "?"


@models(*LIST_PHYSICAL)
def list_physical_devices(context: Context, call: Invocation) -> Value:
    apply_effect(context, "tf.config.list_physical_devices", call.node)
    kind = call.argument(0, "device_type")
    if _is_misspelt(kind):
        return Seq((), "list")
    listed = Devices("physical", _device_type(kind))
    return shown_devices(context, listed) if call.name.endswith("get_visible_devices") else listed


@models(*LIST_LOGICAL)
def list_logical_devices(context: Context, call: Invocation) -> Value:
    apply_effect(context, "tf.config.list_logical_devices", call.node)
    kind = call.argument(0, "device_type")
    return Seq((), "list") if _is_misspelt(kind) else Devices("logical", _device_type(kind))


@models(LIST_LOCAL)
def list_local_devices(context: Context, call: Invocation) -> Value:
    for given in call.all_values:
        # Its session takes them.
        mark_escaped(context, given)
    start_runtime(context, call.node, "allocator", call.name, call.event.text)
    return Devices("local", None)
