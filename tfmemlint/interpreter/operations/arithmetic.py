"""Operators between two values."""

from __future__ import annotations

import ast
from dataclasses import replace

from tfmemlint.facts import folding
from tfmemlint.interpreter.context import Context
from tfmemlint.interpreter.operations.constants import fold
from tfmemlint.interpreter.operations.contents import new_container
from tfmemlint.interpreter.operations.devices import put_together
from tfmemlint.interpreter.operations.protocols import binary, call_all
from tfmemlint.interpreter.values import UNKNOWN, Const, Count, CountPlus, Devices, Index, NumberedName, Seq, Value
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
    if isinstance(node.op, ast.Add) and (isinstance(left, Devices) or isinstance(right, Devices)):
        parts = [part.items if isinstance(part, Seq) else (part,) for part in (left, right)]
        return put_together([*parts[0], *parts[1]]) or UNKNOWN
    if isinstance(left, Seq) and isinstance(right, Const) and isinstance(node.op, ast.Mult):
        known = isinstance(right.value, int) and right.value in _REPETITIONS
        return new_container(context, Seq(left.items * right.value, left.kind)) if known else UNKNOWN
    if isinstance(left, Const) and isinstance(left.value, str) and isinstance(node.op, ast.Mod):
        call_all(context, right.items if isinstance(right, Seq) else [right], ASKED["str"], node)
        return UNKNOWN
    result = binary(context, node.op, left, right, node)
    return UNKNOWN if result is None else result


def numbered(op: ast.operator, left: Value, right: Value) -> Value | None:
    """Return what an operator makes of the number of a device, or of how many there are; None for anything else."""
    match left, right:
        case (Index() | Count() | CountPlus()) as number, Const(int() as plus) if isinstance(op, (ast.Add, ast.Sub)):
            return _moved(number, plus if isinstance(op, ast.Add) else -plus)
        case Const(int() as plus), (Index() | Count() | CountPlus()) as number if isinstance(op, ast.Add):
            return _moved(number, plus)
        case Const(str() as text), NumberedName(prefix, index) if isinstance(op, ast.Add):
            return NumberedName(text + prefix, index)
        case Const(str() as text), Index() as index if isinstance(op, ast.Mod):
            return NumberedName(text[:-2], index) if text.endswith(("%d", "%s")) and text.count("%") == 1 else None
        case _:
            return None


def _moved(number: Index | Count | CountPlus, plus: int) -> Value:
    if isinstance(number, Index):
        return replace(number, offset=number.offset + plus)
    total = plus + (number.plus if isinstance(number, CountPlus) else 0)
    return CountPlus(number.of, total) if total else Count(number.of)
