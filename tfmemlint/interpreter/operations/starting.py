"""The start of the runtime."""

from __future__ import annotations

import ast
from dataclasses import replace

from tfmemlint.interpreter.context import Context
from tfmemlint.interpreter.operations.events import event_fields
from tfmemlint.interpreter.operations.exceptions import throw
from tfmemlint.interpreter.program import RuntimeStart
from tfmemlint.interpreter.state import Phase, Tri


def start_runtime(context: Context, node: ast.AST, what: str, name: str, text: str) -> None:
    """Start the context, the allocator, or the listing of devices."""
    state = context.here
    phase: Phase = getattr(state, what)
    now = phase.under(context.guards)
    if now.has is Tri.YES:
        return
    where = context.where or ("class body:" if isinstance(context.frame.node, ast.ClassDef) else "")
    first = now.has in (Tri.NO, Tri.UNKNOWN)
    event = RuntimeStart(what=what, name=name, text=text, first=first, where=where, **event_fields(context, node))
    context.emit(event)
    if what == "context" and state.may_differ:
        # With several GPUs it does not start then.
        throw(context, "ValueError")
    changes = {what: Phase(Tri.YES, event)}
    # Making the devices lists them, and the context makes them.
    if what in ("context", "allocator") and state.listed.has is not Tri.YES:
        changes["listed"] = Phase(Tri.YES, event)
    if what == "context" and state.allocator.has is not Tri.YES:
        changes["allocator"] = Phase(Tri.YES, event)
    context.state = replace(state, **changes)  # type: ignore[arg-type]
