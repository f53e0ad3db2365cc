"""TODO."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from tfmemlint.interpreter.context import Context
from tfmemlint.interpreter.operations.bindings import note_put
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
    Partial,
    Proto,
    Seq,
    Value,
    as_made,
    is_called,
    is_same,
    parts,
)

Container = Seq | Dict
_LISTS = frozenset({"list", "set"})
"""The kinds of `Seq` that can be changed."""


def new_container(context: Context, value: Container) -> Container:
    """A list, set or dictionary that nothing else is yet."""
    if isinstance(value, Seq) and value.kind not in _LISTS:
        return value
    called = is_called(value)
    if called:
        _note_stored(context, value)
    empty = not value.items or (isinstance(value, Dict) and value.default is not None)
    first = Seq(value.items, value.kind) if isinstance(value, Seq) else Dict(value.items, value.open, value.default)
    cell = Cell(context.next_serial(), first, called or empty)
    if isinstance(value, Seq):
        return Seq(value.items, value.kind, cell)
    return Dict(value.items, value.open, value.default, cell)


def _note_stored(context: Context, value: Value) -> None:
    """Code of the program's own is put where it can be called from."""
    match value:
        case Partial(function):
            _note_stored(context, function)
        case Function(node) if id(node) not in context.stored_functions and not is_side_effect_free(context, value):
            context.stored_functions.add(id(node))
        case (Class() as cls) | Instance(cls) if not is_side_effect_free(context, value):
            context.stored_functions.update(id(one.node) for one in cls.members.values() if isinstance(one, Function))
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
    """What is in a list, for those who don't go through it."""
    return context.heap.get((cell, ""), cell.first)


def is_as_read(context: Context, reads: Mapping[Cell, Value | None]) -> bool:
    """Whether all these lists are as they were when they were looked at."""
    return all(context.heap.get((cell, "")) is content for cell, content in reads.items())


def gained_no_code(context: Context, reads: Mapping[Cell, Value | None]) -> bool:
    """Whether no code has come into these lists since they were looked at."""
    for cell, before in reads.items():
        content = context.heap.get((cell, ""))
        if content is not before and content is not None and is_called(content):
            return False
    return True


def has_code(context: Context, receiver: Value | None) -> bool:
    """Whether an object has a list of its own with code in it."""
    for value in context.containers_of.get(id(receiver), ()):
        content = context.heap.get((value.cell, "")) if value.cell is not None else None
        if content is not None and is_called(content):
            return True
    return False


def alter(context: Context, value: Container, act: Callable[[Container], Value]) -> None:
    """Change what is in a list or a dictionary."""
    cell = value.cell
    assert cell is not None
    content = _read_content(context, cell)
    results: list[Value] = []
    for one in content.options if isinstance(content, Choice) else (content,):
        result = act(one) if isinstance(one, (Seq, Dict)) else UNKNOWN
        if not any(is_same(result, known) or result is known for known in results):
            results.append(result)
    known = UNKNOWN not in results and len(results) <= MOST_OPTIONS
    now: Value = Choice(tuple(results)) if len(results) > 1 else results[0]
    if not known:
        now = UNKNOWN
    if now is UNKNOWN:
        pass_items_to_unknown(context, content)
    if now is content or is_same(now, content):
        return
    _note_stored(context, now)
    if is_called(content) or is_called(now):
        context.oldest_cell_changed = min(context.oldest_cell_changed, cell.number)
        note_put(context)
    context.heap = {**context.heap, (cell, ""): now}


def pass_items_to_unknown(context: Context, content: Value) -> None:
    """What was in a list can't be told any more: it may be called at any time."""
    for one in content.options if isinstance(content, Choice) else (content,):
        for item in parts(one):
            passed_to_unknown(context, item)


def forget_contents(context: Context, value: Value) -> None:
    """A value goes where nobody can say what is done to it: if it is a list, it may be changed."""
    match value:
        case Choice(options):
            for option in options:
                forget_contents(context, option)
        case Seq() | Dict():
            now = context.current(value)
            if now is not value and not isinstance(now, (Seq, Dict)):
                if value.cell is not None:
                    alter(context, value, lambda _: UNKNOWN)
                return
            for item in parts(now):
                forget_contents(context, item)
            if value.cell is not None and (value.cell.watched or is_called(now)):
                alter(context, value, lambda _: UNKNOWN)
        case _:
            pass


def cells_of(value: Value) -> list[Value]:
    """The lists and dictionaries that are meant by a value, each once; whatever else is meant as it is."""
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
    """A value goes to code that isn't the program's own, which may call it."""
    match value:
        case Function() | Partial(Function() | Partial()):
            havoc(context, configures_nothing(context, value))
        case Choice(options):
            for option in options:
                passed_to_unknown(context, option)
        case Lazy():
            havoc(context, value.quiet)
        case Seq() | Dict():
            forget_contents(context, value)
        case _:
            pass


def mark_escaped(context: Context, value: Value) -> None:
    """A value goes where it can't be followed."""
    match value:
        case Proto(_, record):
            record.consumed = True
        case Made(_, serial):
            context.used.add(serial)
        case _:
            for part in parts(value):
                mark_escaped(context, part)
