"""Generators: their bodies run piece by piece, as something iterates over them."""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence

from tfmemlint.interpreter.context import Context
from tfmemlint.interpreter.frames import Frame, Loop
from tfmemlint.interpreter.operations.contents import mark_escaped
from tfmemlint.interpreter.operations.exhausted import is_exhausted, note_exhausted, report_exhausted
from tfmemlint.interpreter.operations.function_bodies import run_function
from tfmemlint.interpreter.operations.paths import merge, snapshot
from tfmemlint.interpreter.operations.side_effects import havoc, is_side_effect_free
from tfmemlint.interpreter.values import UNKNOWN, Function, Lazy, Value


def generator(
    context: Context, function: Function, args: Sequence[Value], keywords: dict[str, Value], node: ast.AST
) -> Lazy:
    """Return what calling a generator function gives: its body runs piece by piece."""
    quiet = is_side_effect_free(context, function)
    return Lazy(
        lambda on_yield: run_function(context, function, args, keywords, node, on_yield=on_yield),
        quiet,
        code=function,
        made=(context.source.path, context.span(node)),
    )


def coroutine(
    context: Context, function: Function, args: Sequence[Value], keywords: dict[str, Value], node: ast.AST
) -> Lazy:
    """Return what calling an ``async def`` gives: nothing of its body runs before it is awaited."""

    def run(on_yield: Callable[[Value], None]) -> Value:
        context.visited.add(id(function.node))
        return run_function(context, function, args, keywords, node)

    return Lazy(run, is_side_effect_free(context, function), awaitable=True, code=function)


def piece_run_later(context: Context, node: ast.AST, run: Callable[[], Value], code: Value) -> Lazy:
    """Return a piece of the current function that runs later, as a generator does; it calls ``code``."""
    scope, unit, function = context.scope, context.unit, context.frame.function

    def later(on_yield: Callable[[Value], None]) -> Value:
        consumer = context.consumer()
        here, context.unit = context.unit, unit
        context.frames.append(Frame(function, scope, node, on_yield=on_yield, consumer=consumer))
        try:
            return run()
        finally:
            context.frames.pop()
            context.unit = here

    return Lazy(later, code=code, made=(context.source.path, context.span(node)))


def yield_value(context: Context, value: Value) -> None:
    """Pass a value to the code that iterates: it runs now, in its own surroundings."""
    if context.state is None:
        return
    frame = context.frame
    if frame.on_yield is None or frame.consumer is None:
        mark_escaped(context, value)
        return
    saved = context.frames, context.unit, context.statement, context.loops, context.handlers
    taker = frame.consumer
    context.frames, context.unit, context.statement = list(taker.frames), taker.unit, taker.statement
    context.loops, context.handlers = taker.loops, taker.handlers
    try:
        frame.on_yield(value)
    finally:
        context.frames, context.unit, context.statement, context.loops, context.handlers = saved


def consume(context: Context, lazy: Lazy, on_yield: Callable[[Value], None]) -> Value:
    """Run a generator, with ``on_yield`` for each value that it gives."""
    if context.state is None:
        return UNKNOWN
    if id(lazy) in context.started_generators:
        # Where it stands by now is not known.
        havoc(context, lazy.quiet)
        return UNKNOWN
    context.started_generators[id(lazy)] = lazy
    return lazy.run(on_yield)


def drain(context: Context, lazy: Lazy) -> Value:
    """Run a generator to its end."""
    is_new = id(lazy) not in context.started_generators
    value = consume(context, lazy, lambda value: None)
    if is_new and context.statement is not None:
        note_exhausted(context, context.statement, lazy)
    return value


def first_of(context: Context, lazy: Lazy, is_last: Callable[[Value], bool] = lambda value: True) -> Value:
    """Run a generator up to its first value, as ``next(...)`` and entering a context do, or up to ``is_last``."""
    before = context.statement
    ends = []
    values: list[Value] = []

    def stop(value: Value) -> None:
        if not is_last(value):
            return
        ends.append(snapshot(context))
        values.append(value)
        context.state = None

    consume(context, lazy, stop)
    context.statement = before
    for end in ends:
        merge(context, end)
    return values[0] if len(values) == 1 else UNKNOWN


def iterate_lazy(
    context: Context,
    node: ast.AST,
    lazy: Lazy,
    bind: Callable[[Value], None],
    body: Callable[[], None],
    rebound: frozenset[str],
) -> None:
    """Interpret a loop over a generator: its body runs where a value is given, unless it is exhausted."""
    if is_exhausted(context, lazy):
        report_exhausted(context, node, lazy)
        return
    is_new = id(lazy) not in context.started_generators
    loop = Loop(node, len(context.frames), False, rebound)
    context.loops = [*context.loops, loop]

    def turn(value: Value) -> None:
        bind(value)
        body()
        for skipped in loop.continues:
            merge(context, skipped)
        loop.continues.clear()
        loop.repeated = True

    consume(context, lazy, turn)
    context.loops = context.loops[:-1]
    if is_new and not loop.breaks:
        note_exhausted(context, node, lazy)
    for left in loop.breaks:
        merge(context, left)
