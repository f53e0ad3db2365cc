"""The memory of a GPU as a program states it, and the limits of its logical devices."""

from __future__ import annotations

import ast
from collections.abc import Sequence

from tfmemlint.facts import folding
from tfmemlint.facts.syntax import last_word
from tfmemlint.facts.tree_walk import all_nodes
from tfmemlint.interpreter.values import Amount, Const, Limit
from tfmemlint.knowledge import units
from tfmemlint.rulekit.made_up import LEAST_BYTES

TOLERANCE = 1.001
"""Shares such as 0.33 and 0.67 may exceed 1 by the rounding."""
_MIN_TOTAL_MIB = 1_000
"""No GPU that TensorFlow uses has less memory."""


def shares(items: Sequence[object]) -> tuple[str, float] | None:
    """Return the name and the size in MiB of the memory that all limits are shares of; None if there is none."""
    parts = {item.part.name: item.part.total for item in items if isinstance(item, Limit) and item.part is not None}
    whole = all(isinstance(item, Limit) and item.part is not None for item in items)
    return next(iter(parts.items())) if whole and len(parts) == 1 else None


def stated_total(tree: ast.AST) -> tuple[str, float] | None:
    """Return the name and the size in MiB of a constant that says how much memory the GPU has; None if there is none,
    or there are several."""
    found = stated_totals(tree)
    return found.pop() if found is not None and len(found) == 1 else None


def stated_totals(tree: ast.AST) -> set[tuple[str, float]] | None:
    """Return the names and the sizes in MiB of all such constants; None if one of them is not known."""
    found: set[tuple[str, float]] = set()
    for node in all_nodes(tree):
        target = node.targets[0] if isinstance(node, ast.Assign) and len(node.targets) == 1 else None
        if isinstance(node, ast.AnnAssign):
            target = node.target
        name = last_word(target) if isinstance(target, (ast.Name, ast.Attribute)) else ""
        if isinstance(node, (ast.Assign, ast.AnnAssign)) and name and units.is_memory_of_gpu(name, for_sure=True):
            size = _in_mib(name, _constant(node.value))
            if size is None:
                return None
            found.add((name, size))
    return found


def _constant(node: ast.expr | None) -> float | None:
    """Return the number that an expression of numbers is; None for any other."""
    if isinstance(node, ast.Constant):
        return node.value if isinstance(node.value, (int, float)) and not isinstance(node.value, bool) else None
    if isinstance(node, ast.BinOp):
        left, right = _constant(node.left), _constant(node.right)
        if left is None or right is None:
            return None
        try:
            result = folding.binary(node.op, left, right)
        except folding.NotFolded:
            return None
        return result if isinstance(result, (int, float)) else None
    return None


def _in_mib(name: str, number: float | None) -> float | None:
    """Return an amount in MiB, in the unit that its name states, or else its size; None if it is none of a GPU."""
    if number is None:
        return None
    unit = units.unit_in_name(name)
    if not unit:
        unit = units.MIB if number >= _MIN_TOTAL_MIB else units.GIB
    size = number * 2.0 ** -units.factor_to_mib(unit)
    return size if _MIN_TOTAL_MIB <= size < LEAST_BYTES else None


def is_whole(limit: object) -> bool:
    """True if a limit is not known, but is all of the memory of a GPU, or is meant for all who share it."""
    value = limit.value if isinstance(limit, Limit) else None
    return isinstance(value, Amount) and value.whole and value.unit == units.MIB


def known_limits(items: Sequence[object]) -> list[float] | None:
    """Return the limits in MiB, or None if one is unknown or implausible; other rules report implausible units."""
    found: list[float] = []
    for item in items:
        value = item.value if isinstance(item, Limit) else None
        number = value.value if isinstance(value, Const) else None
        if isinstance(number, bool) or not isinstance(number, (int, float)) or not 1 <= number < LEAST_BYTES:
            return None
        found.append(number)
    return found
