"""Changes of lists and sets."""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence
from dataclasses import replace

from tfmemlint.interpreter.context import Context
from tfmemlint.interpreter.limits import MAX_ITEMS_UNROLLED
from tfmemlint.interpreter.operations.contents import (
    Container,
    alter,
    forget_contents,
    new_container,
    pass_items_to_unknown,
    passed_to_unknown,
)
from tfmemlint.interpreter.operations.exhausted import note_exhausted
from tfmemlint.interpreter.operations.side_effects import is_side_effect_free
from tfmemlint.interpreter.values import (
    UNKNOWN,
    Class,
    Const,
    Devices,
    Dict,
    Function,
    Instance,
    Partial,
    Ref,
    Seq,
    Value,
    Zipped,
    as_rows,
    is_called,
    value_of_key,
)

_Change = Callable[[tuple[Value, ...]], "Sequence[Value] | None"]
"""Return the new items of a list; None if they aren't known."""
_MAX_ITEMS_TRACKED = MAX_ITEMS_UNROLLED
"""Items of a growing list that are known one by one: loops don't unroll a longer one anyway."""


def change_items(context: Context, base: Seq, change: _Change, put: Sequence[Value] = ()) -> None:
    """Change the items of a list into which ``put`` are put."""
    vague = (
        bool(put) and not any(is_called(value) or isinstance(value, Ref) for value in put) and _is_vague(context, base)
    )

    def act(content: Container) -> Value:
        if not isinstance(content, Seq):
            return UNKNOWN
        items = change(content.items)
        if vague and not is_called(content):
            if content.cell is None or items is None:
                return UNKNOWN
            return as_rows(content.cell, Seq(tuple(items), content.kind))
        if items is None or len(items) > max(_MAX_ITEMS_TRACKED, len(content.items)):
            return UNKNOWN
        return Seq(tuple(items), content.kind, content.cell)

    alter(context, base, act)


def _is_vague(context: Context, base: Seq) -> bool:
    """True if this list receives too many non-callable values to track: in a loop whose passes aren't counted, or in a
    function that need not be interpreted each time.
    """
    return any(not loop.each for loop in context.loops) or belongs_to_caller(context, base)


def belongs_to_caller(context: Context, base: Container) -> bool:
    """True if a container is not made by the function that is interpreted, which is free of side effects."""
    frame = context.frames[-1]
    if base.cell is None or base.cell.number > frame.scope.number or isinstance(frame.node, ast.Module):
        return False
    function = frame.node
    if not isinstance(function, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)):
        return False
    return is_side_effect_free(context, Function(function, frame.scope))


def extend(context: Context, base: Seq, more: Value) -> None:
    """Put all items of ``more`` into a list."""
    more = context.current(more)
    put = _given_items(more)
    if put is None:
        pass_items_to_unknown(context, more)
        change_items(context, base, lambda items: None)
    elif put:
        change_items(context, base, lambda items: (*items, *put), put)


def popped(context: Context, base: Seq, place: int) -> Value:
    known = all(loop.each for loop in context.loops) or is_called(base)
    value = base.items[place] if known and -len(base.items) <= place < len(base.items) else UNKNOWN
    if base.kind == "set" and len(base.items) > 1:
        value, known = UNKNOWN, False
    change_items(context, base, lambda items: _less(items, place) if known else None)
    return value


def set_place(context: Context, base: Seq, key: Value, value: Value) -> None:
    """Interpret ``base[key] = value`` of a list."""
    if isinstance(key, Const) and isinstance(key.value, int):
        place: int = key.value
        change_items(context, base, lambda items: _replaced(items, place, value), [value])
    else:
        forget_contents(context, value)
        passed_to_unknown(context, value)
        alter(context, base, lambda _: UNKNOWN)


def _given_items(value: Value) -> tuple[Value, ...] | None:
    """Return the items that iterating over a value gives; None if they, or their order, aren't known."""
    match value:
        case Seq(items, kind):
            return items if kind != "set" or len(items) < 2 else None
        case Dict(items, open=False):
            return tuple(map(value_of_key, items))
        case _:
            return None


def place_of(items: Sequence[Value], value: Value) -> int:
    """Return the position of ``value`` among ``items``; -1 if it isn't there, -2 if that can't be told."""
    for place, item in enumerate(items):
        if _is_same_code(item, value) or (isinstance(item, Const) and item == value):
            return place
        if not is_called(item) and not isinstance(item, Const):
            return -2
    return -1


def _is_same_code(left: Value, right: Value) -> bool:
    """True if two values are one function, class or object; methods are made anew each time."""
    match left, right:
        case Function(node, scope, _, bound), Function(other, other_scope, _, other_bound):
            return node is other and scope is other_scope and bound is other_bound
        case ((Class() | Instance() | Partial()), _):
            return left is right
        case _:
            return False


def without(items: tuple[Value, ...], value: Value) -> Sequence[Value] | None:
    place = place_of(items, value)
    if place == -1 and is_called(value) and all(map(is_called, items)):
        return items
    return None if place < 0 else (*items[:place], *items[place + 1 :])


def _less(items: tuple[Value, ...], place: int) -> Sequence[Value]:
    return tuple(item for at, item in enumerate(items) if at != place % len(items))


def _replaced(items: tuple[Value, ...], place: int, value: Value) -> Sequence[Value] | None:
    if not -len(items) <= place < len(items):
        return None
    changed = list(items)
    changed[place] = value
    return changed


def same_items(context: Context, name: str, value: Value) -> Value:
    """Return a list, or an iterator, with the same items as ``value``."""
    if isinstance(value, Dict) and not value.open:
        value = Seq(tuple(map(value_of_key, value.items)), "list")
    if isinstance(value, Zipped) and name in ("list", "tuple", "sorted", "set"):
        if not value.listed and context.statement is not None:
            note_exhausted(context, context.statement, value)
        return replace(value, listed=True)
    if not isinstance(value, Seq):
        return value if isinstance(value, (Devices, Zipped)) else UNKNOWN
    if name in ("list", "sorted", "set"):
        return new_container(context, Seq(value.items, "set" if name == "set" or value.kind == "set" else "list"))
    items = value.items[::-1] if name == "reversed" and is_called(value) else value.items
    # Views of a list that show what is in it by now.
    return Seq(items, value.kind if value.kind == "set" else "tuple" if name == "tuple" else "view")
