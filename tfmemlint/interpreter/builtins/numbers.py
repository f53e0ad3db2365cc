"""Built-in functions about numbers and lengths."""

from __future__ import annotations

from collections.abc import Sequence

from tfmemlint.facts import folding
from tfmemlint.interpreter.context import Context
from tfmemlint.interpreter.operations.amounts import as_number, as_text
from tfmemlint.interpreter.operations.config_files import text_of_list
from tfmemlint.interpreter.operations.constants import plain_values
from tfmemlint.interpreter.operations.options import as_options, of_each
from tfmemlint.interpreter.operations.text_truth import truth_of_text
from tfmemlint.interpreter.registry import Invocation, builtin
from tfmemlint.interpreter.values import (
    TRUTH,
    UNKNOWN,
    Amount,
    Const,
    Count,
    CountPlus,
    Devices,
    FilePath,
    Index,
    Indices,
    Made,
    NumberedName,
    Seq,
    Unknown,
    Value,
)
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


def _indices(values: Sequence[Value]) -> Value | None:
    """Return the numbers of devices that a range goes through."""
    if len(values) not in (1, 2):
        return None
    start, stop = values if len(values) == 2 else (Const(0), values[0])
    if not isinstance(stop, (Count, CountPlus)) or not isinstance(start, Const) or type(start.value) is not int:
        return None
    first, plus = start.value, stop.plus if isinstance(stop, CountPlus) else 0
    if first < 0:
        return None
    if plus == first:
        return Indices(stop.of, first)
    if plus == 0:
        return Indices(stop.of, skipped=first)
    return Indices(stop.of, extra=plus) if plus > 0 and first == 0 else None


@builtin("len")
def len_(context: Context, call: Invocation) -> Value | None:
    return _length(call.values[0]) if call.values else None


@builtin("range")
def range_(context: Context, call: Invocation) -> Value | None:
    values = call.values
    counted = _indices(values)
    if counted is not None:
        return counted
    plain = plain_values(values)
    if plain and all(isinstance(bound, int) and abs(bound) <= MAX_RANGE_BOUND for bound in plain) and _is_short(plain):
        return Seq(tuple(Const(number) for number in range(*plain[:3])), "range")
    return UNKNOWN


@builtin("bool")
def truth(context: Context, call: Invocation) -> Value | None:
    if len(call.values) != 1:
        return None
    told = truth_of_text(context, call.values[0], call.node)
    return TRUTH if told is None and isinstance(call.values[0], Unknown) else told


@builtin("repr", "ascii", "format")
def text_of_option(context: Context, call: Invocation) -> Value | None:
    """Return the texts that a number, or one of a few values, may become."""
    if len(call.values) == 1 and isinstance(number := call.values[0], Const) and isinstance(number.value, int):
        return Const(repr(number.value))
    if len(call.values) == 1 and (listed := text_of_list(call.values[0])) is not None:
        return listed
    option = as_options(call.values[0]) if len(call.values) == 1 else None
    return None if option is None else of_each(option, format if call.name == "format" else repr)


@builtin("str", "int")
def text_or_number(context: Context, call: Invocation) -> Value | None:
    values = call.values
    if len(values) == 1 and isinstance(values[0], Made) and values[0].name in RANKS:
        return values[0]
    if len(values) == 1 and isinstance(values[0], Index):
        return values[0] if call.name == "int" else NumberedName("", values[0])
    option = as_options(values[0]) if len(values) == 1 else None
    if option is not None:
        return of_each(option, lambda each: folding.function(call.name, [each]))
    if len(values) == 1 and call.name == "str" and (listed := text_of_list(values[0])) is not None:
        return listed
    if len(values) == 1 and isinstance(values[0], Amount):
        return as_number(values[0], whole=True) if call.name == "int" else as_text(values[0])
    if len(values) == 1 and call.name == "str" and isinstance(values[0], FilePath):
        return values[0]
    if len(values) == 1 and call.name == "int" and type(values[0]) is Unknown:
        return Amount("number", source="int()")
    return None


MAX_RANGE_BOUND = 1000
"""Bounds of a range beyond which it is not looked at: no number of devices is larger."""
