"""Operators and comparisons."""

from __future__ import annotations

import ast
import functools
from typing import Any

from tfmemlint.facts import folding
from tfmemlint.facts.names import is_tensorflow
from tfmemlint.interpreter.context import Context
from tfmemlint.interpreter.operations.amounts import computed
from tfmemlint.interpreter.operations.amounts_told import told_by_divisor, told_by_percent
from tfmemlint.interpreter.operations.arithmetic import numbered, operate
from tfmemlint.interpreter.operations.conditions import decide
from tfmemlint.interpreter.operations.config_files import as_path, joined
from tfmemlint.interpreter.operations.constants import fold
from tfmemlint.interpreter.operations.device_tests import report_compared
from tfmemlint.interpreter.operations.guards import guards_of
from tfmemlint.interpreter.operations.numbers_in_loops import compare_counted, singles_out
from tfmemlint.interpreter.operations.options import as_options, of_each
from tfmemlint.interpreter.operations.parts_of_memory import note_part
from tfmemlint.interpreter.operations.paths import doubtful, either_of, merge, snapshot
from tfmemlint.interpreter.operations.protocols import compared, tested, unary
from tfmemlint.interpreter.registry import visits
from tfmemlint.interpreter.values import (
    TRUTH,
    UNKNOWN,
    Class,
    Const,
    Dict,
    FilePath,
    Function,
    Instance,
    Made,
    Ref,
    Seq,
    TextMatch,
    Value,
    value_of_key,
)
from tfmemlint.knowledge import names as inventory


@visits(ast.BinOp)
def visit_bin_op(context: Context, node: ast.BinOp) -> Value:
    left, right = context.evaluate(node.left), context.evaluate(node.right)
    if isinstance(node.op, ast.Mod) and isinstance(left, Const) and isinstance(left.value, str):
        given = node.right.elts if isinstance(node.right, ast.Tuple) else [node.right]
        values = [context.last_values.get(id(each), right) for each in given]
        told_by_percent(context, left.value, zip(given, values, strict=True))
    moved = numbered(node.op, left, right)
    if moved is not None:
        return moved
    if isinstance(left, FilePath):
        return _path(node.op, left, right)
    if isinstance(node.op, ast.Mod) and isinstance(left, Const) and isinstance(left.value, str):
        option = as_options(right.items[0] if isinstance(right, Seq) and len(right.items) == 1 else right)
        if option is not None:
            return of_each(option, lambda each: folding.binary(ast.Mod(), left.value, (each,)))
    result = operate(context, node, left, right)
    note_part(context, node, left, right, result)
    if result is UNKNOWN:
        result = told_by_divisor(context, node, left, computed(node, left, right))
    return result


def _path(op: ast.operator, left: FilePath, right: Value) -> Value:
    """Return what ``path / "name"`` or ``text + "name"`` is."""
    part = as_path(right)
    if part is None or not isinstance(op, (ast.Div, ast.Add)):
        return UNKNOWN
    return joined(left, part) if isinstance(op, ast.Div) else FilePath(left.path + part.path, left.anchored)


@visits(ast.UnaryOp)
def visit_unary_op(context: Context, node: ast.UnaryOp) -> Value:
    value = context.evaluate(node.operand)
    if isinstance(node.op, ast.Not):
        value = tested(context, value, node.operand)
        context.last_values[id(node.operand)] = value
    if isinstance(value, Const):
        return fold(lambda: folding.unary(node.op, value.value))
    result = unary(context, node.op, value, node)
    if result is None:
        return TRUTH if isinstance(node.op, ast.Not) else UNKNOWN
    return result


@visits(ast.BoolOp)
def visit_bool_op(context: Context, node: ast.BoolOp) -> Value:
    value = context.evaluate(node.values[0])
    stop = isinstance(node.op, ast.Or)
    for part, following in zip(node.values, node.values[1:], strict=False):
        asked = tested(context, value, part)
        verdict = decide(context, part, asked)
        if asked is not value:
            context.last_values[id(part)] = asked
        if verdict.truth is stop and not verdict.assumed:
            return value
        saved = snapshot(context)
        with doubtful(context, guards_of(context, part, not stop), doubt=verdict.truth is None):
            other = context.evaluate(following)
        if verdict.truth is None:
            merge(context, saved)
            value = either_of(context, value, other)
        elif verdict.truth is not stop:
            value = other
    return value


@visits(ast.Compare)
def visit_compare(context: Context, node: ast.Compare) -> Value:
    result = _compared(context, node)
    return TRUTH if result is UNKNOWN else result


def _compared(context: Context, node: ast.Compare) -> Value:
    left = context.evaluate(node.left)
    result: Value = UNKNOWN
    for op, comparator in zip(node.ops, node.comparators, strict=True):
        right = context.evaluate(comparator)
        if context.state is None:
            return UNKNOWN
        asked = compared(context, op, left, right, node)
        if asked is not None and len(node.ops) == 1:
            return asked
        if isinstance(op, (ast.In, ast.NotIn)):
            right = _names_in(right)
        failed = report_compared(context, node, left, right)
        if failed is not None:
            return failed
        numbered = compare_counted(op, left, right) if len(node.ops) == 1 else None
        if numbered is not None:
            return Const(numbered)
        if len(node.ops) == 1 and (singles_out(op, left, right) or _is_of_remainder(context, node.left, right)):
            context.singling_out.add(context.unit.shapes.test(node).text)
            return UNKNOWN
        plain = _comparable_constants(left, right)
        if plain is None and len(node.ops) == 1 and isinstance(op, (ast.Is, ast.IsNot)):
            # What TensorFlow has is never None, and neither is what the program defines.
            return Const(isinstance(op, ast.IsNot)) if _is_something(context, left, right) else UNKNOWN
        if plain is None:
            return _evaluate_rest(context, node)
        a, b = plain
        folded = fold(functools.partial(folding.compare, op, a, b))
        if not isinstance(folded, Const):
            return UNKNOWN
        result, left = folded, right
        if not folded.value:
            break
    return result


def _is_of_remainder(context: Context, left: ast.expr, right: Value) -> bool:
    """True for a comparison of ``i % 2`` with a number, where ``i`` counts the later passes of a loop over devices."""
    if not isinstance(left, ast.BinOp) or not isinstance(left.op, ast.Mod) or not isinstance(right, Const):
        return False
    by, counted = (context.last_values.get(id(part), UNKNOWN) for part in (left.right, left.left))
    if not isinstance(by, Const) or not isinstance(by.value, int) or by.value < 2:
        return False
    return right.value in range(by.value) and singles_out(ast.Eq(), counted, by)


def _is_something(context: Context, *values: Value) -> bool:
    """True if one of two values is None, and the other is certainly not."""
    others = [value for value in values if value != Const(None)]
    match others:
        case [Function() | Class() | Instance() | TextMatch()]:
            return True
        case [Ref(name)]:
            return is_tensorflow(name) and inventory.exists(name, context.target)
        case [Made(name)]:
            # An object of a class of TensorFlow's.
            return is_tensorflow(name) and name.rpartition(".")[2][:1].isupper()
        case _:
            return False


def _evaluate_rest(context: Context, node: ast.Compare) -> Value:
    for comparator in node.comparators[1:]:
        context.evaluate(comparator)
    return UNKNOWN


def _names_in(value: Value) -> Value:
    """Return what ``in`` searches in a value, as a tuple if all of it is known."""
    match value:
        case Dict(items, open=False):
            return Seq(tuple(map(value_of_key, items)), "tuple")
        case Seq(items, kind) if kind not in ("list", "tuple"):
            return Seq(items, "tuple")
        case _:
            return value


def _comparable_constants(*values: Value) -> tuple[Any, ...] | None:
    """Return the Python values of constants, and of lists and tuples of constants; None if there are others."""
    plain: list[Any] = []
    for value in values:
        if isinstance(value, Const):
            plain.append(value.value)
        elif isinstance(value, Seq) and value.kind in ("list", "tuple"):
            inner = _comparable_constants(*value.items)
            if inner is None:
                return None
            plain.append(list(inner) if value.kind == "list" else inner)
        else:
            return None
    return tuple(plain)
