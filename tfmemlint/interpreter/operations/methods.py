"""Calls of methods of values that are known."""

from __future__ import annotations

from tfmemlint.interpreter.context import Context
from tfmemlint.interpreter.operations.arguments import MethodCall
from tfmemlint.interpreter.registry import ANY_METHOD, METHODS
from tfmemlint.interpreter.values import Value


def call_method(context: Context, base: Value, call: MethodCall) -> Value | None:
    """Call a method of a value; return its result, or None where no handler takes the call."""
    kind = type(base)
    handler = METHODS.get((kind, call.func.attr)) or METHODS.get((kind, ANY_METHOD))
    result: Value | None = handler(context, base, call) if handler is not None else None
    return result
