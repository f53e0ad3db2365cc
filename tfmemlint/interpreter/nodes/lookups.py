"""Attributes, items and slices."""

from __future__ import annotations

import ast

from tfmemlint.interpreter.context import Context
from tfmemlint.interpreter.operations.amounts import named
from tfmemlint.interpreter.operations.chains import attribute_chain
from tfmemlint.interpreter.operations.constants import fold, index_constant
from tfmemlint.interpreter.operations.contents import new_container
from tfmemlint.interpreter.registry import visits
from tfmemlint.interpreter.values import UNKNOWN, Const, Devices, Instance, Seq, Value


@visits(ast.Attribute)
def visit_attribute(context: Context, node: ast.Attribute) -> Value:
    return named(node, attribute_chain(context, node, called=False))


@visits(ast.Subscript)
def visit_subscript(context: Context, node: ast.Subscript) -> Value:
    base = context.evaluate(node.value)
    if isinstance(node.slice, ast.Slice):
        for part in (node.slice.lower, node.slice.upper, node.slice.step):
            if part is not None:
                context.evaluate(part)
        if isinstance(base, Instance) and context.state is not None:
            return context.item(base, UNKNOWN, node, node.slice)
        return _sliced(context, base, node.slice)
    return named(node, context.item(base, context.evaluate(node.slice), node, node.slice))


def _sliced(context: Context, base: Value, part: ast.Slice) -> Value:
    if isinstance(base, Devices):
        whole = base.whole and part.lower is None and part.upper is None
        known = _slice_bounds(context, part) if base.whole and part.step is None else None
        if known is None:
            return Devices(base.kind, base.type, whole, base.names)
        start, stop = known.start or 0, known.stop
        if start < 0:
            most = -start if stop is None or stop >= 0 else max(stop - start, 0)
            return Devices(base.kind, base.type, whole, base.names, most=most)
        if stop is not None and stop < 0:
            return Devices(base.kind, base.type, whole, base.names, skip=start, last=-stop)
        return Devices(base.kind, base.type, whole, base.names, stop, start)
    bounds = _slice_bounds(context, part)
    if bounds is not None and isinstance(base, Seq):
        return new_container(context, Seq(base.items[bounds], base.kind))
    if bounds is not None and isinstance(base, Const):
        return fold(lambda: index_constant(base.value, bounds))
    return UNKNOWN


def _slice_bounds(context: Context, part: ast.Slice) -> slice | None:
    edges: list[int | None] = []
    for node in (part.lower, part.upper, part.step):
        value = Const(None) if node is None else context.last_values.get(id(node))
        if not isinstance(value, Const) or not isinstance(value.value, (int, type(None))):
            return None
        edges.append(value.value)
    return None if edges[2] == 0 else slice(*edges)
