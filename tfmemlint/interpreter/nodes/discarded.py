"""Expressions that are statements: nothing gets their values."""

from __future__ import annotations

import ast

from tfmemlint.interpreter.context import Context
from tfmemlint.interpreter.operations.dropped_copies import report_dropped_copy
from tfmemlint.interpreter.operations.never_run import report_discarded, report_unassigned
from tfmemlint.interpreter.registry import visits
from tfmemlint.interpreter.values import Function, Lazy, Partial, Ref, Thread


@visits(ast.Expr)
def visit_expression_statement(context: Context, node: ast.Expr) -> None:
    value = context.evaluate(node.value)
    report_unassigned(context, node.value)
    report_dropped_copy(context, node)
    if context.state is not None and isinstance(value, (Lazy, Partial, Function, Ref, Thread)):
        report_discarded(context, node, value)
