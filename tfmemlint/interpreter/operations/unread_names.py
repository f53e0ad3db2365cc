"""Results that a name gets, and that nothing reads."""

from __future__ import annotations

import ast

from tfmemlint.interpreter.context import Context

_READ_ALL = frozenset({"locals", "globals", "vars", "eval", "exec", "dir"})
"""Functions that read names which the code does not write as names."""


def goes_nowhere(context: Context, node: ast.AST) -> bool:
    """Return True if ``node``, or a list of it alone, is assigned to one name that no code of the file reads.

    A name of a class body is an attribute, and a name in ``__all__`` or after ``global`` is for others; neither counts.
    """
    statement = context.statement
    match statement:
        case (
            ast.Assign(targets=[ast.Name(id=name)], value=value)
            | ast.AnnAssign(target=ast.Name(id=name), value=ast.expr() as value)
        ):
            pass
        case _:
            return False
    alone = value is node or (
        isinstance(value, (ast.List, ast.Tuple)) and len(value.elts) == 1 and value.elts[0] is node
    )
    return alone and not any(_may_read(other, name, statement) for other in ast.walk(context.unit.tree))


def _may_read(node: ast.AST, name: str, statement: ast.stmt) -> bool:
    match node:
        case ast.Name(id=read, ctx=ast.Load()):
            return read == name or read in _READ_ALL
        case ast.Attribute(attr=read) | ast.alias(name=read):
            return read == name
        case ast.Constant(value=str() as text):
            return text == name
        case ast.Global(names=names) | ast.Nonlocal(names=names):
            return name in names
        case ast.ClassDef(body=body):
            return statement in body
        case _:
            return False
