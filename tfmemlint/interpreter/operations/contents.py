"""Lists, sets and dictionaries that are changed after they were made: by whatever name, they are the same.

Each has a `Cell`; its present contents are in the heap, so that branches join them as they join attributes. Contents
that can't be known are UNKNOWN, and nothing is concluded from them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

from tfmemlint.interpreter.context import Context
from tfmemlint.interpreter.observer import Surrender
from tfmemlint.interpreter.operations.bindings import note_put
from tfmemlint.interpreter.operations.paths import doubtful, merge, snapshot
from tfmemlint.interpreter.operations.side_effects import configures_nothing, havoc, is_side_effect_free
from tfmemlint.interpreter.values import (
    MOST_OPTIONS,
    UNKNOWN,
    Cell,
    Choice,
    Class,
    Dict,
    Function,
    Instance,
    Lazy,
    Made,
    OwnDict,
    Partial,
    Proto,
    Rows,
    Seq,
    Value,
    as_made,
    is_called,
    is_large,
    is_same,
    parts,
)

Container = Seq | Dict
_LISTS = frozenset({"list", "set"})
"""The kinds of `Seq` that can be changed."""


def new_container(context: Context, value: Container) -> Value:
    """Return a list, set or dictionary with a cell of its own; UNKNOWN for one that is too large to be followed."""
    if is_large(value):
        pass_items_to_unknown(context, value)
        return UNKNOWN
    if isinstance(value, Seq) and value.kind not in _LISTS:
        return value
    called = is_called(value)
    if called:
        _note_stored(context, value)
    empty = not value.items or (isinstance(value, Dict) and value.default is not None)
    first = Seq(value.items, value.kind) if isinstance(value, Seq) else replace(value, cell=None)
    cell = Cell(context.next_serial(), first, called or empty)
    if isinstance(value, Seq):
        return Seq(value.items, value.kind, cell)
    return replace(value, cell=cell)


def _note_stored(context: Context, value: Value) -> None:
    """Record that code of the program is put into a container."""
    match value:
        case Partial(function):
            _note_stored(context, function)
        case Function(node) if id(node) not in context.stored_functions and not is_side_effect_free(context, value):
            context.stored_functions.add(id(node))
        case (Class() as cls) | Instance(cls) if not is_side_effect_free(context, value):
            context.stored_functions.update(
                id(method.node) for method in cls.members.values() if isinstance(method, Function)
            )
            for base in cls.bases:
                _note_stored(context, base)
        case _:
            for part in parts(value):
                _note_stored(context, part)


def _read_content(context: Context, cell: Cell) -> Value:
    content = context.heap.get((cell, ""))
    context.reads.setdefault(cell, content)
    return as_made(cell) if content is None else content


def content_of(context: Context, cell: Cell) -> Value:
    """Return the contents of a container, without recording that it was read."""
    return context.heap.get((cell, ""), cell.first)


def is_as_read(context: Context, reads: Mapping[Cell, Value | None]) -> bool:
    """True if all these containers have the contents that were read."""
    return all(context.heap.get((cell, "")) is content for cell, content in reads.items())


def gained_no_code(context: Context, reads: Mapping[Cell, Value | None]) -> bool:
    """True if no code was put into these containers since they were read."""
    for cell, before in reads.items():
        content = context.heap.get((cell, ""))
        if content is not before and content is not None and is_called(content):
            return False
    return True


def has_code(context: Context, receiver: Value | None) -> bool:
    """True if an object has a container of its own with code in it."""
    for value in context.containers_of.get(id(receiver), ()):
        content = context.heap.get((value.cell, "")) if value.cell is not None else None
        if content is not None and is_called(content):
            return True
    return False


def alter(context: Context, value: Container, act: Callable[[Container], Value]) -> None:
    """Change the contents of a container."""
    cell = value.cell
    assert cell is not None
    content = _read_content(context, cell)
    results: list[Value] = []
    for option in content.options if isinstance(content, Choice) else (content,):
        result = act(option) if isinstance(option, (Seq, Dict)) else UNKNOWN
        if not any(is_same(result, known) or result is known for known in results):
            results.append(result)
    now: Value = Choice(tuple(results)) if len(results) > 1 else results[0]
    known = UNKNOWN not in results and len(results) <= MOST_OPTIONS and not is_large(now)
    if not known and not isinstance(now, Rows):
        now = UNKNOWN
    if now is content or is_same(now, content):
        return
    _note_stored(context, now)
    if is_called(content) or is_called(now):
        context.oldest_cell_changed = min(context.oldest_cell_changed, cell.number)
        note_put(context)
    context.heap = {**context.heap, (cell, ""): now}
    if now is UNKNOWN:
        # The container is unknown by now: it may be among its own items.
        pass_items_to_unknown(context, content)


def pass_items_to_unknown(context: Context, content: Value) -> None:
    """Note that the items of a container, which can't be known any more, may be called at any time."""
    for option in content.options if isinstance(content, Choice) else (content,):
        for item in parts(option):
            passed_to_unknown(context, item)


def forget_contents(context: Context, value: Value, within: frozenset[int] = frozenset()) -> None:
    """Forget the contents of a container that goes where it may be changed.

    Args:
        context: the run. value: what goes there. within: the ids of the containers around it: a list may be in itself.
    """
    match value:
        case Choice(options):
            for option in options:
                forget_contents(context, option, within)
        case Seq() | Dict():
            if id(value.cell) in within:
                return
            now = context.current(value)
            if now is not value and not isinstance(now, (Seq, Dict)):
                if value.cell is not None:
                    alter(context, value, lambda _: UNKNOWN)
                return
            inside = within if value.cell is None else within | {id(value.cell)}
            for item in parts(now):
                forget_contents(context, item, inside)
            if value.cell is not None and (value.cell.watched or is_called(now)):
                alter(context, value, lambda _: UNKNOWN)
        case _:
            pass


def cells_of(value: Value) -> list[Value]:
    """Return the containers that a value may mean, each once, and whatever else it may mean."""
    if not isinstance(value, Choice):
        return [value]
    found: list[Value] = []
    cells: set[int] = set()
    for option in value.options:
        if isinstance(option, (Seq, Dict)) and option.cell is not None:
            if id(option.cell) in cells:
                continue
            cells.add(id(option.cell))
        found.append(option)
    return found


def passed_to_unknown(context: Context, value: Value) -> None:
    """Pass a value to code that isn't the program's own, which may call it."""
    match value:
        case Function() | Partial(Function() | Partial()):
            context.tell_surrender(Surrender.PASSED_ON, getattr(getattr(value, "node", None), "name", "<function>"))
            havoc(context, configures_nothing(context, value))
        case Choice(options):
            for option in options:
                passed_to_unknown(context, option)
        case Lazy(awaitable=False) if id(value) not in context.started_generators and context.state is not None:
            # It may go through it, or not.
            before = snapshot(context)
            context.started_generators[id(value)] = value
            with doubtful(context):
                value.run(lambda item: mark_escaped(context, item))
            merge(context, before)
        case Lazy():
            havoc(context, value.quiet)
        case Seq() | Dict():
            forget_contents(context, value)
        case _:
            pass


def mark_escaped(context: Context, value: Value) -> None:
    """Mark messages and results as used: the value goes where it can't be followed."""
    match value:
        case Proto(_, record):
            record.consumed = True
            record.late.clear()
        case Made(_, serial):
            context.used.add(serial)
        case Instance() | OwnDict(owner=Instance()):
            _mark_fields(context, value.owner if isinstance(value, OwnDict) else value)
        case _:
            for part in parts(value):
                mark_escaped(context, part)


def _mark_fields(context: Context, instance: Instance) -> None:
    """Mark messages and results as used that an object has in its attributes, or in those of objects that it has."""
    if not context.protos:
        # Sessions with options are made from messages: without one there is nothing to mark.
        return
    waiting, seen = [instance], {id(instance)}
    while waiting:
        holder = waiting.pop()
        held = [value for (owner, _), value in context.heap.items() if owner is holder]
        for value in (part for whole in held for part in (whole, *parts(whole))):
            if not isinstance(value, Instance):
                if isinstance(value, (Proto, Made)):
                    mark_escaped(context, value)
            elif id(value) not in seen:
                seen.add(id(value))
                waiting.append(value)
