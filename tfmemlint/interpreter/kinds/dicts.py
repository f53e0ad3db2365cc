"""Dictionaries: their items and methods."""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence

from tfmemlint.interpreter.context import Context
from tfmemlint.interpreter.operations.changes import change_unknown
from tfmemlint.interpreter.operations.contents import Container, alter, forget_contents, new_container
from tfmemlint.interpreter.operations.device_tests import report_looked_up
from tfmemlint.interpreter.operations.dicts import found_item, set_key, view_of, without_key
from tfmemlint.interpreter.operations.methods import MethodCall
from tfmemlint.interpreter.operations.never_run import report_missing_key
from tfmemlint.interpreter.registry import changes, item_of, method
from tfmemlint.interpreter.values import (
    NO_KEY,
    UNKNOWN,
    Class,
    Const,
    DeviceName,
    Dict,
    FileItems,
    FileValue,
    Function,
    Seq,
    Value,
    choose,
    key_of,
    value_of_key,
)


def any_function(base: Dict) -> Value:
    """Return what an unknown key of a table of functions may lead to: any of them."""
    values = list(base.items.values())
    plain = values and not base.open and all(isinstance(value, (Function, Class)) for value in values)
    return choose(values) if plain else UNKNOWN


def _dict_item(context: Context, base: Dict, key: Value, node: ast.expr) -> Value:
    known = key_of(key)
    if known is NO_KEY and isinstance(key, FileValue) and isinstance(key.value, str):
        known = key.value if key.value in base.items else NO_KEY
    if isinstance(key, DeviceName) and not base.open and base.default is None:
        report_looked_up(context, node, key, "found", tuple(base.items))
    if known is NO_KEY:
        return any_function(base)
    found = base.items.get(known)
    if found is None and base.default is not None and not base.open and base.cell is not None:
        found = context.call(base.default, [], {}, node)
        set_key(context, base, key, found)
    return found if found is not None else UNKNOWN


@item_of(Dict)
def item_of_dict(context: Context, base: Dict, key: Value, node: ast.expr, written: ast.expr | None = None) -> Value:
    return _dict_item(context, base, key, node)


@method(Dict, "get")
def get(context: Context, base: Dict, call: MethodCall) -> Value:
    values, _ = call.drained_arguments(context)
    if values and isinstance(values[0], FileValue) and isinstance(values[0].value, str):
        # Of a dictionary that a file has, another file has other keys.
        values = [Const(values[0].value), *values[1:]] if not base.open else values
    if (
        values
        and isinstance(values[0], DeviceName)
        and not base.open
        and report_looked_up(context, call.node, values[0], "value", tuple(base.items))
    ):
        return values[1] if len(values) > 1 else Const(None)
    report_missing_key(context, base, values, call.node)
    return found_item(base, values) if values else UNKNOWN


@method(Dict, "copy")
def copy_of_dict(context: Context, base: Dict, call: MethodCall) -> Value:
    values, keywords = call.drained_arguments(context)
    return copy_dict(context, base, values, keywords) if not values else UNKNOWN


def _unknown_contents(content: Container) -> Value:
    return Dict({}, True, None, content.cell)


@method(Dict, "items", "keys", "values")
def view_of_dict(context: Context, base: Dict, call: MethodCall) -> Value:
    call.drained_arguments(context)
    if not base.open:
        return Seq(view_of(base, call.name), "view")
    for inner in base.items.values() if call.name != "keys" else ():
        # Whoever goes through it may change what is in it.
        if isinstance(inner, Dict) and inner.cell is not None:
            alter(context, inner, _unknown_contents)
    return FileItems(view_of(base, "items")) if base.file and call.name == "items" else UNKNOWN


@changes(Dict, "setdefault")
def set_default(context: Context, base: Dict, values: Sequence[Value], keywords: Mapping[str, Value]) -> Value:
    match values:
        case [given, *rest] if key_of(given) is not NO_KEY:
            key = key_of(given)
        case _:
            return change_unknown(context, base, values, keywords)
    if key in base.items:
        return base.items[key]
    value = rest[0] if rest else Const(None)
    if base.open:
        set_key(context, base, given, UNKNOWN)
        forget_contents(context, value)
        return UNKNOWN
    set_key(context, base, given, value)
    return value


@changes(Dict, "pop")
def pop_key(context: Context, base: Dict, values: Sequence[Value], keywords: Mapping[str, Value]) -> Value:
    match values:
        case [given, *rest] if key_of(given) is not NO_KEY:
            key = key_of(given)
            value = base.items.get(key, UNKNOWN if base.open or not rest else rest[0])
            alter(context, base, lambda content: without_key(content, key))
            return value
        case _:
            return change_unknown(context, base, values, keywords)


@changes(Dict, "update")
def update(context: Context, base: Dict, values: Sequence[Value], keywords: Mapping[str, Value]) -> Value:
    match values:
        case [] | [Dict(open=False)]:
            given = {**(values[0].items if values and isinstance(values[0], Dict) else {}), **keywords}
            for key, value in given.items():
                set_key(context, base, value_of_key(key), value)
            return Const(None)
        case _:
            return change_unknown(context, base, values, keywords)


@changes(Dict, "clear")
def clear_dict(context: Context, base: Dict, values: Sequence[Value], keywords: Mapping[str, Value]) -> Value:
    if values:
        return change_unknown(context, base, values, keywords)
    alter(context, base, lambda content: Dict({}, False, base.default, base.cell))
    return Const(None)


@changes(Dict, "copy")
def copy_dict(context: Context, base: Dict, values: Sequence[Value], keywords: Mapping[str, Value]) -> Value:
    if values:
        return change_unknown(context, base, values, keywords)
    return new_container(context, Dict(base.items, base.open, base.default))
