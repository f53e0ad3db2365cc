"""Numbers that a program computes of the memory of a GPU, and where they come from.

A constant has no history: ``int(total_mb * 0.5)`` is a number as any other. What is noted here of it, by its value, is
asked for where such a number is given to TensorFlow.
"""

from __future__ import annotations

import ast

from tfmemlint.facts.syntax import last_word
from tfmemlint.interpreter.context import Context
from tfmemlint.interpreter.values import Const, Part, Value
from tfmemlint.knowledge import units

_MIN_TOTAL = 256
"""No GPU has so few MiB; smaller numbers are gigabytes, or no amounts."""
_NAMED = (ast.Name, ast.Attribute, ast.Subscript)


def note_part(context: Context, node: ast.BinOp, left: Value, right: Value, result: Value) -> None:
    """Note that a constant is a share of the memory of a GPU, or an amount in GiB."""
    number = _number(result)
    if number is None:
        return
    if isinstance(node.op, (ast.Div, ast.FloorDiv)) and _number(right) in (1000, 1024):
        if isinstance(node.left, _NAMED) and units.unit_in_name(last_word(node.left)) == units.MIB:
            context.gigabytes[number] = last_word(node.left)
        return
    factors = _factors(context, node, left, right)
    for total, share in (factors, factors[::-1]) if factors is not None else ():
        amount, factor = _number(total[1]), _number(share[1])
        if amount is None or factor is None or amount < _MIN_TOTAL or not 0 < factor * share[2] < 1:
            continue
        name = _name_of_total(total[0])
        if name:
            part = Part(factor * share[2], amount, name)
            context.parts.update({number: part, int(number): part, round(number): part})


_Factor = tuple[ast.expr, Value, float]
"""An expression, its value, and what that is multiplied by to be a share."""


def _factors(context: Context, node: ast.BinOp, left: Value, right: Value) -> tuple[_Factor, _Factor] | None:
    """Return what is multiplied with each other: in ``total * share``, and in ``total * percent / 100``."""
    if isinstance(node.op, ast.Mult):
        return (node.left, left, 1.0), (node.right, right, 1.0)
    if isinstance(node.op, (ast.Div, ast.FloorDiv)) and _number(right) == 100:
        inner = node.left
        if isinstance(inner, ast.BinOp) and isinstance(inner.op, ast.Mult):
            values = [context.last_values.get(id(part)) for part in (inner.left, inner.right)]
            if values[0] is not None and values[1] is not None:
                return (inner.left, values[0], 0.01), (inner.right, values[1], 0.01)
    return None


def _number(value: Value) -> float | None:
    number = value.value if isinstance(value, Const) else None
    return number if isinstance(number, (int, float)) and not isinstance(number, bool) and number == number else None


def _name_of_total(node: ast.expr) -> str:
    """Return the name in an expression that says that it is the memory of a GPU; "" if none does."""
    names = [last_word(part) for part in ast.walk(node) if isinstance(part, _NAMED)]
    return next((name for name in names if units.is_memory_of_gpu(name)), "")


def part_of(context: Context, value: Value | None) -> Part | None:
    """Return the share of a GPU's memory that a number is; None where nothing says so."""
    number = _number(value) if value is not None else None
    return context.parts.get(number) if number is not None else None
