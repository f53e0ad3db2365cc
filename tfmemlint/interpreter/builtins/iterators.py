"""Built-in functions that make iterators, or go through them."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from dataclasses import replace
from itertools import product
from math import prod
from types import NoneType

from tfmemlint.interpreter.context import Context
from tfmemlint.interpreter.operations.contents import new_container
from tfmemlint.interpreter.operations.generators import drain, first_of, piece_run_later, yield_value
from tfmemlint.interpreter.operations.iteration import iterate
from tfmemlint.interpreter.operations.library import in_library
from tfmemlint.interpreter.operations.lists import same_items
from tfmemlint.interpreter.operations.methods import MethodCall
from tfmemlint.interpreter.registry import Invocation, builtin, consumes, method
from tfmemlint.interpreter.values import (
    UNKNOWN,
    Const,
    Devices,
    Indices,
    Instance,
    Lazy,
    PassNumbers,
    Ref,
    Seq,
    Value,
    Zipped,
    is_large,
)


def _reduced(context: Context, function: Value, values: Sequence[Value], node: ast.AST) -> Value:
    if not values or any(isinstance(value, Lazy) for value in values):
        return UNKNOWN
    result = values[0]
    for value in values[1:]:
        result = context.call(function, [result, value], {}, node)
    return result


def _mapped(context: Context, function: Value, iterable: Value, node: ast.AST, *, spread: bool = False) -> Value:
    """Interpret ``map(function, iterable)``."""

    def run() -> Value:
        def bind(value: Value) -> None:
            item[:] = [value]

        def body() -> None:
            given = list(item[0].items) if spread and isinstance(item[0], Seq) else item
            values.append(context.call(function, given, {}, node))
            yield_value(context, values[-1])

        item: list[Value] = []
        values: list[Value] = []
        iterate(context, node, iterable, bind, body, frozenset())
        known = isinstance(iterable, Seq) and len(values) == len(iterable.items)
        return new_container(context, Seq(tuple(values), "list")) if known else UNKNOWN

    return piece_run_later(context, node, run, function)


@builtin("map")
def map_(context: Context, call: Invocation) -> Value | None:
    if len(call.values) > 2:
        return _mapped(context, call.values[0], Zipped(tuple(call.values[1:])), call.node, spread=True)
    return _mapped(context, call.values[0], call.values[1], call.node) if len(call.values) == 2 else None


@builtin("filter")
def filter_(context: Context, call: Invocation) -> Value | None:
    if len(call.values) != 2 or not isinstance(call.values[1], (Seq, Lazy, Instance, Devices)):
        return None
    kept = context.call(in_library(Ref("_builtins.filter")), call.values, {}, call.node)
    return replace(kept, code=call.values[0]) if isinstance(kept, Lazy) else kept


@builtin("iter")
def iter_(context: Context, call: Invocation) -> Value | None:
    if len(call.values) == 2:
        return context.call(in_library(Ref("_builtins.iter")), call.values, {}, call.node)
    return same_items(context, call.name, call.values[0]) if call.values else None


@method(Lazy, "__next__", "__enter__")
def next_of(context: Context, base: Lazy, call: MethodCall) -> Value:
    call.arguments(context)
    return first_of(context, base)


@builtin("enumerate")
def enumerate_(context: Context, call: Invocation) -> Value | None:
    if not call.values:
        return None
    first, start = call.values[0], call.argument(1, "start")
    known = start is None or (isinstance(start, Const) and type(start.value) is int and start.value >= 0)
    offset = start.value if isinstance(start, Const) and known else 0
    numbers = (Indices(first, offset) if isinstance(first, Devices) else PassNumbers(offset)) if known else UNKNOWN
    zipped = Zipped((numbers, first), made=(context.source.path, context.span(call.node)))
    return UNKNOWN if is_large(zipped) else zipped


@builtin("itertools.islice")
def islice_(context: Context, call: Invocation) -> Value | None:
    """Interpret ``islice`` of all devices with numbers as the slice that it is."""
    devices, *bounds = call.values or [UNKNOWN]
    numbers = [bound.value for bound in bounds if isinstance(bound, Const) and isinstance(bound.value, (int, NoneType))]
    if (
        not isinstance(devices, Devices)
        or not devices.whole
        or len(numbers) != len(bounds)
        or len(bounds) not in (1, 2)
    ):
        return None
    start, stop = (0, numbers[0]) if len(numbers) == 1 else (numbers[0] or 0, numbers[1])
    return Devices(devices.kind, devices.type, start == 0 and stop is None, devices.names, stop, start)


@builtin("itertools.product")
def product_(context: Context, call: Invocation) -> Value | None:
    """Interpret the product of lists that are known, up to `_MOST_COMBINATIONS`."""
    lists = [value.items for value in call.values if isinstance(value, Seq)]
    if len(lists) != len(call.values) or call.keywords or prod(map(len, lists)) > _MOST_COMBINATIONS:
        return None
    return Seq(tuple(Seq(items, "tuple") for items in product(*lists)))


_MOST_COMBINATIONS = 32


@builtin("zip")
def zip_(context: Context, call: Invocation) -> Value | None:
    zipped = Zipped(tuple(call.values), made=(context.source.path, context.span(call.node)))
    return UNKNOWN if is_large(zipped) else zipped


@consumes("next")
def next_(context: Context, call: Invocation) -> Value:
    return first_of(context, lazy_argument(call))


@consumes("iter", "tqdm", "tqdm.tqdm", "tqdm.auto.tqdm", "reversed")
def passed_on(context: Context, call: Invocation) -> Value:
    return call.values[0]


@consumes("enumerate")
def enumerate_lazily(context: Context, call: Invocation) -> Value:
    lazy = lazy_argument(call)
    return Lazy(lambda on_yield: lazy.run(lambda value: on_yield(Seq((UNKNOWN, value), "tuple"))), lazy.quiet)


@consumes("list", "tuple")
def collected(context: Context, call: Invocation) -> Value:
    value = drain(context, lazy_argument(call))
    return Seq(value.items, call.name) if isinstance(value, Seq) else value


@consumes("set", "sorted")
def collected_anew(context: Context, call: Invocation) -> Value:
    return drain(context, lazy_argument(call))


@consumes("frozenset", "sum", "min", "max", "dict", "collections.deque")
def drained(context: Context, call: Invocation) -> Value:
    drain(context, lazy_argument(call))
    return UNKNOWN


@consumes("any", "all")
def drained_until(context: Context, call: Invocation) -> Value:
    """Go on until a value is true, or is not; one that is not known is taken to go on."""
    ends_at = call.name == "any"
    first_of(context, lazy_argument(call), lambda value: isinstance(value, Const) and bool(value.value) is ends_at)
    return UNKNOWN


def lazy_argument(call: Invocation) -> Lazy:
    """Return the generator that a function is given."""
    lazy = call.values[0]
    assert isinstance(lazy, Lazy)
    return lazy


@builtin("functools.reduce")
def reduce(context: Context, call: Invocation) -> Value | None:
    match call.values:
        case [function, Seq(items), *first]:
            return _reduced(context, function, [*first, *items], call.node)
        case _:
            return None
