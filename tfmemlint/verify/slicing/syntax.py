"""Take statements apart: their own nodes, their blocks, the names that they bind."""

from __future__ import annotations

import ast
from collections.abc import Iterator


def own_nodes(statement: ast.stmt) -> Iterator[ast.AST]:
    """Yield the nodes of a statement without those of the statements in its blocks."""
    waiting: list[ast.AST] = [statement]
    while waiting:
        node = waiting.pop()
        yield node
        for child in ast.iter_child_nodes(node):
            if isinstance(child, ast.stmt):
                continue
            if isinstance(child, ast.arg) and child.annotation is None:
                continue
            waiting.append(child)


def blocks_of(statement: ast.stmt) -> list[list[ast.stmt]]:
    """Return the blocks of a compound statement, in the order of the text."""
    blocks: list[list[ast.stmt]] = []
    for name in ("body", "handlers", "cases", "orelse", "finalbody"):
        part = getattr(statement, name, [])
        blocks += [inner.body for inner in part] if name in ("handlers", "cases") else [part]
    return [block for block in blocks if block]


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
