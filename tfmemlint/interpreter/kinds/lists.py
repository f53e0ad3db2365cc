"""Lists, tuples and sets: their items and methods."""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence

from tfmemlint.facts.shapes import MUTATING
from tfmemlint.facts.syntax import dotted
from tfmemlint.interpreter.context import Context
from tfmemlint.interpreter.operations.callbacks import call_sort_key
from tfmemlint.interpreter.operations.changes import change, change_unknown
from tfmemlint.interpreter.operations.contents import mark_escaped, new_container, passed_to_unknown
from tfmemlint.interpreter.operations.devices import device_taken
from tfmemlint.interpreter.operations.lists import change_items, extend, place_of, popped, without
from tfmemlint.interpreter.operations.members import report_missing
from tfmemlint.interpreter.operations.methods import MethodCall
from tfmemlint.interpreter.operations.objects import call_special
from tfmemlint.interpreter.operations.protocols import call_all, call_all_with
from tfmemlint.interpreter.registry import attribute_of, changes, item_of, method
from tfmemlint.interpreter.values import (
    UNKNOWN,
    Const,
    Device,
    Devices,
    Dict,
    Instance,
    Partial,
    Ref,
    Rows,
    Seq,
    Value,
    joined_row,
)
from tfmemlint.knowledge.data_model import ASKED


@item_of(Seq)
def item_of_list(context: Context, base: Seq, key: Value, node: ast.expr, written: ast.expr | None = None) -> Value:
    items = base.items
    if isinstance(key, Instance):
        key = call_special(context, key, "__index__", [], node) or UNKNOWN
    if isinstance(key, Const) and isinstance(key.value, int) and -len(items) <= key.value < len(items):
        return items[key.value]
    if isinstance(key, Const) and isinstance(key.value, int) and written is not None and _are_gpus(items):
        device_taken(context, key.value, key, node, written, "visible")
    return UNKNOWN


def _are_gpus(items: Sequence[Value]) -> bool:
    return bool(items) and all(isinstance(item, Device) and item.type == "GPU" for item in items)


@method(Seq, "copy")
def copy_of_list(context: Context, base: Seq, call: MethodCall) -> Value:
    values, _ = call.drained_arguments(context)
    return new_container(context, Seq(base.items, base.kind)) if not values else UNKNOWN


@attribute_of(Seq, Dict)
def method_of_container(context: Context, base: Seq | Dict, name: str, node: ast.AST) -> Value:
    if name in MUTATING and base.cell is not None:
        # It is passed on to be called: by a decorator, say.
        return Partial(Ref(f"list.{name}"), (base,), {})
    return UNKNOWN


@method(Seq)
@method(Dict)
@method(Devices)
def container_method(context: Context, base: Seq | Dict | Devices, call: MethodCall) -> Value:
    values, keywords = call.drained_arguments(context)
    if isinstance(base, Devices):
        report_missing(context, base, call.name, call.func, called=True)
    if call.name in MUTATING:
        for value in values:
            mark_escaped(context, value)
        if isinstance(base, (Seq, Dict)) and base.cell is not None:
            return change(context, base, call.name, values, keywords)
        target = call.func.value
        if isinstance(base, Seq) and call.name == "append" and len(values) == 1 and not context.loops:
            if dotted(target):
                context.assign(target, Seq((*base.items, values[0]), base.kind))
            return Const(None)
        if dotted(target):
            context.assign(target, UNKNOWN)
    return UNKNOWN


@method(Rows)
def method_of_rows(context: Context, base: Rows, call: MethodCall) -> Value:
    values, _ = call.drained_arguments(context)
    if context.state is None or call.name not in MUTATING:
        return UNKNOWN
    for value in values:
        mark_escaped(context, value)
        passed_to_unknown(context, value)
    row = joined_row(base.row, values[0]) if call.name == "append" and len(values) == 1 else None
    context.heap = {**context.heap, (base.cell, ""): UNKNOWN if row is None else Rows(row, base.cell)}
    return UNKNOWN


@changes(Seq, "append")
def append(context: Context, base: Seq, values: Sequence[Value], keywords: Mapping[str, Value]) -> Value:
    if base.kind != "list" or len(values) != 1:
        return change_unknown(context, base)
    change_items(context, base, lambda items: (*items, values[0]), values)
    return Const(None)


@changes(Seq, "add")
def add(context: Context, base: Seq, values: Sequence[Value], keywords: Mapping[str, Value]) -> Value:
    if len(values) != 1:
        return change_unknown(context, base)
    value = values[0]
    call_all(context, [value], ASKED["hash"], context.statement or context.unit.tree)
    change_items(context, base, lambda items: items if place_of(items, value) >= 0 else (*items, value), values)
    return Const(None)


@changes(Seq, "appendleft")
def append_left(context: Context, base: Seq, values: Sequence[Value], keywords: Mapping[str, Value]) -> Value:
    if len(values) != 1:
        return change_unknown(context, base)
    change_items(context, base, lambda items: (values[0], *items), values)
    return Const(None)


@changes(Seq, "extend", "update")
def extend_list(context: Context, base: Seq, values: Sequence[Value], keywords: Mapping[str, Value]) -> Value:
    if len(values) != 1:
        return change_unknown(context, base)
    extend(context, base, values[0])
    return Const(None)


@changes(Seq, "insert")
def insert(context: Context, base: Seq, values: Sequence[Value], keywords: Mapping[str, Value]) -> Value:
    match values:
        case [Const(int(place)), value]:
            change_items(context, base, lambda items: (*items[:place], value, *items[place:]), [value])
            return Const(None)
        case _:
            return change_unknown(context, base)


@changes(Seq, "remove", "discard")
def remove(context: Context, base: Seq, values: Sequence[Value], keywords: Mapping[str, Value]) -> Value:
    if len(values) != 1:
        return change_unknown(context, base)
    change_items(context, base, lambda items: without(items, values[0]))
    return Const(None)


@changes(Seq, "pop")
def pop(context: Context, base: Seq, values: Sequence[Value], keywords: Mapping[str, Value]) -> Value:
    match values:
        case []:
            return popped(context, base, -1)
        case [Const(int(place))]:
            return popped(context, base, place)
        case _:
            return change_unknown(context, base)


@changes(Seq, "popleft")
def pop_left(context: Context, base: Seq, values: Sequence[Value], keywords: Mapping[str, Value]) -> Value:
    return change_unknown(context, base) if values else popped(context, base, 0)


@changes(Seq, "clear")
def clear(context: Context, base: Seq, values: Sequence[Value], keywords: Mapping[str, Value]) -> Value:
    if values:
        return change_unknown(context, base)
    change_items(context, base, lambda items: ())
    return Const(None)


@changes(Seq, "reverse")
def reverse(context: Context, base: Seq, values: Sequence[Value], keywords: Mapping[str, Value]) -> Value:
    if values:
        return change_unknown(context, base)
    change_items(context, base, lambda items: items[::-1])
    return Const(None)


@changes(Seq, "sort")
def sort(context: Context, base: Seq, values: Sequence[Value], keywords: Mapping[str, Value]) -> Value:
    if "key" in keywords and context.frame is not None:
        node = context.statement if context.statement is not None else context.unit.tree
        call_sort_key(context, keywords["key"], base, node)
    elif len(base.items) > 1:
        call_all_with(context, base.items[:1], "__lt__", [UNKNOWN], context.statement or context.unit.tree)
    change_items(context, base, lambda items: items if len(items) < 2 else None)
    return Const(None)


@changes(Seq, "copy")
def copy_list(context: Context, base: Seq, values: Sequence[Value], keywords: Mapping[str, Value]) -> Value:
    return change_unknown(context, base) if values else new_container(context, Seq(base.items, base.kind))
