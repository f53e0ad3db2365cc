"""Operators between two values."""

from __future__ import annotations

import ast

from tfmemlint.facts import folding
from tfmemlint.interpreter.context import Context
from tfmemlint.interpreter.operations.constants import fold
from tfmemlint.interpreter.operations.contents import new_container
from tfmemlint.interpreter.operations.protocols import binary, call_all
from tfmemlint.interpreter.values import UNKNOWN, Const, Seq, Value
from tfmemlint.knowledge.data_model import ASKED

_REPETITIONS = range(65)
"""The factors by which a list is repeated item by item: up to 64 copies."""


def operate(context: Context, node: ast.BinOp | ast.AugAssign, left: Value, right: Value) -> Value:
    """Apply the operator of ``node`` to two values."""
    if context.state is None:
        return UNKNOWN
    if isinstance(left, Const) and isinstance(right, Const):
        return fold(lambda: folding.binary(node.op, left.value, right.value))
    if isinstance(left, Seq) and isinstance(right, Seq) and isinstance(node.op, ast.Add):
        return new_container(context, Seq(left.items + right.items, left.kind))
    if isinstance(left, Seq) and isinstance(right, Const) and isinstance(node.op, ast.Mult):
        known = isinstance(right.value, int) and right.value in _REPETITIONS
        return new_container(context, Seq(left.items * right.value, left.kind)) if known else UNKNOWN
    if isinstance(left, Const) and isinstance(left.value, str) and isinstance(node.op, ast.Mod):
        call_all(context, right.items if isinstance(right, Seq) else [right], ASKED["str"], node)
        return UNKNOWN
    result = binary(context, node.op, left, right, node)
    return UNKNOWN if result is None else result
