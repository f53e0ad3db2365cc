"""Calls that need not be followed again: the outcomes of functions that configure nothing."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from tfmemlint.interpreter.context import Context
from tfmemlint.interpreter.frames import SettledCall
from tfmemlint.interpreter.operations.bindings import set_field_of
from tfmemlint.interpreter.operations.contents import gained_no_code, has_code, new_container
from tfmemlint.interpreter.operations.function_bodies import unit_of
from tfmemlint.interpreter.state import State, Tri
from tfmemlint.interpreter.values import Cell, Dict, Function, Instance, Ref, Seq, Value, is_called


def is_module_getattr(function: Function) -> bool:
    """True if a function is a ``__getattr__``: what it does for one name says nothing of others."""
    return getattr(function.node, "name", "") == "__getattr__"


def gains_nothing(
    context: Context, function: Function, quiet: bool, args: Sequence[Value], keywords: Mapping[str, Value]
) -> bool:
    """True if a call need not be followed: it configures nothing, and nothing is left that it could start."""
    if quiet and context.modules is not None and context.here.context.has is Tri.YES and not context.stored_functions:
        return True
    known = context.settled.get(id(function.node))
    if known is None or (known.starts and context.here.context.has is not Tri.YES):
        return False
    if known.reads:
        other = known.receiver is not function.bound and has_code(context, function.bound)
        if other or not gained_no_code(context, known.reads):
            return False
        context.reads = {**known.reads, **context.reads}
    given = (*args, *keywords.values())
    listed = any(isinstance(value, (Seq, Dict)) and value.cell is not None for value in given)
    if listed and unit_of(context, function).shapes.changes_arguments(function.node):
        return False
    if isinstance(function.bound, Instance):
        for name, value in known.fields:
            set_field_of(context, function.bound, name, new_container(context, value))
    return True


def new_fields(context: Context, receiver: Value | None, given: int, begun: int) -> tuple[tuple[str, Seq | Dict], ...]:
    """Return the empty containers that an object was given since."""
    return tuple(
        (name, value)
        for holder, name, value in context.fields_given[given:]
        if holder is receiver and value.cell is not None and value.cell.number > begun and not is_called(value)
    )


def _is_older_container(value: Value, begun: int) -> bool:
    """True if a value is a container that was made before."""
    return isinstance(value, (Seq, Dict)) and value.cell is not None and value.cell.number < begun


def note_settled(
    context: Context,
    function: Function,
    before: State,
    result: Value,
    reads: Mapping[Cell, Value | None],
    fields: tuple[tuple[str, Seq | Dict], ...],
    begun: int,
) -> None:
    """Record the outcome of a call that configures nothing, so that the next one need not be followed."""
    key, after = id(function.node), context.state
    if after is None or is_called(result) or isinstance(result, Ref) or _is_older_container(result, begun):
        # It never came back: what stands behind the call is not reached, and it has to be seen each time. So has
        # what it gives, where that may be called, or changed.
        context.settled.pop(key, None)
        return
    phases = [(state.context, state.allocator, state.listed) for state in (before, after)]
    known = context.settled.get(key)
    starts = phases[0] != phases[1] or (known is not None and known.starts)
    context.settled[key] = SettledCall(starts, reads, function.bound if reads else None, fields)
