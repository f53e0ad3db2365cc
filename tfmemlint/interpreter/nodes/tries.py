"""``try`` statements: the block, its handlers and its ``finally``."""

from __future__ import annotations

import ast
import functools
from collections.abc import Sequence

from tfmemlint.facts.syntax import ends_in_exit, gives_up, handler_types, is_idle, is_silent
from tfmemlint.interpreter.context import Context
from tfmemlint.interpreter.frames import Catching, Exit, Snapshot
from tfmemlint.interpreter.observer import Decision, Reason
from tfmemlint.interpreter.operations.bindings import bind
from tfmemlint.interpreter.operations.events import statement_span
from tfmemlint.interpreter.operations.exceptions import as_configured, resume_exit, started_or_not
from tfmemlint.interpreter.operations.paths import doubtful, merge, restore, snapshot
from tfmemlint.interpreter.program import Handler
from tfmemlint.interpreter.registry import visits
from tfmemlint.interpreter.state import join_states
from tfmemlint.interpreter.values import UNKNOWN

_TRY_STATEMENTS: tuple[type[ast.AST], ...] = (ast.Try, *([ast.TryStar] if hasattr(ast, "TryStar") else []))
_MISSING = frozenset({"ImportError", "ModuleNotFoundError", "AttributeError"})
"""The exceptions that using a name raises which a release lacks."""


@visits(*_TRY_STATEMENTS)
def visit_try(context: Context, node: ast.Try) -> None:
    final = Catching((), len(context.frames), len(context.loops), []) if node.finalbody else None
    if final is not None:
        context.handlers.append(final)
    before = snapshot(context)
    _guarded_block(context, node, before)
    if final is not None:
        context.handlers.pop()
        _finally_block(context, node.finalbody, before, final.exits or [])


def _guarded_block(context: Context, node: ast.Try, before: Snapshot) -> None:
    """Interpret the body of a ``try``, its handlers, and its ``else``."""
    group = tuple(
        Handler(
            handler_types(handler),
            context.span(handler) if not handler.body else statement_span(context, handler),
            reraises=ends_in_exit(handler.body),
            idle=is_idle(handler.body),
            silent=is_silent(handler.body),
            gives_up=gives_up(handler.body),
            path=context.source.path,
        )
        for handler in node.handlers
    )
    context.handlers.append(Catching(group, len(context.frames)))
    lacking = context.missing_names_used
    context.execute(node.body)
    context.handlers.pop()
    lacks = context.missing_names_used > lacking
    after = snapshot(context)
    if context.state is not None:
        context.execute(node.orelse)
    end = snapshot(context)
    ends = []
    entered = []
    for handler, described in zip(node.handlers, group, strict=True):
        restore(context, before)
        merge(context, after)
        caught = context.raised.pop(id(described), [])
        if caught:
            context.state = functools.reduce(join_states, caught)
        elif context.state is not None and before.state is not None:
            # Whether the body had come as far as what starts the runtime when it failed, nobody knows.
            context.state = as_configured(started_or_not(context.state, before.state), before.state)
        if context.observer is not None and context.state is not None:
            decision, reason = (Decision.BOTH, Reason.RAISED) if caught else (Decision.NOT_TAKEN, Reason.MAY_RAISE)
            context.observer.branch(
                context.source.path, described.span, f"except {', '.join(described.catches)}", decision, reason
            )
        if handler.name:
            bind(context, handler.name, UNKNOWN)
        context.caught.append(described.catches)
        fallback = not caught and not lacks and not _MISSING.isdisjoint(described.catches)
        context.import_fallbacks += fallback
        with doubtful(context):
            if handler.type is not None:
                context.evaluate(handler.type)
            context.execute(handler.body)
        context.import_fallbacks -= fallback
        context.caught.pop()
        ends.append(snapshot(context))
        if caught or (described.takes("ImportError") and _falls_back(context, before, after)):
            entered.append(ends[-1])
    # Unless something is known to raise, the body is taken to go through: a claim that rests on an exception nobody
    # knows of would be a guess.
    restore(context, end)
    for handled in entered or (ends if context.state is None else ()):
        merge(context, handled)


def _falls_back(context: Context, before: Snapshot, after: Snapshot) -> bool:
    """True if a handler has imported a module of the project in the place of one that may be missing."""
    if context.state is None or before.state is None or context.state.imported is before.state.imported:
        return False
    if after.state is not None and after.state.imported is not before.state.imported:
        # It was one of the project's own, too, and there it was.
        return False
    return any(name not in before.state.imported for name in context.state.imported)


def _finally_block(context: Context, body: Sequence[ast.stmt], before: Snapshot, exits: Sequence[Exit]) -> None:
    """Interpret a ``finally``, for each way in which the block before it ends."""
    end = snapshot(context)
    if exits or context.state is None:
        restore(context, before)
        merge(context, end)
        if exits:
            context.state = functools.reduce(join_states, [way_out.state for way_out in exits])
            if end.state is not None:
                # The same lines are run where nothing is raised: what is so on this way alone is not so for sure.
                context.state = started_or_not(context.state, end.state)
        with doubtful(context, doubt=end.state is not None):
            context.execute(body)
        if context.state is not None:
            ended = context.state
            for way_out in exits:
                resume_exit(context, way_out, ended)
        restore(context, end)
    if end.state is not None:
        context.execute(body)
