"""Code in texts: ``eval`` and ``exec`` of constants."""

from __future__ import annotations

import ast

from tfmemlint.interpreter.context import Context
from tfmemlint.interpreter.registry import Invocation, builtin
from tfmemlint.interpreter.values import UNKNOWN, Const, Value

MAX_EVALUATED_CHARACTERS = 2_000
"""Longer texts are data, or written by another program."""


def _parsed(call: Invocation, mode: str) -> ast.Expression | ast.Module | None:
    """Return the code in a text, each piece of it at the place of the call; None if it is not known."""
    text = call.values[0] if len(call.values) == 1 and not call.keywords else None
    if not isinstance(text, Const) or not isinstance(text.value, str) or len(text.value) > MAX_EVALUATED_CHARACTERS:
        return None
    kept = getattr(call.node, "evaluated", None)
    if kept is not None and kept[0] == text.value:
        tree: ast.Expression | ast.Module = kept[1]
        return tree
    try:
        found = ast.parse(text.value.strip(), mode=mode)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
    for node in ast.walk(found):
        for name in ("lineno", "col_offset", "end_lineno", "end_col_offset"):
            if hasattr(node, name):
                setattr(node, name, getattr(call.node, name, None))
    # It lives as long as the call does: what is kept of pieces of code is kept by their identity.
    call.node.evaluated = text.value, found  # type: ignore[attr-defined]
    return found if isinstance(found, (ast.Expression, ast.Module)) else None


@builtin("eval")
def eval_(context: Context, call: Invocation) -> Value | None:
    tree = _parsed(call, "eval")
    return context.evaluate(tree.body) if isinstance(tree, ast.Expression) else None


@builtin("exec")
def exec_(context: Context, call: Invocation) -> Value | None:
    tree = _parsed(call, "exec")
    if not isinstance(tree, ast.Module):
        return None
    for statement in tree.body:
        # Definitions are left alone: their bodies have no place in the text.
        if not isinstance(statement, (ast.Expr, ast.Assign, ast.AnnAssign, ast.Import, ast.ImportFrom)):
            return UNKNOWN
    context.execute(tree.body)
    return Const(None)
