"""Matches of regular expressions in texts that are known."""

from __future__ import annotations

import ast

from tfmemlint.interpreter.context import Context
from tfmemlint.interpreter.operations.contents import new_container
from tfmemlint.interpreter.operations.methods import MethodCall
from tfmemlint.interpreter.registry import item_of, method
from tfmemlint.interpreter.values import UNKNOWN, Const, Dict, Seq, TextMatch, Value


@method(TextMatch, "group")
def group(context: Context, base: TextMatch, call: MethodCall) -> Value:
    values, keywords = call.drained_arguments(context)
    found = tuple(_group(base, value) for value in values or [Const(0)])
    return UNKNOWN if keywords else found[0] if len(found) == 1 else Seq(found, "tuple")


@method(TextMatch, "groups")
def groups(context: Context, base: TextMatch, call: MethodCall) -> Value:
    values, keywords = call.drained_arguments(context)
    default = keywords.get("default", values[0] if values else Const(None))
    return Seq(tuple(default if text is None else Const(text) for text in base.groups[1:]), "tuple")


@method(TextMatch, "groupdict")
def group_dict(context: Context, base: TextMatch, call: MethodCall) -> Value:
    values, keywords = call.drained_arguments(context)
    default = keywords.get("default", values[0] if values else Const(None))
    items = {name: base.groups[number] for name, number in base.names.items()}
    return new_container(
        context, Dict({name: default if text is None else Const(text) for name, text in items.items()})
    )


@item_of(TextMatch)
def item_of_match(
    context: Context, base: TextMatch, key: Value, node: ast.expr, written: ast.expr | None = None
) -> Value:
    return _group(base, key)


def _group(base: TextMatch, key: Value) -> Value:
    number = key.value if isinstance(key, Const) else None
    if isinstance(number, str):
        number = base.names.get(number)
    known = isinstance(number, int) and 0 <= number < len(base.groups)
    return Const(base.groups[number]) if known and number is not None else UNKNOWN
