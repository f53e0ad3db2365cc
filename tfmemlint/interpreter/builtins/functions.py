"""Functions of ``functools`` that make functions."""

from __future__ import annotations

from tfmemlint.interpreter.context import Context
from tfmemlint.interpreter.operations.named_calls import WRAPPING
from tfmemlint.interpreter.registry import Invocation, builtin
from tfmemlint.interpreter.values import Partial, Value, is_called


@builtin("functools.partial")
def partial(context: Context, call: Invocation) -> Value | None:
    return Partial(call.values[0], tuple(call.values[1:]), dict(call.keywords)) if call.values else None


@builtin(*WRAPPING)
def wrapped(context: Context, call: Invocation) -> Value | None:
    return call.values[0] if call.values and is_called(call.values[0]) else None
