"""Calls that need not be followed again: the outcomes of functions that configure nothing."""

from __future__ import annotations

import ast
from collections.abc import Hashable, Mapping, Sequence
from itertools import compress, islice
from operator import is_not
from typing import Any

from tfmemlint.interpreter.context import Context
from tfmemlint.interpreter.frames import Heap, SettledCall, Write
from tfmemlint.interpreter.operations.bindings import set_field_of
from tfmemlint.interpreter.operations.contents import gained_no_code, has_code, new_container
from tfmemlint.interpreter.operations.function_bodies import unit_of
from tfmemlint.interpreter.state import State, Tri
from tfmemlint.interpreter.values import (
    UNKNOWN,
    Cell,
    Class,
    Const,
    Dict,
    Function,
    Instance,
    Ref,
    Rows,
    Scope,
    Seq,
    Value,
    is_called,
)

_VERSIONS = frozenset({"__version__", "VERSION"})
_MAX_WRITES = 8
"""Names outside of it that a call may bind and still be left out the next time."""


def is_module_getattr(function: Function) -> bool:
    """True if a function is a ``__getattr__``: what it does for one name says nothing of others."""
    return getattr(function.node, "name", "") == "__getattr__"


def settled_key(context: Context, function: Function, args: Sequence[Value], keywords: Mapping[str, Value]) -> Hashable:
    """Return what the outcome of a call depends on: the function; the class of the receiver, where methods of it are
    called; constants that are given, where the function decides by them; and the code that a closure holds, which is
    another one for each function that a decorator wraps.
    """
    shapes = unit_of(context, function).shapes
    called = shapes.called_on_receiver(function.node)
    receiver = function.bound.cls if isinstance(function.bound, Instance) else function.bound
    of_class = id(receiver.node) if called and isinstance(receiver, Class) else 0
    given: tuple[object, ...] = ()
    if (args or keywords) and shapes.decides_by_arguments(function.node):
        plain = (*args, *(value for _, value in sorted(keywords.items())))
        given = tuple(map(_plain, plain))
    if isinstance(function.bound, (Instance, Class)):
        fields = shapes.decides_by_fields(function.node)
        given += tuple(_plain(context.heap.get((function.bound, name))) for name in fields)
    return id(function.node), of_class, given, _code_enclosed(function)


def _code_enclosed(function: Function) -> tuple[tuple[str, int], ...]:
    """Return the functions and classes that the functions around ``function`` have given names."""
    found: list[tuple[str, int]] = []
    scope = function.scope
    while scope is not None and scope.parent is not None:
        found += [
            (name, id(value.node))
            for name, value in scope.names.items()
            if isinstance(value, (Function, Class)) and value.node is not function.node
        ]
        scope = scope.parent
    return tuple(found)


def _plain(value: Value | None) -> object:
    """Return what tells a constant from others, or an object from those of other types; None for all other values."""
    if isinstance(value, Dict):
        return Dict
    if isinstance(value, Instance):
        return id(value.cls.node)
    if isinstance(value, Const) and isinstance(value.value, (str, int, float, type(None))):
        return type(value.value), value.value
    return None


def _code_fields(context: Context, function: Function) -> tuple[Value | None, ...]:
    """Return the attributes of the receiver that a method calls."""
    receiver = function.bound
    if not isinstance(receiver, (Instance, Class)):
        return ()
    called = unit_of(context, function).shapes.called_on_receiver(function.node)
    return tuple(context.heap.get((receiver, name)) for name in called)


def gains_nothing(
    context: Context,
    function: Function,
    quiet: bool,
    args: Sequence[Value],
    keywords: Mapping[str, Value],
) -> bool:
    """True if a call need not be followed: it configures nothing, and nothing is left that it could start."""
    started = context.modules is not None and context.here.context.has is Tri.YES
    reads = unit_of(context, function).shapes.reads_settings
    if quiet and started and not context.stored_functions and not reads(function.node):
        _mark_incomplete(context, function)
        return True
    known = context.settled.get(settled_key(context, function, args, keywords))
    if known is None or (known.starts and context.here.context.has is not Tri.YES):
        return False
    if _returns_the_release(function):
        return False
    if known.rebindings != context.code_rebindings or known.code != _code_fields(context, function):
        return False
    if not all(_stands(context, function, write) for write in known.writes):
        return False
    if known.reads:
        other = known.receiver is not function.bound and has_code(context, function.bound)
        if other or not gained_no_code(context, known.reads):
            return False
        context.reads = {**known.reads, **context.reads}
    given = (*args, *keywords.values())
    listed = any(isinstance(value, (Seq, Dict, Rows)) and value.cell is not None for value in given)
    if listed and unit_of(context, function).shapes.changes_arguments(function.node):
        return False
    if isinstance(function.bound, Instance):
        for name, value in known.fields:
            set_field_of(context, function.bound, name, new_container(context, value))
    _mark_incomplete(context, function)
    return True


def _returns_the_release(function: Function) -> bool:
    """True if all that a function does is to return TensorFlow's version, or what it makes of it: a condition may ask
    for it twice, and needs the value each time."""
    body = getattr(function.node, "body", None)
    if not isinstance(body, list) or not isinstance(body[-1], ast.Return) or len(body) > 1 + _has_docstring(body):
        return False
    return any(isinstance(node, ast.Attribute) and node.attr in _VERSIONS for node in ast.walk(body[-1]))


def _has_docstring(body: Sequence[ast.stmt]) -> bool:
    return isinstance(body[0], ast.Expr) and isinstance(body[0].value, ast.Constant)


def _mark_incomplete(context: Context, function: Function) -> None:
    if isinstance(function.bound, Instance):
        context.incomplete.add(function.bound)


def _stands(context: Context, function: Function, write: Write) -> bool:
    """True if what a call has bound outside of it is bound to that now."""
    holder, name, value = write
    if isinstance(holder, Scope):
        return holder.names.get(name) == value
    receiver = holder or function.bound
    return isinstance(receiver, (Instance, Class)) and context.heap.get((receiver, name)) == value


def new_fields(context: Context, receiver: Value | None, given: int, begun: int) -> tuple[tuple[str, Seq | Dict], ...]:
    """Return the empty containers that an object was given since."""
    return tuple(
        (name, value)
        for holder, name, value in context.fields_given[given:]
        if holder is receiver and value.cell is not None and value.cell.number > begun and not is_called(value)
    )


def new_writes(context: Context, function: Function, heap: Heap, outer: int) -> tuple[Write, ...] | None:
    """Return the attributes and the names of other scopes that were bound since; None if that has changed one of them.

    A call that has changed something may do something else the next time.
    """
    writes: list[Write] = []
    changed = False
    made = getattr(function.node, "name", "") == "__init__"
    fields = context.altered_fields.setdefault(id(function.node), set())
    for (holder, name), value in _changed_items(context.heap, heap):
        if isinstance(holder, Cell):
            continue
        before = heap.get((holder, name))
        own = holder is function.bound
        if (own and not made) or isinstance(holder, Class):
            writes.append((None if own else holder, name, value))
            fields.add((None if own else holder, name))
            changed = changed or before != value
    for home, name, value, old in context.outer_bindings[outer:]:
        writes.append((home, name, value))
        changed = changed or old != value
    return None if changed or len(writes) > _MAX_WRITES else tuple(writes)


def _changed_items(heap: Heap, before: Heap) -> list[tuple[Any, Value]]:
    """Return what a heap has that ``before`` has not, or has otherwise, in order.

    Most changes copy a heap and set one key: the keys of both are the same objects then, one after another.
    """
    if heap is before:
        return []
    count = len(before)
    if len(heap) < count or any(map(is_not, heap, before)):
        return [item for item in heap.items() if before.get(item[0]) is not item[1]]
    found = list(compress(heap.items(), map(is_not, heap.values(), before.values())))
    return [*found, *islice(heap.items(), count, None)]


def forget_fields(context: Context, function: Function) -> None:
    """Forget the attributes that calls of a function have changed: it is not followed any more."""
    for holder, name in context.altered_fields.get(id(function.node), ()):
        receiver = holder or function.bound
        if isinstance(receiver, (Instance, Class)):
            context.heap = {**context.heap, (receiver, name): UNKNOWN}


def _is_older_container(value: Value, begun: int) -> bool:
    """True if a value is a container that was made before."""
    return isinstance(value, (Seq, Dict)) and value.cell is not None and value.cell.number < begun


def note_settled(
    context: Context,
    function: Function,
    key: Hashable,
    before: State,
    result: Value,
    reads: Mapping[Cell, Value | None],
    fields: tuple[tuple[str, Seq | Dict], ...],
    writes: tuple[Write, ...] | None,
    begun: int,
) -> None:
    """Record the outcome of a call that configures nothing, so that the next one need not be followed."""
    after = context.state
    if (
        after is None
        or is_called(result)
        or isinstance(result, Ref)
        or _is_older_container(result, begun)
        or writes is None
    ):
        # It never came back: what stands behind the call is not reached, and it has to be seen each time. So has
        # what it gives, where that may be called, or changed.
        context.settled.pop(key, None)
        return
    phases = [(state.context, state.allocator, state.listed) for state in (before, after)]
    known = context.settled.get(key)
    starts = phases[0] != phases[1] or (known is not None and known.starts)
    context.settled[key] = SettledCall(
        starts,
        reads,
        function.bound if reads else None,
        fields,
        writes,
        _code_fields(context, function),
        context.code_rebindings,
    )
