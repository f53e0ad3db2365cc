"""Take statements apart: the names that they bind, the calls that end the program."""

from __future__ import annotations

import ast

from tfmemlint.facts.statements import own_nodes


def bound_names(statement: ast.stmt) -> set[str]:
    """Return the names that a statement (its header, if it has blocks) binds."""
    if isinstance(statement, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
        return {statement.name}
    if isinstance(statement, (ast.Import, ast.ImportFrom)):
        return {alias.asname or alias.name.split(".")[0] for alias in statement.names}
    found: set[str] = set()
    for node in own_nodes(statement):
        if isinstance(node, ast.Name) and isinstance(node.ctx, (ast.Store, ast.Del)):
            found.add(node.id)
        elif isinstance(node, (ast.ExceptHandler, ast.MatchAs, ast.MatchStar)) and node.name:
            found.add(node.name)
    return found


def is_exit(statement: ast.stmt) -> bool:
    """True for ``sys.exit()``, ``exit()``, ``os._exit()`` as a statement."""
    if not isinstance(statement, ast.Expr) or not isinstance(statement.value, ast.Call):
        return False
    function = statement.value.func
    if isinstance(function, ast.Name):
        return function.id in ("exit", "quit")
    return (
        isinstance(function, ast.Attribute)
        and function.attr in ("exit", "_exit", "abort")
        and isinstance(function.value, ast.Name)
        and function.value.id in ("sys", "os")
    )
