"""Calling functions of the program: followed, or known to gain nothing."""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence
from itertools import compress, islice, repeat
from operator import is_, itemgetter

from tfmemlint.interpreter.context import NO_CELL_CHANGED, Context
from tfmemlint.interpreter.limits import (
    MAX_CALL_DEPTH,
    MAX_CONSTANTS_GIVEN,
    MAX_COUNTED_RECURSIONS,
    MAX_DICTIONARIES_MADE,
    MAX_IDLE_RUNS,
    MAX_RECURSIONS,
    MAX_RUNS_OF_HARMLESS_FUNCTION,
    STEPS_WITH_ALL_CODE,
)
from tfmemlint.interpreter.observer import Surrender
from tfmemlint.interpreter.operations.bindings import set_field_of
from tfmemlint.interpreter.operations.commands import command_arguments
from tfmemlint.interpreter.operations.contents import content_of, forget_contents, mark_escaped
from tfmemlint.interpreter.operations.dict_objects import ANY_NAME, is_dict
from tfmemlint.interpreter.operations.function_bodies import function_name, is_graph_function, run_function, unit_of
from tfmemlint.interpreter.operations.generators import coroutine, generator
from tfmemlint.interpreter.operations.settled_calls import (
    forget_fields,
    gains_nothing,
    is_module_getattr,
    new_fields,
    new_writes,
    note_settled,
    settled_key,
)
from tfmemlint.interpreter.operations.side_effects import havoc, is_side_effect_free
from tfmemlint.interpreter.operations.signals import may_be_signalled
from tfmemlint.interpreter.operations.starting import start_runtime
from tfmemlint.interpreter.program import Call, Event
from tfmemlint.interpreter.values import UNKNOWN, Const, Function, Instance, Value, as_made, is_called


def call_function(
    context: Context, function: Function, args: Sequence[Value], keywords: dict[str, Value], node: ast.AST
) -> Value:
    """Interpret a call of a function of the program."""
    context.step()
    unit = unit_of(context, function)
    if unit is context.main:
        # The file may be imported as a module, too: a call of that one's function is none of this one's.
        context.visited.add(id(function.node))
    commanded = command_arguments(function, context)
    if commanded is not None:
        args, keywords = [], commanded
    again = sum(frame.node is function.node for frame in context.frames)
    quiet = is_side_effect_free(context, function)
    counted = bool(args) and all(isinstance(value, Const) for value in (*args, *keywords.values()))
    inner = MAX_COUNTED_RECURSIONS if counted else 0 if quiet or context.is_short_of_steps else MAX_RECURSIONS
    if context.depth >= MAX_CALL_DEPTH or again > inner:
        # What is left of the recursion may do as much again, or nothing.
        context.tell_surrender(Surrender.RECURSION if again else Surrender.DEPTH, function_name(function.node))
        if not again:
            context.give_up(
                f"{context.source.path}:{context.span(node).row}: calls are nested more than {MAX_CALL_DEPTH} deep"
            )
        havoc(context, quiet)
        if isinstance(function.bound, Instance):
            context.incomplete.add(function.bound)
        for value in (*args, *keywords.values()):
            forget_contents(context, value)
        _may_signal(context, function, args, keywords)
        return UNKNOWN
    if unit.shapes.is_generator(function.node):
        # Nothing runs before it is iterated over, or entered.
        return generator(context, function, args, keywords, node)
    if isinstance(function.node, ast.AsyncFunctionDef):
        context.visited.discard(id(function.node))
        return coroutine(context, function, args, keywords, node)
    graph = is_graph_function(function)
    if graph and not context.here.graph_mode:
        start_runtime(context, node, "context", "tf.function", f"{function_name(function.node)}(), a tf.function,")
    plain = not any(map(is_called, (*args, *keywords.values()))) and not is_module_getattr(function)
    number_given = context.constants_given.get(id(function.node), 0) if counted else 0
    if plain and not 0 < number_given < MAX_CONSTANTS_GIVEN and gains_nothing(context, function, quiet, args, keywords):
        for value in (*args, *keywords.values()):
            mark_escaped(context, value)
        _may_signal(context, function, args, keywords)
        return UNKNOWN
    if not quiet:
        context.stored_calls += id(function.node) in context.stored_functions
        return _run_again(context, function, args, keywords, node, graph=graph)
    if plain and context.steps > STEPS_WITH_ALL_CODE:
        # The rest of the steps is for code that configures.
        context.give_up(f"more than {STEPS_WITH_ALL_CODE} steps")
        return _leave_out(context, function, args, keywords)
    key = settled_key(context, function, args, keywords)
    if plain and not is_module_getattr(function) and not 0 < number_given < MAX_CONSTANTS_GIVEN:
        counted_as = key[:2] if isinstance(key, tuple) else key
        context.harmless_runs[counted_as] = context.harmless_runs.get(counted_as, 0) + 1
        makes = function_name(function.node) == "__init__" and is_dict(context, function.bound or UNKNOWN)
        if context.harmless_runs[counted_as] > (MAX_DICTIONARIES_MADE if makes else MAX_RUNS_OF_HARMLESS_FUNCTION):
            return _leave_out(context, function, args, keywords)
    outer = len(context.outer_bindings)
    before, reads, changed, noisy, given = (
        context.here,
        context.reads,
        context.oldest_cell_changed,
        context.stored_calls,
        len(context.fields_given),
    )
    context.reads, context.oldest_cell_changed, begun, heap = {}, NO_CELL_CHANGED, context.next_serial(), context.heap
    result = run_function(context, function, args, keywords, node, graph=graph)
    if counted and isinstance(result, Const) and result.value is not None:
        # What it makes of other constants is another one: ``in_mib("4GiB")``.
        context.constants_given[id(function.node)] = number_given + 1
    looked = {cell: content for cell, content in context.reads.items() if cell.number < begun}
    again = context.stored_calls != noisy and any(is_called(content_of(context, cell)) for cell in looked)
    if context.oldest_cell_changed < begun or again or is_module_getattr(function):
        # What it does depends on what others have put where it looks, or the other way round.
        context.settled.pop(key, None)
        changed_cells = {cell for cell in looked if context.heap.get((cell, "")) is not heap.get((cell, ""))}
        context.altered_cells.setdefault(id(function.node), set()).update(changed_cells)
    else:
        fields = new_fields(context, function.bound, given, begun)
        writes = new_writes(context, function, heap, outer)
        note_settled(context, function, key, before, result, looked, fields, writes, begun)
    context.reads, context.oldest_cell_changed = {**looked, **reads}, min(changed, context.oldest_cell_changed)
    return result


def _run_again(
    context: Context,
    function: Function,
    args: Sequence[Value],
    keywords: dict[str, Value],
    node: ast.AST,
    *,
    graph: bool,
) -> Value:
    """Interpret a call of a function that may configure something, unless it has done nothing new many times."""
    key = settled_key(context, function, args, keywords)
    if context.is_short_of_steps and context.idle_runs.get(key, 0) >= MAX_IDLE_RUNS:
        return _leave_out(context, function, args, keywords)
    before, events = context.state, len(context.events)
    result = run_function(context, function, args, keywords, node, graph=graph)
    known = isinstance(result, Const) and result.value is not None
    if not known and context.state == before and all(map(_configures_nothing, islice(context.events, events, None))):
        context.idle_runs[key] = context.idle_runs.get(key, 0) + 1
    return result


def _configures_nothing(event: Event) -> bool:
    return isinstance(event, Call) and not event.name.startswith("tf.config.")


def _leave_out(context: Context, function: Function, args: Sequence[Value], keywords: Mapping[str, Value]) -> Value:
    """Leave out a call of a function that was interpreted many times: what it does to containers isn't known."""
    context.tell_surrender(Surrender.REPEATED, function_name(function.node))
    havoc(context, not context.stored_functions)
    _may_signal(context, function, args, keywords)
    for value in (*args, *keywords.values()):
        mark_escaped(context, value)
        forget_contents(context, value)
    if isinstance(function.bound, Instance):
        context.incomplete.add(function.bound)
        set_field_of(context, function.bound, ANY_NAME, UNKNOWN)
    forget_fields(context, function)
    cells = context.altered_cells.get(id(function.node), ())
    bound = function.bound
    holders = map(itemgetter(0), context.heap)
    held = list(compress(context.heap.values(), map(is_, holders, repeat(bound)))) if bound is not None else []
    for value in (*map(as_made, cells), *held):
        forget_contents(context, value)
    return UNKNOWN


def _may_signal(context: Context, function: Function, args: Sequence[Value], keywords: Mapping[str, Value]) -> None:
    """Note what a call that is not followed may do to objects by which threads wait for each other."""
    given = (*args, *keywords.values())
    may_be_signalled(context, given if function.bound is None else (function.bound, *given))
