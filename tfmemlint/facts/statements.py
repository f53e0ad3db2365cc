"""Take statements apart: their own nodes, and their blocks."""

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
