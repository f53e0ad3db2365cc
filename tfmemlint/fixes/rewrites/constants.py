"""The literal behind a name: a constant of the module that is bound once."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

import libcst as cst

from tfmemlint.fixes.concrete_tree import syntax_nodes

if TYPE_CHECKING:
    from tfmemlint.fixes.editor import Editor


def literal_behind(editor: Editor, node: cst.CSTNode, value: object) -> cst.SimpleString | None:
    """Return the string ``value`` that a statement of the module gives to the name ``node``; None if there is none, or
    if anything else in the file may bind that name."""
    if not isinstance(node, cst.Name) or _bindings(editor.text, node.value) != 1:
        return None
    for line in editor.module.body:
        for statement in line.body if isinstance(line, cst.SimpleStatementLine) else ():
            given = _given(statement, node.value)
            if isinstance(given, cst.SimpleString):
                return given if given.evaluated_value == value else None
    return None


def _given(statement: cst.BaseSmallStatement, name: str) -> cst.BaseExpression | None:
    """Return what an assignment gives to a name, if it binds that one and nothing else."""
    match statement:
        case cst.Assign(targets=[cst.AssignTarget(target=cst.Name(value=bound))], value=given) if bound == name:
            return given
        case cst.AnnAssign(target=cst.Name(value=bound), value=given) if bound == name:
            return given
        case _:
            return None


def _bindings(text: str, name: str) -> int:
    """Return how many places in a file bind a name, in any scope."""
    count = 0
    for node in syntax_nodes(text):
        match node:
            case ast.Name(id=bound, ctx=ast.Store() | ast.Del()) | ast.arg(arg=bound):
                count += bound == name
            case ast.alias(name=imported, asname=bound):
                count += (bound or imported.partition(".")[0]) == name
            case ast.FunctionDef(name=bound) | ast.AsyncFunctionDef(name=bound) | ast.ClassDef(name=bound):
                count += bound == name
            case ast.ExceptHandler(name=bound) | ast.MatchAs(name=bound) | ast.MatchStar(name=bound):
                count += bound == name
            case ast.Global(names=bound_here) | ast.Nonlocal(names=bound_here):
                count += name in bound_here
            case _:
                pass
    return count
