"""Lists, tuples, sets and dictionaries that are written out."""

from __future__ import annotations

import ast

from tfmemlint.interpreter.context import Context
from tfmemlint.interpreter.operations.contents import mark_escaped, new_container
from tfmemlint.interpreter.registry import visits
from tfmemlint.interpreter.values import UNKNOWN, Const, Dict, Seq, Value


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
    items: list[Value] = []
    known = True
    for element in elements:
        if isinstance(element, ast.Starred):
            inner = context.evaluate(element.value)
            if isinstance(inner, Seq):
                items.extend(inner.items)
            else:
                known = False
        else:
            items.append(context.evaluate(element))
    for item in items:
        mark_escaped(context, item)
    return new_container(context, Seq(tuple(items), kind)) if known else UNKNOWN


@visits(ast.Dict)
def visit_dict(context: Context, node: ast.Dict) -> Value:
    items: dict[str, Value] = {}
    is_open = False
    for key, element in zip(node.keys, node.values, strict=True):
        name = context.evaluate(key) if key is not None else UNKNOWN
        value = context.evaluate(element)
        # What is in a container may go anywhere with it.
        mark_escaped(context, value)
        if isinstance(name, Const) and isinstance(name.value, str):
            items[name.value] = value
        else:
            is_open = True
    return new_container(context, Dict(items, is_open))
