"""Lists of devices, and single devices."""

from __future__ import annotations

import ast

from tfmemlint.interpreter.context import Context
from tfmemlint.interpreter.operations.device_tests import passes_always, report_called
from tfmemlint.interpreter.operations.devices import beyond_last, device_at, device_taken, rank_taken
from tfmemlint.interpreter.operations.events import emit_store
from tfmemlint.interpreter.operations.members import report_key, report_missing
from tfmemlint.interpreter.operations.methods import MethodCall
from tfmemlint.interpreter.operations.numbers_in_loops import ends_name
from tfmemlint.interpreter.registry import attribute_of, item_of, method, stores_in
from tfmemlint.interpreter.values import UNKNOWN, Amount, Const, Device, DeviceName, Devices, FileValue, Value
from tfmemlint.knowledge.units import BYTES


@attribute_of(Device)
def attribute_of_device(context: Context, base: Device, name: str, node: ast.AST) -> Value:
    if name == "name":
        return DeviceName(base)
    if name == "device_type" and base.type is not None:
        return Const(base.type)
    if base.kind == "local" and name == "memory_limit":
        return Amount("number", BYTES, "memory_limit of device_lib")
    report_missing(context, base, name, node)
    return UNKNOWN


@method(Device)
def method_of_device(context: Context, base: Device, call: MethodCall) -> Value:
    call.arguments(context)
    report_missing(context, base, call.name, call.func, called=True)
    return UNKNOWN


@attribute_of(Devices)
def attribute_of_devices(context: Context, base: Devices, name: str, node: ast.AST) -> Value:
    report_missing(context, base, name, node)
    return UNKNOWN


@item_of(Devices)
def item_of_devices(
    context: Context, base: Devices, key: Value, node: ast.expr, written: ast.expr | None = None
) -> Value:
    device = device_at(context, base, key, written)
    if base.whole and base.type == "GPU" and written is not None:
        rank_taken(context, key, "index", node, context.span(written), context.text(node))
        if isinstance(device.index, int):
            device_taken(context, device.index, key, node, written, base.kind)
        elif isinstance(key, FileValue) and type(key.default) is int:
            device_taken(context, key.default, key, node, written, base.kind)
        elif beyond := beyond_last(key):
            device_taken(context, -1, key, node, written, base.kind, beyond)
    return DeviceName(device) if base.names else device


@item_of(Device)
def item_of_device(
    context: Context, base: Device, key: Value, node: ast.expr, written: ast.expr | None = None
) -> Value:
    if base.kind == "local" or not isinstance(key, Const) or not isinstance(node, ast.Subscript):
        return UNKNOWN
    if isinstance(key.value, str):
        report_key(context, base, key.value, node)
        return UNKNOWN
    return DeviceName(base) if key.value == 0 else UNKNOWN


@method(DeviceName, "startswith", "endswith")
def edge_of_name(context: Context, base: DeviceName, call: MethodCall) -> Value:
    values, _, _ = call.arguments(context)
    match values:
        case [Const(str() as text)]:
            at_end = call.name == "endswith"
            how = "ends" if at_end else "starts"
            if report_called(context, call.node, base, how, text):
                return Const(False)
            if passes_always(base, how, text):
                return Const(True)
            ends = ends_name(base, text) if at_end else None
            return UNKNOWN if ends is None else Const(ends)
        case _:
            return UNKNOWN


@method(Devices, "copy", "__iter__")
def same_devices(context: Context, base: Devices, call: MethodCall) -> Value:
    call.drained_arguments(context)
    return base


@stores_in(Device)
def store_in_device(
    context: Context,
    base: Device,
    name: str,
    value: Value,
    node: ast.AST,
    owner: ast.expr | None = None,
    given: ast.expr | None = None,
) -> None:
    emit_store(context, "device", name, value, node, base, owner, given)
