"""Take statements apart: their own nodes, and their blocks."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TYPE_CHECKING

from tfmemlint.model.finding import Span

if TYPE_CHECKING:
    from tfmemlint.sources import Source


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


def name_span(source: Source, function: ast.FunctionDef | ast.AsyncFunctionDef) -> Span:
    """Return the place of the name of a function."""
    name, row = function.name, function.lineno
    column = source.lines[row - 1].index(name, function.col_offset) + 1
    return Span(row, column, row, column + len(name))
