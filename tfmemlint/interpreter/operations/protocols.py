"""Syntax that runs special methods: truth, iteration, comparison, items and operators of the program's own objects.

The table of what runs what is `tfmemlint.knowledge.data_model`.
"""

from __future__ import annotations

import ast
import functools
from collections.abc import Callable, Sequence
from dataclasses import replace

from tfmemlint.facts.syntax import dotted
from tfmemlint.interpreter.context import Context
from tfmemlint.interpreter.frames import Catching
from tfmemlint.interpreter.operations.classes import (
    ENUMS,
    MEMBERS,
    class_member,
    derives_from,
    has_no_truth_of_its_own,
    lineage,
    metaclass_of,
)
from tfmemlint.interpreter.operations.dataclass_fields import NAMED_TUPLES, dataclass_fields
from tfmemlint.interpreter.operations.dict_objects import is_dict, item_held
from tfmemlint.interpreter.operations.generators import consume
from tfmemlint.interpreter.operations.items import ITEMS
from tfmemlint.interpreter.operations.objects import call_first_special, call_special, special
from tfmemlint.interpreter.operations.paths import doubtful, merge, restore, snapshot
from tfmemlint.interpreter.program import Handler
from tfmemlint.interpreter.state import join_states
from tfmemlint.interpreter.values import UNKNOWN, Class, Const, Function, Instance, Lazy, Ref, Seq, Value
from tfmemlint.knowledge.data_model import BINARY, COMPARED, IN_PLACE, UNARY

DECLINED = Ref("NotImplemented")


def is_own(value: Value) -> bool:
    """True if a value may have special methods that the program defines."""
    return isinstance(value, Instance) or (isinstance(value, Class) and bool(value.metaclass or value.bases))


def tested(context: Context, value: Value, node: ast.AST) -> Value:
    """Return what decides about a value in a test: for an object, the result of ``__bool__`` or ``__len__``."""
    if not isinstance(value, Instance) or context.state is None:
        return value
    result = call_first_special(context, value, ("__bool__", "__len__"), [], node)
    if result is None:
        # An object that says nothing about it is true.
        return Const(True) if has_no_truth_of_its_own(context, value.cls) else value
    return result


def unary(context: Context, op: ast.unaryop, value: Value, node: ast.AST) -> Value | None:
    """Apply an operator to an object; None if its class does not say how."""
    name = UNARY.get(type(op))
    return call_special(context, value, name, [], node) if name is not None and is_own(value) else None


def binary(context: Context, op: ast.operator, left: Value, right: Value, node: ast.AST) -> Value | None:
    """Apply an operator to two values of which one is an object; None if neither class says how."""
    if not (is_own(left) or is_own(right)):
        return None
    name = BINARY.get(type(op))
    return _either_way(context, f"__{name}__", f"__r{name}__", left, right, node) if name is not None else None


def in_place(context: Context, op: ast.operator, left: Value, right: Value, node: ast.AST) -> Value | None:
    """Interpret ``left += right`` where the class of ``left`` says how; None if it does not."""
    name = IN_PLACE.get(type(op))
    result = call_special(context, left, name, [right], node) if name is not None and is_own(left) else None
    return None if result == DECLINED else result


def _either_way(context: Context, name: str, reflected: str, left: Value, right: Value, node: ast.AST) -> Value | None:
    """Ask the left operand, and the right one if that declines; a derived class is asked first."""
    ways = [(left, name, right), (right, reflected, left)]
    derived = isinstance(left, Instance) and isinstance(right, Instance) and left.cls in lineage(context, right.cls)[1:]
    if derived and special(context, right, reflected) is not None:
        ways.reverse()
    if not isinstance(left, (Instance, Class, Const, Seq)):
        # What the left operand does is not known.
        ways = ways[:1]
    for receiver, method, other in ways:
        result = call_special(context, receiver, method, [other], node)
        if context.state is None:
            return UNKNOWN
        if result is not None and result != DECLINED:
            return result
    return None


def compared(context: Context, op: ast.cmpop, left: Value, right: Value, node: ast.AST) -> Value | None:
    """Compare two values of which one is an object; None if neither class says how."""
    if isinstance(op, (ast.In, ast.NotIn)):
        found = contains(context, right, left, node) if is_own(right) else None
        return _negated(found) if isinstance(op, ast.NotIn) and found is not None else found
    if not (is_own(left) or is_own(right)):
        return None
    if isinstance(op, (ast.Is, ast.IsNot)):
        if _is_member(context, left) and _is_member(context, right):
            return Const((left is right) is isinstance(op, ast.Is))
        return None
    name, reflected = COMPARED[type(op)]
    result = _either_way(context, name, reflected, left, right, node)
    if result is None and isinstance(op, ast.NotEq):
        result = _either_way(context, "__eq__", "__eq__", left, right, node)
        result = _negated(result) if result is not None else None
    if result is None and isinstance(op, (ast.Eq, ast.NotEq)):
        return _compared_members(context, op, left, right)
    if result is None and isinstance(left, Instance) and _is_ordered(left.cls):
        result = call_first_special(context, left, ("__lt__", "__le__", "__gt__", "__ge__"), [right], node)
        return None if result is None else UNKNOWN
    return result


def _is_ordered(cls: Class) -> bool:
    """True if ``functools.total_ordering`` has given a class the comparisons that it lacks."""
    return any(dotted(mark).endswith("total_ordering") for mark in cls.node.decorator_list)


def _is_member(context: Context, value: Value) -> bool:
    return isinstance(value, Instance) and derives_from(context, value.cls, ENUMS)


def _compared_members(context: Context, op: ast.Eq | ast.NotEq, left: Value, right: Value) -> Value | None:
    """Compare members of an Enum: with each other, or with their values where they are texts or numbers, too."""
    if _is_member(context, left) and _is_member(context, right):
        return Const((left is right) is isinstance(op, ast.Eq))
    member, other = (left, right) if isinstance(left, Instance) else (right, left)
    if not isinstance(member, Instance) or not isinstance(other, Const) or not _is_member(context, member):
        return None
    value = context.heap.get((member, "value"))
    plain = derives_from(context, member.cls, frozenset({"str", "int", "enum.IntEnum", "enum.StrEnum", "float"}))
    if plain and isinstance(value, Const):
        return Const((value.value == other.value) is isinstance(op, ast.Eq))
    return None if plain else Const(isinstance(op, ast.NotEq))


def _negated(value: Value) -> Value:
    return Const(not value.value) if isinstance(value, Const) else UNKNOWN


def contains(context: Context, container: Value, item: Value, node: ast.AST) -> Value | None:
    """Interpret ``item in container``; None if the class of the container does not say how."""
    result = call_special(context, container, "__contains__", [item], node)
    if result is None and isinstance(container, Instance):
        lazy = as_lazy(context, container, node)
        if lazy is not None:
            first_pass(context, lazy)
            return UNKNOWN
    return result


def get_item(context: Context, base: Value, key: Value, node: ast.AST) -> Value | None:
    """Interpret ``base[key]`` of an object or a class; None if nothing says how."""
    result = call_special(context, base, "__getitem__", [key], node)
    if result is not None:
        return result
    if isinstance(base, Instance):
        listed = members_of(context, base)
        if listed is not None and isinstance(key, Const) and type(key.value) is int:
            return listed.items[key.value] if -len(listed.items) <= key.value < len(listed.items) else UNKNOWN
        own = item_held(context, base, key)
        return own if own is not None else _missing_item(context, base, key, node)
    if not isinstance(base, Class):
        return None
    if derives_from(context, base, ENUMS):
        return base.members.get(key.value) if isinstance(key, Const) and isinstance(key.value, str) else None
    found = class_member(context, base, "__class_getitem__")
    return context.call(replace(found, bound=base), [key], {}, node) if isinstance(found, Function) else None


def _missing_item(context: Context, base: Instance, key: Value, node: ast.AST) -> Value | None:
    """Ask ``__missing__`` of a subclass of ``dict`` for a key that it does not have, or may not have."""
    if special(context, base, "__missing__") is None or not is_dict(context, base):
        return None
    if context.heap.get((base, ITEMS)) is None:
        return call_special(context, base, "__missing__", [key], node)
    before = snapshot(context)
    with doubtful(context):
        call_special(context, base, "__missing__", [key], node)
    merge(context, before)
    return UNKNOWN


def as_lazy(context: Context, value: Value, node: ast.AST) -> Lazy | None:
    """Return what iterating over an object, or over a class, goes through; None if nothing says how."""
    if isinstance(value, Instance):
        names = ("__iter__", "__getitem__", "__aiter__")
        if all(special(context, value, name) is None for name in names):
            return None
    elif not isinstance(value, Class) or special(context, value, "__iter__") is None:
        return None
    return Lazy(lambda on_yield: _run_iterator(context, value, on_yield, node))


def members_of(context: Context, value: Value) -> Seq | None:
    """Return what iterating gives: the members of an Enum, the fields of a named tuple."""
    if isinstance(value, Instance) and derives_from(context, value.cls, NAMED_TUPLES):
        return Seq(tuple(context.heap.get((value, name), UNKNOWN) for name in dataclass_fields(value.cls)), "tuple")
    if isinstance(value, Class) and metaclass_of(context, value) is None:
        listed = context.heap.get((value, MEMBERS))
        return listed if isinstance(listed, Seq) else None
    return None


def _run_iterator(context: Context, value: Value, on_yield: Callable[[Value], None], node: ast.AST) -> Value:
    iterator = call_first_special(context, value, ("__iter__", "__aiter__"), [], node)
    if iterator is None:
        _ask_again(context, lambda: call_special(context, value, "__getitem__", [UNKNOWN], node), on_yield, node)
        return UNKNOWN
    run_over(context, iterator, on_yield, node)
    return UNKNOWN


def run_over(context: Context, iterator: Value, on_yield: Callable[[Value], None], node: ast.AST) -> None:
    """Give each value of an iterator to ``on_yield``."""
    iterator = context.current(iterator)
    if context.state is None:
        return
    if isinstance(iterator, Lazy):
        consume(context, iterator, on_yield)
    elif isinstance(iterator, Seq):
        for item in iterator.items:
            if context.state is not None:
                on_yield(item)
    elif isinstance(iterator, Instance) and any(
        special(context, iterator, name) is not None for name in ("__next__", "__anext__")
    ):
        _ask_again(
            context, lambda: call_first_special(context, iterator, ("__next__", "__anext__"), [], node), on_yield, node
        )
    else:
        before = snapshot(context)
        with doubtful(context):
            on_yield(UNKNOWN)
        merge(context, before)


def _ask_again(
    context: Context, ask: Callable[[], Value | None], on_yield: Callable[[Value], None], node: ast.AST
) -> None:
    """Ask an iterator twice for a value, as long as it may have one; it ends with an exception."""
    described = Handler(
        ("StopIteration", "IndexError", "StopAsyncIteration"),
        context.span(node),
        reraises=False,
        idle=True,
        silent=True,
    )
    ends = []
    for number in range(2):
        if context.state is None:
            break
        before = snapshot(context)
        if number:
            # There need not be another one.
            ends.append(before)
        context.handlers.append(Catching((described,), len(context.frames)))
        with doubtful(context, doubt=number > 0):
            value = ask()
            if isinstance(value, Lazy) and value.awaitable:
                value = consume(context, value, lambda given: None)
        context.handlers.pop()
        stopped = context.raised.pop(id(described), [])
        if stopped:
            end = snapshot(context)
            restore(context, before, functools.reduce(join_states, stopped))
            ends.append(snapshot(context))
            restore(context, end)
        if context.state is not None:
            with doubtful(context, doubt=number > 0 or bool(stopped)):
                on_yield(UNKNOWN if value is None else value)
    for end in ends:
        merge(context, end)


def first_pass(context: Context, lazy: Lazy) -> None:
    """Go through an iterator, of which not all need be asked for."""
    consume(context, lazy, lambda value: None)


def collected(context: Context, value: Value, node: ast.AST) -> list[Value] | None:
    """Go through an iterator to its end; return its values, None where it is none that is known."""
    lazy = value if isinstance(value, Lazy) else as_lazy(context, value, node)
    if lazy is None:
        return None
    values: list[Value] = []
    consume(context, lazy, values.append)
    return values


def call_all(context: Context, values: Sequence[Value], names: Sequence[str], node: ast.AST) -> None:
    """Call, of each of these values that is an object, the first of these special methods that its class has."""
    for value in values:
        if is_own(value) and context.state is not None:
            call_first_special(context, value, names, [], node)


def call_all_with(context: Context, values: Sequence[Value], name: str, args: Sequence[Value], node: ast.AST) -> None:
    """Call a special method of each of these values that has it."""
    for value in values:
        if context.state is not None:
            call_special(context, value, name, args, node)
