"""Assignments and ``:=``."""

from __future__ import annotations

import ast

from tfmemlint.interpreter.context import Context
from tfmemlint.interpreter.operations.amounts_told import told_in_name
from tfmemlint.interpreter.operations.arithmetic import numbered, operate
from tfmemlint.interpreter.operations.contents import cells_of, forget_contents, mark_escaped
from tfmemlint.interpreter.operations.environment import report_plain_name
from tfmemlint.interpreter.operations.generators import drain
from tfmemlint.interpreter.operations.guards import note_same
from tfmemlint.interpreter.operations.lists import extend
from tfmemlint.interpreter.operations.never_run import report_stored_for_nothing
from tfmemlint.interpreter.operations.protocols import in_place
from tfmemlint.interpreter.registry import visits
from tfmemlint.interpreter.values import UNKNOWN, Amount, Const, Instance, Lazy, Seq, Thread, Value


@visits(ast.NamedExpr)
def visit_named_expr(context: Context, node: ast.NamedExpr) -> Value:
    value = context.evaluate(node.value)
    context.assign(node.target, value)
    return value


@visits(ast.Assign)
def visit_assign(context: Context, node: ast.Assign) -> None:
    value = context.evaluate(node.value)
    if context.state is None:
        return
    if isinstance(value, (Lazy, Thread)):
        report_stored_for_nothing(context, node, value)
    if isinstance(value, Amount):
        value = told_in_name(context, node, value)
    for target in node.targets:
        context.assign(target, value)
    if isinstance(value, Const):
        report_plain_name(context, node, value)
    if value == UNKNOWN and isinstance(node.value, ast.Attribute) and isinstance(node.targets[0], ast.Name):
        note_same(context, node.targets[0].id, node.value)


@visits(ast.AnnAssign)
def visit_ann_assign(context: Context, node: ast.AnnAssign) -> None:
    if node.value is not None:
        value = context.evaluate(node.value)
        if context.state is not None:
            context.assign(node.target, value)


@visits(ast.AugAssign)
def visit_aug_assign(context: Context, node: ast.AugAssign) -> None:
    left = context.evaluate(_as_load(node.target))
    right = context.evaluate(node.value)
    if context.state is None or _extends_list(context, node, left, right):
        return
    value = in_place(context, node.op, left, right, node) or numbered(node.op, left, right)
    if value is None:
        value = operate(context, node, left, right)
    if context.state is not None and not (
        isinstance(node.target, ast.Subscript) and not _is_object(context, node.target)
    ):
        context.assign(node.target, value)


def _is_object(context: Context, target: ast.Subscript) -> bool:
    """True if an item of an object of the program is assigned, whose class says what that does."""
    return isinstance(context.last_values.get(id(target.value)), Instance)


def _extends_list(context: Context, node: ast.AugAssign, before: Value, value: Value) -> bool:
    """True if ``target += values`` extends a list, which is done then, by all its names."""
    target = node.target
    if not isinstance(node.op, ast.Add) or not isinstance(target, (ast.Name, ast.Attribute, ast.Subscript)):
        return False
    meant = cells_of(before)
    if not all(
        isinstance(container, Seq) and container.kind == "list" and container.cell is not None for container in meant
    ):
        return False
    mark_escaped(context, value)
    if isinstance(value, Lazy):
        drain(context, value)
    if len(meant) == 1 and isinstance(meant[0], Seq):
        extend(context, meant[0], value)
    else:
        for container in meant:
            forget_contents(context, container)
    if not isinstance(target, ast.Subscript):
        context.assign(node.target, before)
    return True


def _as_load(target: ast.expr) -> ast.expr:
    match target:
        case ast.Name():
            return ast.copy_location(ast.Name(target.id, ast.Load()), target)
        case ast.Attribute():
            return ast.copy_location(ast.Attribute(target.value, target.attr, ast.Load()), target)
        case ast.Subscript():
            return ast.copy_location(ast.Subscript(target.value, target.slice, ast.Load()), target)
        case _:
            return target
