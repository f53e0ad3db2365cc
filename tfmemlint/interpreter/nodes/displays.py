"""Lists, tuples, sets and dictionaries that are written out."""

from __future__ import annotations

import ast
from collections.abc import Hashable

from tfmemlint.interpreter.context import Context
from tfmemlint.interpreter.operations.amounts_told import is_memory, told_by_name, told_in_cell
from tfmemlint.interpreter.operations.contents import mark_escaped, new_container
from tfmemlint.interpreter.operations.devices import put_together
from tfmemlint.interpreter.operations.objects import call_special
from tfmemlint.interpreter.operations.protocols import collected
from tfmemlint.interpreter.registry import visits
from tfmemlint.interpreter.values import MAX_VALUES_HELD, NO_KEY, UNKNOWN, Amount, Const, Dict, Seq, Value, key_of


@visits(ast.List)
def visit_list(context: Context, node: ast.List) -> Value:
    return _sequence_display(context, node.elts, "list")


@visits(ast.Tuple)
def visit_tuple(context: Context, node: ast.Tuple) -> Value:
    return _sequence_display(context, node.elts, "tuple")


@visits(ast.Set)
def visit_set(context: Context, node: ast.Set) -> Value:
    return _sequence_display(context, node.elts, "set")


def _sequence_display(context: Context, elements: list[ast.expr], kind: str) -> Value:
    if len(elements) > MAX_VALUES_HELD:
        # A table of data: its numbers and strings are no steps.
        for element in elements:
            if not isinstance(element, ast.Constant):
                mark_escaped(context, context.evaluate(element))
        return UNKNOWN
    items: list[Value] = []
    known = True
    for element in elements:
        if isinstance(element, ast.Starred):
            inner = context.evaluate(element.value)
            if isinstance(inner, Seq):
                items.extend(inner.items)
            else:
                if context.state is not None:
                    collected(context, inner, element)
                items.append(inner)
                known = False
        else:
            items.append(context.evaluate(element))
            if kind != "set" and is_memory(items[-1]):
                told_in_cell(context, element, items[-1])
    for item in items:
        mark_escaped(context, item)
        if kind == "set":
            call_special(context, item, "__hash__", [], elements[0])
    if not known:
        return (put_together(items) if kind != "set" else None) or UNKNOWN
    return new_container(context, Seq(tuple(items), kind))


@visits(ast.Dict)
def visit_dict(context: Context, node: ast.Dict) -> Value:
    items: dict[Hashable, Value] = {}
    is_open = False
    for key, element in zip(node.keys, node.values, strict=True):
        name = context.evaluate(key) if key is not None else UNKNOWN
        value = context.evaluate(element)
        if isinstance(value, Amount) and isinstance(name, Const) and isinstance(name.value, str):
            value = told_by_name(context, element, value, name.value)
        # What is in a container may go anywhere with it.
        mark_escaped(context, value)
        if key is not None:
            call_special(context, name, "__hash__", [], key)
        elif isinstance(value, Dict):
            items.update(value.items)
            is_open = is_open or value.open
            continue
        known = key_of(name)
        if known is not NO_KEY:
            items[known] = value
        else:
            is_open = True
    return new_container(context, Dict(items, is_open))
