"""Loops: how often a body is interpreted, and the values of its variable."""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial

from tfmemlint.facts.tree_walk import nodes
from tfmemlint.interpreter.context import Context
from tfmemlint.interpreter.frames import Loop
from tfmemlint.interpreter.limits import (
    MAX_CODE_ITEMS_UNROLLED,
    MAX_DEVICES_UNROLLED,
    MAX_FILE_ITEMS_UNROLLED,
    MAX_ITEMS_UNROLLED,
    MAX_NESTED_SECOND_PASSES,
)
from tfmemlint.interpreter.observer import Decision, Reason
from tfmemlint.interpreter.operations.config_files import lines_of, listed
from tfmemlint.interpreter.operations.exceptions import leave
from tfmemlint.interpreter.operations.exhausted import is_exhausted, note_exhausted, report_exhausted
from tfmemlint.interpreter.operations.generators import consume, iterate_lazy
from tfmemlint.interpreter.operations.paths import doubtful, for_each_option, merge, snapshot
from tfmemlint.interpreter.operations.protocols import as_lazy, members_of
from tfmemlint.interpreter.operations.side_effects import havoc
from tfmemlint.interpreter.values import (
    EACH,
    UNKNOWN,
    Amount,
    Choice,
    Class,
    Device,
    DeviceName,
    Devices,
    Dict,
    Fields,
    FileContent,
    FileItems,
    FileValue,
    Index,
    Indices,
    Instance,
    Lazy,
    PassNumber,
    PassNumbers,
    Rows,
    Seq,
    Value,
    Zipped,
    is_called,
    value_of_key,
)


def iterate(
    context: Context,
    node: ast.AST,
    iterable: Value,
    bind: Callable[[Value], None],
    body: Callable[[], None],
    rebound: frozenset[str],
) -> None:
    """Interpret a loop: item by item over known items, otherwise twice, since a second pass can be too late."""
    if context.state is None:
        return
    iterable = listed(context.current(iterable))
    if isinstance(iterable, FileContent):
        iterable = lines_of(context, iterable)
    if isinstance(iterable, (Instance, Class)):
        iterable = members_of(context, iterable) or as_lazy(context, iterable, node) or UNKNOWN
    elif isinstance(iterable, Zipped) and not iterable.listed:
        _iterate_zipped(context, node, iterable, bind, body, rebound)
        return
    _iterate_known(context, node, iterable, bind, body, rebound)


def _iterate_zipped(
    context: Context,
    node: ast.AST,
    zipped: Zipped,
    bind: Callable[[Value], None],
    body: Callable[[], None],
    rebound: frozenset[str],
) -> None:
    """Interpret a loop over what is an iterator itself, which has its items once."""
    if is_exhausted(context, zipped):
        report_exhausted(context, node, zipped)
        return
    _iterate_known(context, node, _zipped_lazily(context, zipped, node) or zipped, bind, body, rebound)
    if not any(isinstance(part, ast.Break) for part in nodes(node)):
        note_exhausted(context, node, zipped)


def _iterate_known(
    context: Context,
    node: ast.AST,
    iterable: Value,
    bind: Callable[[Value], None],
    body: Callable[[], None],
    rebound: frozenset[str],
) -> None:
    """Interpret a loop over a value of which it is known what it is, as far as it is known at all."""
    if isinstance(iterable, Lazy):
        iterate_lazy(context, node, iterable, bind, body, rebound)
        return
    if isinstance(iterable, Choice):
        # What is in it has been looked at: a list whose items differ from way to way is the same list on each.
        for_each_option(
            context, _without_cells(iterable), lambda option: _iterated(context, node, option, bind, body, rebound)
        )
        return
    if isinstance(iterable, Seq) and iterable.kind == "set" and len(iterable.items) > 1 and is_called(iterable):
        # Nobody knows in which order.
        orders = Choice((Seq(iterable.items, "tuple"), Seq(iterable.items[::-1], "tuple")))
        for_each_option(context, orders, lambda option: _iterated(context, node, option, bind, body, rebound))
        return
    if isinstance(iterable, FileItems) and _only_copies(node) and len(iterable.pairs) <= MAX_FILE_ITEMS_UNROLLED:
        run_loop(
            context,
            node,
            [partial(_bound, bind, pair) for pair in iterable.pairs],
            body,
            rebound,
            False,
            True,
            each=True,
        )
        return
    cell = iterable.cell if isinstance(iterable, (Seq, Dict)) else None
    content = context.heap.get((cell, "")) if cell is not None else None
    passes = _elements(iterable)
    if _has_one_pass(context):
        # What stands under a test for a later pass is seen in the only one.
        passes = [(_without_number(value), repeated) for value, repeated in passes]
    over_devices = any(_has_device(value) for value, _ in passes)
    definite = (
        bool(passes)
        and passes[0][0] is not UNKNOWN
        and not isinstance(passes[0][0], Fields)
        and not isinstance(iterable, Rows)
    )
    if (isinstance(iterable, Seq) and not iterable.items) or (context.here.max_gpus == 0 and _is_of_gpus(iterable)):
        return
    each = isinstance(iterable, (Seq, Dict)) and len(passes) == len(iterable.items)
    run_loop(
        context,
        node,
        [partial(_bound, bind, value) for value, _ in passes],
        body,
        rebound,
        over_devices,
        definite,
        each=each,
    )
    if cell is not None and is_called(iterable) and context.heap.get((cell, "")) is not content:
        # It was changed meanwhile: what it is asked for next depends on how.
        havoc(context)


def _bound(bind: Callable[[Value], None], value: Value) -> bool:
    bind(value)
    return True


_COPYING = frozenset({"setattr", "isinstance", "str", "int", "float", "bool", "hasattr", "print", "len"})
"""Functions that a loop calls which takes the values of a file over."""


def _only_copies(node: ast.AST) -> bool:
    """True for a loop that puts values elsewhere and does nothing else: what a file lacks is then only not put."""
    if not isinstance(node, ast.For):
        return False
    for part in (part for statement in node.body for part in ast.walk(statement)):
        if isinstance(part, ast.stmt) and not isinstance(part, (ast.Assign, ast.Expr, ast.If, ast.Pass)):
            return False
        if isinstance(part, ast.Call) and not (isinstance(part.func, ast.Name) and part.func.id in _COPYING):
            method = part.func.attr if isinstance(part.func, ast.Attribute) else ""
            if method not in ("upper", "lower", "strip", "replace", "setdefault", "putenv"):
                return False
    return True


def _zipped_lazily(context: Context, zipped: Zipped, node: ast.AST) -> Lazy | None:
    """Return what goes through values of which one is a generator or an object; None if none of them is."""
    lazies = [
        (place, part if isinstance(part, Lazy) else as_lazy(context, part, node))
        for place, part in enumerate(zipped.parts)
        if isinstance(part, (Lazy, Instance))
    ]
    place, lazy = next(((place, lazy) for place, lazy in lazies if lazy is not None), (0, None))
    if lazy is None:
        return None
    count = len(zipped.parts)

    def run(on_yield: Callable[[Value], None]) -> Value:
        for _, other in lazies:
            if other is not None and other is not lazy:
                consume(context, other, lambda value: None)
        return consume(
            context,
            lazy,
            lambda value: on_yield(Seq(tuple(value if at == place else UNKNOWN for at in range(count)), "tuple")),
        )

    return Lazy(run, lazy.quiet)


def _iterated(
    context: Context,
    node: ast.AST,
    iterable: Value,
    bind: Callable[[Value], None],
    body: Callable[[], None],
    rebound: frozenset[str],
) -> Value:
    iterate(context, node, iterable, bind, body, rebound)
    return UNKNOWN


def run_loop(
    context: Context,
    node: ast.AST,
    passes: Sequence[Callable[[], bool]],
    body: Callable[[], None],
    rebound: frozenset[str],
    over_devices: bool,
    definite: bool,
    endless: bool = False,
    each: bool = False,
) -> None:
    """Interpret the passes of a loop; with ``each``, it has exactly these."""
    before = snapshot(context)
    graphs = context.here.graphs
    loop = Loop(node, len(context.frames), over_devices, rebound, each=each)
    deep = _has_one_pass(context)
    context.loops.append(loop)
    ends = []
    for number, enter in enumerate(passes):
        if number and (deep or context.state is None):
            if deep:
                context.tell_branch(getattr(node, "iter", node), Decision.NOT_TAKEN, Reason.LOOP_LIMIT)
            break
        loop.repeated = number > 0
        # Some ways may have left the loop by now.
        unsure = not definite or bool(loop.breaks) or (number > 0 and not over_devices and not each)
        if number > 0 and not over_devices and not each:
            # There need not be another pass.
            ends.append(snapshot(context))
        if number:
            context.tell_branch(
                getattr(node, "iter", node),
                Decision.BOTH if unsure else Decision.TAKEN,
                Reason.LOOP_MAY_END if unsure else Reason.LOOP_PASS,
            )
        with doubtful(context, doubt=unsure):
            if enter():
                body()
        for skipped in loop.continues:
            merge(context, skipped)
        loop.continues.clear()
    context.loops.pop()
    if endless and any(frame.on_yield is not None for frame in context.frames):
        # Whoever iterates over an endless generator ends it.
        context.state = None
    elif endless:
        leave(context, certain=not loop.breaks)
    else:
        for end in ends:
            merge(context, end)
        if not definite:
            merge(context, before)
    for left in loop.breaks:
        merge(context, left)
    if context.state is not None and context.state.graphs != graphs:
        context.state = replace(context.state, graphs=graphs)


def _elements(iterable: Value) -> list[tuple[Value, bool]]:
    """Return the values of a loop's variable, each with whether it is a repetition; two UNKNOWN if not known."""
    match iterable:
        case Seq(items) if items and len(items) <= _most_items(iterable):
            return [(item, position > 0) for position, item in enumerate(items)]
        case Dict(items, open=False) if items and len(items) <= _most_items(iterable):
            return [(value_of_key(key), position > 0) for position, key in enumerate(items)]
        case Devices(numbers=range() as numbers) if 0 < len(numbers) <= MAX_DEVICES_UNROLLED:
            return _numbered_devices(iterable, numbers)
        case Devices(kind=kind, type=type_, whole=whole, names=names):
            part = f"[{iterable.skip}:]" if iterable.skip and not iterable.last else "some"
            first = Device(kind, type_, 0 if whole else part, loop=True)
            rest = Device(kind, type_, EACH if whole else part, loop=True)
            pair: list[Value] = [DeviceName(first), DeviceName(rest)] if names else [first, rest]
            return [(pair[0], False), (pair[1], True)]
        case Fields(fields={}, rest=Fields() as each) | Rows(each):
            return [(each, False), (each, True)]
        case Indices(of, offset, skipped, extra):
            some = skipped or not of.whole
            low, high = (f"[{skipped}:]" if skipped and of.whole else "some",) * 2 if some else (0, EACH)
            indices: list[tuple[Value, bool]] = [
                (Index(Device(of.kind, of.type, low, loop=True), offset), False),
                (Index(Device(of.kind, of.type, high, loop=True), offset), True),
            ]
            return [*indices, (Index(Device(of.kind, of.type, high, loop=True), extra), True)] if extra else indices
        case Zipped(parts):
            shortest = min((len(part.items) for part in parts if isinstance(part, Seq)), default=0)
            columns = [
                _numbered_devices(part, range(shortest))
                if isinstance(part, Devices) and part.whole and 0 < shortest <= MAX_DEVICES_UNROLLED
                else _elements(part)
                for part in parts
            ]
            known = [
                column for column in columns if not isinstance(column[0][0], PassNumber) and column[0][0] is not UNKNOWN
            ]
            length = min((len(column) for column in known), default=2)
            return [(Seq(tuple(_in_row(column, row) for column in columns), "tuple"), row > 0) for row in range(length)]
        case Amount(type="list") if not isinstance(iterable, FileValue):
            line = Amount("str", iterable.unit, iterable.source)
            return [(line, False), (line, True)]
        case Amount(type="numbers"):
            number = Amount("number", iterable.unit, iterable.source)
            return [(number, False), (number, True)]
        case PassNumbers(first):
            return [(PassNumber(first, later=False), False), (PassNumber(first, later=True), True)]
        case _:
            return [(UNKNOWN, False), (UNKNOWN, True)]


def _in_row(column: list[tuple[Value, bool]], row: int) -> Value:
    """Return a value of a column; of one that counts the passes, that of any later pass."""
    if row < len(column):
        return column[row][0]
    return column[-1][0] if isinstance(column[-1][0], PassNumber) else UNKNOWN


def _has_one_pass(context: Context) -> bool:
    """True if a loop is so deep in others that it is followed once only."""
    return sum(enclosing.repeated for enclosing in context.loops) >= MAX_NESTED_SECOND_PASSES


def _without_number(value: Value) -> Value:
    match value:
        case PassNumber():
            return UNKNOWN
        case Seq(items, kind) if any(isinstance(item, PassNumber) for item in items):
            return Seq(tuple(_without_number(item) for item in items), kind)
        case _:
            return value


def _most_items(container: Seq | Dict) -> int:
    """Return the number of items that a loop goes through one by one."""
    return (
        MAX_CODE_ITEMS_UNROLLED
        if len(container.items) > MAX_ITEMS_UNROLLED and is_called(container)
        else MAX_ITEMS_UNROLLED
    )


def _numbered_devices(devices: Devices, numbers: range) -> list[tuple[Value, bool]]:
    """Return those devices of a list that have these numbers, one by one."""
    found = [Device(devices.kind, devices.type, number, loop=True) for number in numbers]
    return [(DeviceName(item) if devices.names else item, place > 0) for place, item in enumerate(found)]


def _without_cells(choice: Choice) -> Choice:
    """Return a choice of containers with what is in each, which no name leads to: the present contents of one that has
    a name may be this very choice."""
    return Choice(tuple(map(_without_cell, choice.options)))


def _without_cell(option: Value) -> Value:
    match option:
        case Seq(items, kind):
            return Seq(items, kind if kind == "set" else "tuple")
        case Dict():
            return replace(option, cell=None)
        case Choice():
            return _without_cells(option)
        case _:
            return option


def _is_of_gpus(iterable: Value) -> bool:
    """True if there is nothing to iterate over on a machine without a GPU."""
    match iterable:
        case Devices(kind="physical", type="GPU") | Indices(of=Devices(type="GPU")):
            return True
        case Zipped(parts):
            return any(_is_of_gpus(part) for part in parts)
        case _:
            return False


def _has_device(value: Value) -> bool:
    match value:
        case Device(loop=True) | DeviceName(device=Device(loop=True)) | Index():
            return True
        case Seq(items):
            return any(_has_device(item) for item in items)
        case _:
            return False
