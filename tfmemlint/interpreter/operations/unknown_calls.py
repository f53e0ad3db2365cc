"""Calls of which nothing is known: what they are given may be kept, changed and called."""

from __future__ import annotations

import ast
from collections.abc import Sequence

from tfmemlint.interpreter.context import Context
from tfmemlint.interpreter.observer import Surrender
from tfmemlint.interpreter.operations.callbacks import note_process_functions
from tfmemlint.interpreter.operations.contents import mark_escaped, passed_to_unknown
from tfmemlint.interpreter.operations.option_parsers import doubt_parsers
from tfmemlint.interpreter.operations.signals import may_be_signalled
from tfmemlint.interpreter.values import UNKNOWN, Value


def call_not_followed(context: Context, args: Sequence[Value], keywords: dict[str, Value], node: ast.AST) -> Value:
    """Interpret a call of what isn't known: it may do anything with what it is given."""
    if context.observer is not None:
        context.tell_surrender(Surrender.UNKNOWN_CALLEE, context.text(node.func) if isinstance(node, ast.Call) else "")
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        note_process_functions(context, node.func.attr, args, keywords, node)
    may_be_signalled(context, (*args, *keywords.values()))
    for value in (*args, *keywords.values()):
        mark_escaped(context, value)
        passed_to_unknown(context, value)
    if context.parsers:
        doubt_parsers(context, (*args, *keywords.values()))
    return UNKNOWN
