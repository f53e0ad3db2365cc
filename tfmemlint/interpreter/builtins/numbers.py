"""Built-in functions about numbers and lengths."""

from __future__ import annotations

from collections.abc import Sequence

from tfmemlint.interpreter.context import Context
from tfmemlint.interpreter.operations.constants import plain_values
from tfmemlint.interpreter.registry import Invocation, builtin
from tfmemlint.interpreter.values import UNKNOWN, Const, Count, Devices, Indices, Made, Seq, Value
from tfmemlint.knowledge.functions import RANKS


def _length(value: Value) -> Value:
    match value:
        case Devices():
            return Count(value)
        case Seq(items):
            return Const(len(items))
        case Const(constant) if isinstance(constant, (str, bytes)):
            return Const(len(constant))
        case _:
            return UNKNOWN


def _is_short(bounds: Sequence[int]) -> bool:
    """True if a range is short enough to be unrolled."""
    return 0 not in bounds[2:3] and len(range(*bounds[:3])) <= 8


@builtin("len")
def len_(context: Context, call: Invocation) -> Value | None:
    return _length(call.values[0]) if call.values else None


@builtin("range")
def range_(context: Context, call: Invocation) -> Value | None:
    values = call.values
    if len(values) == 1 and isinstance(values[0], Count):
        return Indices(values[0].of)
    plain = plain_values(values)
    if plain and all(isinstance(bound, int) and abs(bound) <= MAX_RANGE_BOUND for bound in plain) and _is_short(plain):
        return Seq(tuple(Const(number) for number in range(*plain[:3])), "range")
    return UNKNOWN


@builtin("str", "int")
def text_or_number(context: Context, call: Invocation) -> Value | None:
    values = call.values
    if len(values) == 1 and isinstance(values[0], Made) and values[0].name in RANKS:
        return values[0]
    return None


MAX_RANGE_BOUND = 1000
"""Bounds of a range beyond which it is not looked at: no number of devices is larger."""
