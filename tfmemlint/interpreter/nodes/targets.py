"""Targets of assignments."""

from __future__ import annotations

import ast
from collections.abc import Sequence

from tfmemlint.interpreter.context import Context
from tfmemlint.interpreter.operations.bindings import bind
from tfmemlint.interpreter.operations.chains import evaluate_base
from tfmemlint.interpreter.operations.contents import mark_escaped
from tfmemlint.interpreter.operations.devices import device_at
from tfmemlint.interpreter.operations.items import set_item
from tfmemlint.interpreter.operations.protocols import collected, members_of
from tfmemlint.interpreter.registry import assigns
from tfmemlint.interpreter.values import (
    UNKNOWN,
    Amount,
    Class,
    Const,
    Device,
    DeviceName,
    Devices,
    FileValue,
    Instance,
    Lazy,
    Seq,
    Value,
)


def _unpack(context: Context, targets: Sequence[ast.expr], value: Value) -> None:
    items: Sequence[Value] = [UNKNOWN] * len(targets)
    if isinstance(value, (Lazy, Instance, Class)) and context.state is not None:
        given = members_of(context, value) or collected(context, value, targets[0] if targets else ast.Pass())
        values = given.items if isinstance(given, Seq) else given
        if values and len(values) != len(targets) and all(_is_alike(each, values[0]) for each in values):
            values = [values[0]] * len(targets)
        value = Seq(tuple(values), "tuple") if values is not None and len(values) == len(targets) else UNKNOWN
        if context.state is None:
            return
    if isinstance(value, Amount) and value.type == "list" and not isinstance(value, FileValue):
        value = Seq((Amount("str", value.unit, value.source),) * len(targets), "tuple")
    starred = next((place for place, target in enumerate(targets) if isinstance(target, ast.Starred)), None)
    if starred is not None and isinstance(value, Seq) and len(value.items) >= len(targets) - 1:
        end = len(value.items) - (len(targets) - starred - 1)
        items = [*value.items[:starred], Seq(value.items[starred:end]), *value.items[end:]]
    elif isinstance(value, Seq) and len(value.items) == len(targets):
        items = value.items
    elif isinstance(value, Devices) and starred is not None:
        items = _parted(context, value, starred, len(targets) - starred - 1)
    elif isinstance(value, Devices):
        items = [Device(value.kind, value.type, position) for position in range(len(targets))]
    else:
        mark_escaped(context, value)
    for target, item in zip(targets, items, strict=True):
        context.assign(target, item)


def _is_alike(value: Value, other: Value) -> bool:
    """True for two amounts of which the same is known: one of a list, the length of which is not known."""
    if not isinstance(value, Amount) or not isinstance(other, Amount) or isinstance(value, FileValue):
        return False
    return (value.type, value.unit, value.source) == (other.type, other.unit, other.source)


def _parted(context: Context, devices: Devices, before: int, after: int) -> list[Value]:
    """Return the devices for ``first, *others, last``: so many targets are ``before`` and ``after`` the starred one."""
    ends = [device_at(context, devices, Const(place), None) for place in (*range(before), *range(-after, 0))]
    single: list[Value] = [DeviceName(device) if devices.names else device for device in ends]
    if not before and not after:
        rest = devices
    else:
        skip, last = (before, after) if devices.whole else (0, 0)
        rest = Devices(devices.kind, devices.type, whole=False, names=devices.names, skip=skip, last=last)
    return [*single[:before], rest, *single[before:]]


@assigns(ast.Name)
def assign_name(context: Context, target: ast.Name, value: Value) -> None:
    bind(context, target.id, value)


@assigns(ast.Tuple, ast.List)
def assign_items(context: Context, target: ast.Tuple | ast.List, value: Value) -> None:
    _unpack(context, target.elts, value)


@assigns(ast.Starred)
def assign_rest(context: Context, target: ast.Starred, value: Value) -> None:
    context.assign(target.value, value if isinstance(value, (Seq, Devices)) else UNKNOWN)


@assigns(ast.Attribute)
def assign_attribute(context: Context, target: ast.Attribute, value: Value) -> None:
    given = getattr(context.statement, "value", None)
    given = given if isinstance(given, ast.expr) else None
    base = evaluate_base(context, target.value)
    context.set_attribute(base, target.attr, value, target, target.value, given)


@assigns(ast.Subscript)
def assign_item(context: Context, target: ast.Subscript, value: Value) -> None:
    set_item(context, target, value)
