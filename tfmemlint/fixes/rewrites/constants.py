"""The literal behind the name of a device: a constant of the module that is bound once."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

import libcst as cst
from libcst import matchers

from tfmemlint.facts.syntax import dotted, talks
from tfmemlint.fixes.concrete_tree import syntax_nodes
from tfmemlint.knowledge.functions import NAMING_A_GPU

if TYPE_CHECKING:
    from tfmemlint.fixes.editor import Editor


def device_literal(editor: Editor, node: cst.CSTNode, value: object) -> cst.SimpleString | None:
    """Return the string ``value`` that a statement of the module gives to ``node``, the name of a device.

    None if there is none, if anything else in the file may bind that name, or if it is used for more than to name the
    device to TensorFlow, and to print it.
    """
    if not isinstance(node, cst.Name) or _bindings(editor.text, node.value) != 1 or _has_uses(editor.text, node.value):
        return None
    for line in editor.module.body:
        for statement in line.body if isinstance(line, cst.SimpleStatementLine) else ():
            given = _given(statement, node.value)
            if isinstance(given, cst.SimpleString):
                return given if given.evaluated_value == value else None
    return None


def assigned_once(editor: Editor, name: str) -> cst.BaseExpression | None:
    """Return what the only assignment of a file to a name gives it; None if there is none, or another one."""
    target = matchers.AssignTarget(matchers.Name(name))
    found = [node for node in matchers.findall(editor.module, matchers.Assign()) if matchers.findall(node, target)]
    return found[0].value if len(found) == 1 and isinstance(found[0], cst.Assign) else None


def _has_uses(text: str, name: str) -> bool:
    """Return True if a name is used for more than to name a device to TensorFlow, and to print it."""
    harmless: set[int] = set()
    for node in syntax_nodes(text):
        if isinstance(node, ast.Call) and dotted(node.func).rpartition(".")[2] in NAMING_A_GPU:
            harmless |= {id(part) for part in (*node.args, *(keyword.value for keyword in node.keywords))}
        elif isinstance(node, ast.Expr) and talks(node.value):
            harmless |= {id(part) for part in ast.walk(node)}
    return any(
        isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load) and node.id == name and id(node) not in harmless
        for node in syntax_nodes(text)
    )


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
