"""Ways that end early: exceptions, returns, and the ends of entry points."""

from __future__ import annotations

import ast
import functools
from collections.abc import Sequence
from dataclasses import replace

from tfmemlint.interpreter.context import Context
from tfmemlint.interpreter.frames import Broken, Catching, Continued, Exit, Raised, Return, Returned
from tfmemlint.interpreter.operations.events import event_fields
from tfmemlint.interpreter.operations.paths import merge, restore, snapshot
from tfmemlint.interpreter.program import End, Handler
from tfmemlint.interpreter.state import Phase, State, Tri, join_states
from tfmemlint.model.finding import Span


def throw(context: Context, *exceptions: str) -> bool:
    """Raise one of these exceptions here, perhaps; return True if a handler in the program goes on from there."""
    if context.state is None:
        return False
    for catching in reversed(context.handlers):
        if catching.exits is not None:
            catching.exits.append(Raised(context.state, exceptions, certain=False))
            return _is_caught(context, exceptions)
        for handler in catching.group:
            if any(handler.takes(exception) for exception in exceptions):
                context.raised.setdefault(id(handler), []).append(context.state)
                return True
    return False


def _is_caught(context: Context, exceptions: Sequence[str]) -> bool:
    return any(
        handler.takes(exception) for entry in context.handlers for handler in entry.group for exception in exceptions
    )


def leave(context: Context, *, certain: bool, exceptions: tuple[str, ...] = ("SystemExit",)) -> None:
    """End the path here with an exception: a handler takes it, or the entry point ends."""
    final = next((catching.exits for catching in reversed(context.handlers) if _meets(catching, exceptions)), None)
    if context.state is not None and final is not None:
        final.append(Raised(context.state, exceptions, certain))
        context.state = None
    elif throw(context, *exceptions):
        context.state = None
    else:
        _end_path(context, certain=certain)


def _meets(catching: Catching, exceptions: Sequence[str]) -> bool:
    """True if an exception from here stops first at this place on its way."""
    return catching.exits is not None or any(handler.takes(name) for handler in catching.group for name in exceptions)


def _pass_finally(context: Context, way: Exit) -> bool:
    """Pass a way out of a block to an enclosing ``finally`` of this function; return False if there is none."""
    loops = len(context.loops) if isinstance(way, (Broken, Continued)) else 0
    for catching in reversed(context.handlers):
        if catching.exits is not None and catching.depth == len(context.frames) and catching.loops >= loops:
            catching.exits.append(way)
            return True
    return False


def resume_exit(context: Context, way: Exit, state: State) -> None:
    """Resume a way out of a block after that block's ``finally``, in this ``state``."""
    match way:
        case Raised(_, exceptions, certain):
            context.state = state
            leave(context, certain=certain, exceptions=exceptions)
        case Returned(_, value):
            if not _pass_finally(context, Returned(state, value)):
                names = dict(context.module.names)
                guards = context.frame.conditions_within(context.guards)
                context.frame.returns.append(Return(state, value, context.heap, names, guards))
        case Broken(snapshot):
            if not _pass_finally(context, Broken(replace(snapshot, state=state))) and context.loops:
                context.loops[-1].breaks.append(replace(snapshot, state=state))
        case Continued(snapshot):
            if not _pass_finally(context, Continued(replace(snapshot, state=state))) and context.loops:
                context.loops[-1].continues.append(replace(snapshot, state=state))
    context.state = None


def started_or_not(state: State, before: State) -> State:
    """Return the state in which what has started since ``before`` may or may not have started."""
    changes = {
        which: Phase(Tri.UNKNOWN)
        for which in ("context", "allocator", "listed")
        if getattr(state, which) != getattr(before, which)
    }
    return replace(state, **changes) if changes else state  # type: ignore[arg-type]


def as_configured(state: State, before: State) -> State:
    """Return the state with the configuration of GPUs that was in force ``before``.

    A handler is reached where a call raised: most often the one that configures, which has set nothing then, and
    nothing tells which calls had been made by then.
    """
    return replace(
        state,
        growth=before.growth,
        limits=before.limits,
        cpu_split=before.cpu_split,
        visible=before.visible,
        threading=before.threading,
    )


def suppressing(
    context: Context, exceptions: tuple[str, ...], manager: ast.expr, body: functools.partial[None]
) -> None:
    """Interpret a block that these exceptions end, but don't get out of."""
    described = Handler(exceptions, context.span(manager), reraises=False, idle=True, silent=True)
    before = snapshot(context)
    context.handlers.append(Catching((described,), len(context.frames)))
    body()
    context.handlers.pop()
    caught = context.raised.pop(id(described), [])
    if caught:
        end = snapshot(context)
        restore(context, before)
        merge(context, end)
        context.state = functools.reduce(join_states, caught)
        merge(context, end)


def _end_path(context: Context, *, certain: bool) -> None:
    """End the path here, and with it the entry point; ``certain`` if no handler can change that."""
    sure = certain and not context.uncertain
    if context.state is not None and (sure or not context.surely_left):
        alone = context.end_state is None or sure is not context.surely_left
        context.end_state = (
            context.state if alone or context.end_state is None else join_states(context.end_state, context.state)
        )
        context.surely_left = sure
    context.state = None


def end_entry(context: Context, entry: str, node: ast.AST) -> None:
    """End an entry point: behind its last line, or where the program is left before that."""
    ended = context.state
    context.state = ended or context.end_state
    if context.state is not None:
        context.emit(End(entry=entry, **(event_fields(context, node) | {"span": Span(1, 1, 1, 1)})))
    context.state, context.end_state, context.surely_left = ended, None, False
