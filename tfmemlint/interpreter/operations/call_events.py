"""TODO."""

from __future__ import annotations

import ast

from tfmemlint.interpreter.context import Context
from tfmemlint.interpreter.operations.events import name_event_fields
from tfmemlint.interpreter.program import Arg, Call
from tfmemlint.interpreter.state import ConfigEffect


def emit_call(
    context: Context, name: str, node: ast.AST, written: list[Arg], outcome: ConfigEffect | None = None
) -> Call:
    func = node.func if isinstance(node, ast.Call) else node
    statement = context.statement
    return context.emit(
        Call(
            name=name,
            args=tuple(written),
            func=context.span(func),
            text=context.text(func),
            effect=outcome,
            result_used=not isinstance(statement, ast.Expr) or statement.value is not node,
            node=node if isinstance(node, ast.Call) else None,
            **name_event_fields(context, node, name),
        )
    )
