"""Coroutines: the body of an ``async def`` runs when its result is awaited."""

from __future__ import annotations

import ast

from tfmemlint.interpreter.context import Context
from tfmemlint.interpreter.operations.generators import consume
from tfmemlint.interpreter.operations.objects import call_special
from tfmemlint.interpreter.values import UNKNOWN, Instance, Lazy, Seq, Value


def awaited(context: Context, value: Value, node: ast.AST) -> Value:
    """Await a value; return its result."""
    if context.state is None:
        return UNKNOWN
    match value:
        case Lazy():
            return consume(context, value, lambda given: None)
        case Instance():
            result = call_special(context, value, "__await__", [], node)
            if isinstance(result, Lazy):
                consume(context, result, lambda given: None)
            return UNKNOWN
        case Seq(items):
            return Seq(tuple(awaited(context, item, node) for item in items), "list")
        case _:
            return value
