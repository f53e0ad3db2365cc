"""Joins: what is known of a value where two paths through the program meet; and questions about what a value holds."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from tfmemlint.interpreter.values.kinds import (
    Cell,
    Choice,
    Class,
    Dict,
    Function,
    Instance,
    Lazy,
    Module,
    Partial,
    Proto,
    Seq,
    Value,
    Zipped,
)
from tfmemlint.interpreter.values.leaves import (
    TRUTH,
    UNKNOWN,
    Amount,
    Const,
    Device,
    FileContent,
    FileValue,
    Given,
    Made,
    OneOf,
    Ref,
    Rows,
)
from tfmemlint.knowledge.functions import RANKS
from tfmemlint.knowledge.units import unit_in_name

MOST_OPTIONS = 6
MOST_CODE_OPTIONS = 16
"""Options of a choice that are functions or classes: a call interprets each once, so that the cost grows with their
number. A table of commands has a dozen of them."""
MAX_VALUES_HELD = 2_000
"""Values in a container that is known, counting those within its items. A list of settings has far fewer."""
MAX_CONTAINER_DEPTH = 30
"""Containers within containers that are known. Going through them takes Python frames for each."""
_CALLED = (Function, Partial, Lazy, Class, Instance, Module, Choice)


def join(left: Value | None, right: Value | None) -> Value:
    """Return what is known where two paths through the program meet: what both agree on."""
    if left is right and left is not None:
        return left
    if isinstance(left, (Seq, Dict)) and isinstance(right, (Seq, Dict)) and left.cell is right.cell is not None:
        # One and the same; what is in it is joined in the heap.
        return left
    if isinstance(left, Amount) or isinstance(right, Amount):
        return _join_amounts(left, right)
    if isinstance(left, OneOf) or isinstance(right, OneOf):
        return _join_options(left, right)
    if isinstance(left, (Given, FileContent)):
        return _unless_given(left, right)
    if isinstance(right, (Given, FileContent)):
        return _unless_given(right, left)
    if isinstance(left, _CALLED) or isinstance(right, _CALLED):
        return _either(left or UNKNOWN, right or UNKNOWN)
    if _is_device_or_none(left, right):
        return left if isinstance(left, Device) else right or UNKNOWN
    if left is None or right is None:
        known = left if left is not None else right
        if isinstance(known, Proto):
            known.record.consumed = True
        return UNKNOWN
    if holds_code(left) or holds_code(right):
        return _either(left, right)
    try:
        if left == right and type(left) is type(right):
            # 1 == True == 1.0 in Python, but they are three different values to TensorFlow.
            if isinstance(left, Const) and not _same_constant(left, right):
                return UNKNOWN
            # Of two lists with the same in them it may be either.
            return replace(left, cell=None) if isinstance(left, (Seq, Dict)) and left.cell is not None else left
    except (TypeError, ValueError):
        return UNKNOWN
    match left, right:
        case Const(bool()), Const(bool()):
            return TRUTH
        case (Made(name) as rank, Const(0) | Made()) | (Const(0), Made(name) as rank) if name in RANKS:
            # ``hvd.rank() if hvd else 0``: without Horovod there is one process.
            return rank if not isinstance(right, Made) or right is rank or right.name in RANKS else UNKNOWN
    for lost in (left, right):
        if isinstance(lost, Proto):
            # It lives on under a name that may as well mean something else: nobody can say who gets it.
            lost.record.consumed = True
    if isinstance(left, Seq) and isinstance(right, Seq) and len(left.items) == len(right.items):
        return Seq(tuple(join(a, b) for a, b in zip(left.items, right.items, strict=True)), left.kind)
    return UNKNOWN


def _join_options(left: Value | None, right: Value | None) -> Value:
    """Return the options of two values, each of which is one of a few; UNKNOWN if anything else is among them."""
    options: list[object] = []
    for value in (left, right):
        if not isinstance(value, (OneOf, Const)):
            return UNKNOWN
        for option in value.options if isinstance(value, OneOf) else (value.value,):
            if not any(type(option) is type(known) and option == known for known in options):
                options.append(option)
    return OneOf(tuple(options)) if len(options) <= MOST_OPTIONS else UNKNOWN


def _is_device_or_none(left: Value | None, right: Value | None) -> bool:
    """True for a device of a listing of all types, or None where there is none: only the device can be configured.

    One of a listing of GPUs may be None where there are several: then it is not the only one that is configured.
    """
    device, other = (left, right) if isinstance(left, Device) else (right, left)
    return isinstance(device, Device) and device.type is None and other == Const(None)


def _unless_given(given: Given | FileContent, other: Value | None) -> Value:
    """Return what a value is where nobody gives another one: a text with the content of a file, or what is in it."""
    match other:
        case Given():
            return given if isinstance(given, Given) else UNKNOWN
        case Const(str(text)) if "\n" in text:
            return other
        case Dict() | Seq() if isinstance(given, Given) and not is_called(other):
            return by_default(other)
        case _:
            return UNKNOWN


DEFAULT = "a default of the program"
"""The source of a value that a file or a variable may replace."""


def by_default(value: Value, source: str = DEFAULT, name: str = "") -> Value:
    """Return a value of the program as one that somebody may give in its place: no condition is decided by it.

    Args:
        source: where another one would come from, in words. name: its key, which may state a unit.
    """
    match value:
        case Dict(items):
            return Dict({key: by_default(item, source, str(key)) for key, item in items.items()}, open=True)
        case Seq(items):
            inner = tuple(by_default(item, source) for item in items)
            return FileValue("list", "", source, False, value=inner)
        case Const(bool() | None):
            return UNKNOWN
        case Const(str(text)):
            return FileValue("str", unit_in_name(name), source, False, value=text)
        case Const(int() | float() as number):
            return FileValue("number", unit_in_name(name), source, False, number, value=number)
        case _:
            return UNKNOWN


def _join_amounts(left: Value | None, right: Value | None) -> Value:
    """Return what is known of an amount that is another one on another path: what is so on either is not sure."""
    amount, other = (left, right) if isinstance(left, Amount) else (right, left)
    if not isinstance(amount, Amount):
        return UNKNOWN
    if isinstance(left, FileValue) and isinstance(right, FileValue):
        # Of two files that a program chooses from, or two places in one, nobody knows which it is.
        return left if left == right else UNKNOWN
    match other:
        case Amount(type_, unit, _, sure, whole=whole):
            same = unit if unit == amount.unit else ""
            if type_ == amount.type:
                return replace(amount, unit=same, sure=sure and amount.sure, whole=whole and amount.whole)
            return Amount("", same) if same else UNKNOWN
        case Const(str(text)) if amount.type == "str":
            return amount if type(amount) is not Amount or amount.default is not None else replace(amount, default=text)
        case Const(bool()):
            return UNKNOWN
        case Const(int() | float() | None) if amount.type == "str":
            return replace(amount, sure=False)
        case Const(int() | float()) if type(amount) is Amount and amount.type == "number" and not amount.unit:
            return amount
        case _:
            return UNKNOWN


def _either(left: Value, right: Value) -> Value:
    """Any of two values, one of which may be called."""
    options: list[Value] = []
    for value in (left, right):
        for option in value.options if isinstance(value, Choice) else (value,):
            if isinstance(option, (Seq, Dict)):
                if not any(is_same(option, known) for known in options):
                    options.append(option)
                continue
            if isinstance(option, Proto):
                option.record.consumed = True
            if isinstance(option, Const) or (option != UNKNOWN and not isinstance(option, (*_CALLED, Ref))):
                option = UNKNOWN if not isinstance(option, Const) else option
            if not isinstance(option, Const) and option not in options:
                options.append(option)
    return _choice(options)


def _choice(options: list[Value]) -> Value:
    """Return one of several values; UNKNOWN if there are too many."""
    plain = all(isinstance(option, (Function, Class, Const)) for option in options)
    return Choice(tuple(options)) if len(options) <= (MOST_CODE_OPTIONS if plain else MOST_OPTIONS) else UNKNOWN


def choose(values: Iterable[Value]) -> Value:
    """Return what is known of one of several values, each of which may be called."""
    options: list[Value] = []
    for value in values:
        for option in value.options if isinstance(value, Choice) else (value,):
            if not any(option is known or is_same(option, known) for known in options):
                options.append(option)
    return options[0] if len(options) == 1 else _choice(options)


def parts(value: Value) -> tuple[Value, ...]:
    """Return the items of a list or a dictionary, or the options of a choice; nothing for other values."""
    match value:
        case Seq(items):
            return items
        case Dict(items):
            return tuple(items.values())
        case Choice(options):
            return options
        case _:
            return ()


def is_large(value: Value) -> bool:
    """True if a container holds more than `MAX_VALUES_HELD` values, or containers within containers too deeply.

    Those within its items count as well: what looks through them would never end on ``x = [x, x]``, said forty times.
    """
    level, held = [value], 0
    for _ in range(MAX_CONTAINER_DEPTH):
        inner: list[Value] = []
        for container in level:
            items = container.parts if isinstance(container, Zipped) else parts(container)
            held += len(items)
            if held > MAX_VALUES_HELD:
                return True
            inner.extend(item for item in items if isinstance(item, (Seq, Dict, Choice, Zipped)))
        if not inner:
            return False
        level = inner
    return True


def is_called(value: Value) -> bool:
    """True if a value is code of the program's own, or has some."""
    if isinstance(value, Seq):
        return any(is_called(item) for item in value.items)
    if isinstance(value, Dict):
        return any(is_called(item) for item in value.items.values())
    return isinstance(value, _CALLED)


def holds_code(value: Value | None) -> bool:
    """True if a value is a container with an identity that matters: it holds code, or may come to."""
    return isinstance(value, (Seq, Dict)) and ((value.cell is not None and value.cell.watched) or is_called(value))


def is_same(left: Value, right: Value) -> bool:
    """True if two values are one list or dictionary, with the same in it."""
    if not isinstance(left, (Seq, Dict)) or not isinstance(right, (Seq, Dict)):
        return False
    return left.cell is right.cell and left == right


def join_contents(cell: Cell, left: Value | None, right: Value | None) -> Value:
    """Return the contents of a container where two paths meet; None stands for a path on which it is as it was made."""
    joined = _join_known_contents(cell, left, right)
    return as_rows(cell, left, right) if joined is UNKNOWN else joined


def as_rows(cell: Cell, *ways: Value | None) -> Value:
    """Return a list of rows of unknown length, as it may be on each of several paths; UNKNOWN if they are not alike."""
    row: Value | None = None
    for way in ways:
        match as_made(cell) if way is None else way:
            case Rows(known):
                items: tuple[Value, ...] = (known,)
            case Seq(items, "list"):
                pass
            case _:
                return UNKNOWN
        for item in items:
            row = joined_row(row, item)
            if row is None:
                return UNKNOWN
    return Rows(row, cell) if row is not None else UNKNOWN


def joined_row(row: Value | None, item: Value) -> Value | None:
    """Return what a row and the next one have in common; None if that is no amount."""
    if not isinstance(item, Seq) or item.kind != "tuple":
        return None
    if isinstance(row, Seq):
        if len(row.items) != len(item.items):
            return None
        item = Seq(tuple(join(known, each) for known, each in zip(row.items, item.items, strict=True)), "tuple")
    amounts = tuple(each if isinstance(each, Amount) and each.unit and each.sure else UNKNOWN for each in item.items)
    return Seq(amounts, "tuple") if any(isinstance(each, Amount) for each in amounts) else None


def _join_known_contents(cell: Cell, left: Value | None, right: Value | None) -> Value:
    ways: list[Value] = []
    for value in (left, right):
        for option in value.options if isinstance(value, Choice) else (value,):
            content = as_made(cell) if option is None else option
            if not isinstance(content, (Seq, Dict)):
                return UNKNOWN
            if not any(_as_equal(content, known) for known in ways):
                ways.append(content)
    if len(ways) == 1:
        return ways[0]
    if len(ways) > MOST_OPTIONS:
        return UNKNOWN
    if any(map(is_called, ways)):
        return Choice(tuple(ways))
    first, other = ways[0], ways[1]
    if len(ways) == 2 and isinstance(first, Seq) and isinstance(other, Seq) and len(first.items) == len(other.items):
        return Seq(tuple(join(a, b) for a, b in zip(first.items, other.items, strict=True)), first.kind, cell)
    return UNKNOWN


def _as_equal(left: Value, right: Value) -> bool:
    """True if two contents are the same, constants by their types, too."""
    if isinstance(left, Seq) and isinstance(right, Seq):
        return len(left.items) == len(right.items) and all(map(_is_equal, left.items, right.items))
    if isinstance(left, Dict) and isinstance(right, Dict):
        return (
            left.open is right.open
            and list(left.items) == list(right.items)
            and all(map(_is_equal, left.items.values(), right.items.values()))
        )
    return False


def _is_equal(left: Value, right: Value) -> bool:
    return left is right or (left == right and (not isinstance(left, Const) or _same_constant(left, right)))


def as_made(cell: Cell) -> Seq | Dict:
    """A list or a dictionary as it was before anything was put into it."""
    return replace(cell.first, cell=cell)


def _same_constant(left: Const, right: Value) -> bool:
    return isinstance(right, Const) and type(left.value) is type(right.value)
