"""Entry points: what a person runs, and functions that nothing in a file calls."""

from __future__ import annotations

import ast

from tfmemlint.interpreter.context import Context
from tfmemlint.interpreter.operations.events import event_fields
from tfmemlint.interpreter.program import End
from tfmemlint.model.finding import Span


def end_entry(context: Context, entry: str, node: ast.AST) -> None:
    """End an entry point: behind its last line, or where the program is left before that."""
    ended = context.state
    context.state = ended or context.end_state
    if context.state is not None:
        context.emit(End(entry=entry, **(event_fields(context, node) | {"span": Span(1, 1, 1, 1)})))
    context.state, context.end_state, context.surely_left = ended, None, False
