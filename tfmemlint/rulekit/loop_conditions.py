"""Conditions in loops: those that hold in more than one pass, as far as their text tells."""

from __future__ import annotations

import ast

from tfmemlint.facts.tree_walk import all_nodes

_ASKED_OF_LISTS = frozenset({"len", "isinstance", "bool", "any", "all"})
_TYPES = frozenset({"GPU", "GPU:", ":GPU", ":GPU:", "XLA_GPU"})
"""Texts in names and types of devices that each GPU has."""


def names_in(node: ast.AST) -> frozenset[str]:
    """Return the names that code reads or binds."""
    return frozenset(part.id for part in ast.walk(node) if isinstance(part, ast.Name))


def holds_often(
    test: ast.expr, changing: frozenset[str], given: frozenset[str], tree: ast.Module, *, skips: bool = False
) -> bool:
    """True if a condition is not one that a single pass of a loop meets.

    Args:
        test: the condition. changing: the names whose values differ from pass to pass.
        given: those among them that come from the loop's variable.
        tree: the module that it is in. skips: it leads past a statement, not to it.
    """
    match test:
        case ast.BoolOp(op=ast.And(), values=values) if not skips:
            return all(holds_often(value, changing, given, tree) for value in values)
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            return holds_often(operand, changing, given, tree, skips=skips)
        case _ if changing.isdisjoint(names_in(test)) and not _asks(test):
            return True
        case ast.Compare(ast.Name(name), [ast.Is() | ast.IsNot()], [ast.Constant(None)]):
            return name in given
        case ast.Compare(left, [ast.Lt() | ast.LtE() | ast.Gt() | ast.GtE()], [right]):
            return _is_a_bound(left, right) or _is_a_bound(right, left)
        case ast.Compare(left, [ast.Eq() | ast.NotEq() | ast.In() | ast.NotIn()], [right]) if _names_type(left, right):
            return True
        case ast.Compare(_, [ast.In()], [right]) if not skips:
            return _has_several(right, tree)
        case _:
            return False


def _asks(test: ast.expr) -> bool:
    """True if a condition calls what may answer otherwise in another pass."""
    for node in ast.walk(test):
        if isinstance(node, ast.Call):
            name = node.func.id if isinstance(node.func, ast.Name) else ""
            root = ast.unparse(node.func).partition(".")[0]
            if name not in _ASKED_OF_LISTS and root not in ("tf", "tensorflow"):
                return True
    return False


def _is_a_bound(number: ast.expr, count: ast.expr) -> bool:
    """True for ``i`` and ``len(gpus)``: a number is compared with how many there are."""
    match count:
        case ast.Call(ast.Name("len"), [_]):
            return isinstance(number, (ast.Name, ast.Attribute))
        case _:
            return False


def _names_type(left: ast.expr, right: ast.expr) -> bool:
    return any(isinstance(side, ast.Constant) and side.value in _TYPES for side in (left, right))


def _has_several(container: ast.expr, tree: ast.Module) -> bool:
    """True for a display of at least two items, or a name that nothing but such a display is assigned to."""
    if isinstance(container, ast.Name):
        stores = [
            node
            for node in all_nodes(tree)
            if isinstance(node, ast.Name) and node.id == container.id and not isinstance(node.ctx, ast.Load)
        ]
        values = [
            node.value
            for node in all_nodes(tree)
            if isinstance(node, ast.Assign) and any(target in stores for target in node.targets)
        ]
        return len(stores) == 1 and len(values) == 1 and _has_several(values[0], ast.Module([], []))
    return isinstance(container, (ast.List, ast.Tuple, ast.Set)) and len(container.elts) > 1
