"""The conditions on the way to a configuration, as they read where the configuration is to be called first.

A condition that a constant decides is left out: ``if memory_growth:`` where the parameter is ``True`` by default. Any
other goes along, if all that it reads has the same value already at the new place.
"""

from __future__ import annotations

import ast
import re
from textwrap import indent

import libcst as cst

from tfmemlint.fixes.def_use import READS_ONLY
from tfmemlint.fixes.order.entry_place import entry_place, is_guard
from tfmemlint.fixes.order.files import CodeFile
from tfmemlint.fixes.order.given_arguments import constructor_argument, given_at, is_the_same_above, parameters_of
from tfmemlint.fixes.order.problem import OrderProblem
from tfmemlint.fixes.withheld import Withheld


def conditions_on_the_way(problem: OrderProblem) -> list[str]:
    """Return the conditions under which calls lead to the configuration, as code for the place of the new call.

    Those around the configuration itself move along with it, and are not among them.

    Raises:
        Withheld: a condition is not known there.
    """
    found: list[str] = []
    for number, step in enumerate(problem.late[:-1]):
        file = problem.files.get(step.path)
        tree = file.tree
        below: cst.CSTNode = tree.statement_at(step.span)
        block = tree.block_of(entry_place(problem)) if number == 0 else None
        for around in tree.ancestors(below):
            if isinstance(around, (cst.FunctionDef, cst.Lambda, cst.Module)) or around is block:
                break
            if isinstance(around, (cst.If, cst.While, cst.ExceptHandler, cst.IfExp, cst.Match)) and not is_guard(
                file, around
            ):
                unknown = Withheld(f"{step.path}:{step.span.row} makes its call under a condition")
                if not isinstance(around, cst.If) or below is not around.body:
                    raise unknown
                if (test := _as_above(problem, file, number, around.test)) is None:
                    raise unknown
                found += [test] if test else []
            below = around
    return list(dict.fromkeys(found))


def under_conditions(conditions: list[str], call: str) -> str:
    """Return a call under conditions."""
    if not conditions:
        return f"{call}\n"
    tests = [f"({test})" if len(conditions) > 1 and " or " in test else test for test in conditions]
    return f"if {' and '.join(tests)}:\n{indent(call, '    ')}\n"


def _as_above(problem: OrderProblem, file: CodeFile, number: int, test: cst.BaseExpression) -> str | None:
    """Return a condition around a step as it reads above; "" if it always holds, None if it is not known."""
    code = file.tree.code(test).strip()
    nodes = list(ast.walk(ast.parse(code, mode="eval").body))
    if not all(isinstance(node, _PLAIN) or _only_reads(node) for node in nodes):
        return None
    strings = [node.value for node in nodes if isinstance(node, ast.Constant) and isinstance(node.value, str)]
    statement = file.tree.statement_at(problem.late[number].span)
    function = file.tree.function_of(statement)
    if not isinstance(function, cst.FunctionDef):
        return None
    values: dict[str, str] = {}
    for name in sorted({node.id for node in nodes if isinstance(node, ast.Name)}):
        if any(re.search(rf"\b{name}\b", text) for text in strings):
            return None
        if number == 0:
            if not is_the_same_above(problem, statement, name, name, code):
                return None
        elif name == "self":
            if re.search(r"(?<![\w.])self\b(?!\.\w)", code):
                return None
            for attribute in sorted(set(re.findall(r"(?<![\w.])self\.(\w+)", code))):
                values[f"self.{attribute}"] = constructor_argument(problem, file, function, attribute, code)
        elif name in parameters_of(file, function) and not _is_bound_within(file, function, name):
            values[name] = given_at(problem, number, file, function, name, code)
        else:
            return None
    names = "|".join(map(re.escape, values))
    return _without_what_holds(
        re.sub(rf"(?<![\w.])(?:{names})\b", lambda found: values[found[0]], code) if names else code
    )


def _only_reads(node: ast.AST) -> bool:
    """True for a call of a method that changes nothing, with constants: ``options.get("growth", True)``."""
    return (
        isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and node.func.attr in READS_ONLY
        and not node.keywords
        and all(isinstance(argument, ast.Constant) for argument in node.args)
    )


_PLAIN = (
    *(ast.Name, ast.Attribute, ast.Subscript, ast.Constant, ast.BoolOp, ast.UnaryOp, ast.Compare),
    *(ast.expr_context, ast.boolop, ast.unaryop, ast.cmpop),
)
"""The parts of a condition that can be told above."""


def _is_bound_within(file: CodeFile, function: cst.FunctionDef, name: str) -> bool:
    """True if a function gives a parameter another value."""
    return any(name in file.hoist.read(line).binds for line in file.tree.statements_within(function))


def _without_what_holds(code: str) -> str | None:
    """Return a condition; "" if it is a constant that is true, None if a constant decides a part of it only."""
    parsed = ast.parse(code, mode="eval").body
    holds = _constant(parsed)
    if holds is not None:
        return "" if holds else None
    constants = any(isinstance(node, (ast.BoolOp, ast.UnaryOp)) and _has_constant(node) for node in ast.walk(parsed))
    return None if constants else code


def _constant(node: ast.expr) -> bool | None:
    """Return what a constant is as a condition; None for all else."""
    if isinstance(node, ast.Constant):
        return bool(node.value)
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
        inner = _constant(node.operand)
        return None if inner is None else not inner
    if isinstance(node, ast.BoolOp):
        values = [_constant(value) for value in node.values]
        if None in values:
            return None
        return all(values) if isinstance(node.op, ast.And) else any(values)
    if isinstance(node, ast.Compare) and len(node.ops) == 1:
        left, right = node.left, node.comparators[0]
        if isinstance(left, ast.Constant) and isinstance(right, ast.Constant):
            same = (type(left.value), left.value) == (type(right.value), right.value)
            if isinstance(node.ops[0], (ast.Is, ast.Eq)):
                return same
            if isinstance(node.ops[0], (ast.IsNot, ast.NotEq)):
                return not same
    return None


def _has_constant(node: ast.BoolOp | ast.UnaryOp) -> bool:
    parts = node.values if isinstance(node, ast.BoolOp) else [node.operand]
    return any(_constant(part) is not None for part in parts)


__all__ = ["conditions_on_the_way", "under_conditions"]
