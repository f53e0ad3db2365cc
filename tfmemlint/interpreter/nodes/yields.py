"""``yield`` and ``yield from``."""

from __future__ import annotations

import ast

from tfmemlint.interpreter.context import Context
from tfmemlint.interpreter.operations.awaiting import awaited
from tfmemlint.interpreter.operations.generators import consume, yield_value
from tfmemlint.interpreter.operations.protocols import as_lazy
from tfmemlint.interpreter.registry import visits
from tfmemlint.interpreter.values import UNKNOWN, Lazy, Seq, Value


@visits(ast.Yield)
def visit_yield(context: Context, node: ast.Yield) -> Value:
    value = context.evaluate(node.value)
    if context.state is not None:
        yield_value(context, value)
    return UNKNOWN


@visits(ast.YieldFrom)
def visit_yield_from(context: Context, node: ast.YieldFrom) -> Value:
    value = context.evaluate(node.value)
    if context.state is None:
        return UNKNOWN
    if isinstance(value, Lazy):
        consume(context, value, lambda given: yield_value(context, given))
    elif isinstance(value, Seq):
        for item in value.items:
            yield_value(context, item)
    elif (lazy := as_lazy(context, value, node)) is not None:
        consume(context, lazy, lambda given: yield_value(context, given))
    else:
        yield_value(context, UNKNOWN)
    return UNKNOWN


@visits(ast.Await)
def visit_await(context: Context, node: ast.Await) -> Value:
    return awaited(context, context.evaluate(node.value), node)
