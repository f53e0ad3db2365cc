"""Code in the docstrings of Python: examples of an interpreter, fences, literal blocks, sections of examples."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import replace

from tfmemlint.sources.documents.blocks import Block
from tfmemlint.sources.documents.example_marks import may_have_examples
from tfmemlint.sources.documents.names import parsed
from tfmemlint.sources.documents.prompts import Line
from tfmemlint.sources.documents.restructured import Reader

_OPENING = re.compile(r"[A-Za-z]{0,2}(?P<quote>\"\"\"|'''|\"|')")


def blocks(text: str, tree: ast.Module | None = None) -> list[Block]:
    """Return the code in the docstrings of a Python text, in order; none if the text can't be parsed.

    Only lines that are identical in the file and in the docstring are code: an escape changes the text that a reader of
    the documentation sees.

    Args:
        tree: the parsed text, if it was parsed before.
    """
    if may_have_examples(text) is None:
        return []
    tree = tree if tree is not None else parsed(text)
    if tree is None:
        return []
    rows = text.split("\n")
    found: list[Block] = []
    for docstring in _docstrings(tree):
        lines = _lines(docstring, rows)
        if lines is None:
            continue
        values = docstring.value.split("\n")
        changed = {line.row for line, value in zip(lines, values, strict=True) if line.text != value}
        for block in Reader(_clean(lines), docstring=True).read():
            if changed.isdisjoint(block.rows):
                # What ends in the row of the closing quotes can't be written there anew.
                found.append(replace(block, fixable=block.rows[-1] != lines[-1].row))
    return sorted(found, key=lambda block: block.rows)


class _Docstring:
    __slots__ = ("node", "value")

    def __init__(self, node: ast.Constant, value: str) -> None:
        self.node, self.value = node, value


def _docstrings(tree: ast.Module) -> Iterator[_Docstring]:
    found: list[ast.AST] = [tree]
    for node in found:
        if isinstance(node, ast.expr):
            # No expression has statements.
            continue
        found.extend(ast.iter_child_nodes(node))
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef) and node.body:
            first = node.body[0]
            if isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant):
                value = first.value.value
                if isinstance(value, str) and may_have_examples(value) is not None:
                    yield _Docstring(first.value, value)


def _lines(docstring: _Docstring, rows: list[str]) -> list[Line] | None:
    """Return the lines of a docstring as the file has them; None if they are not the same lines."""
    node = docstring.node
    last_row = node.end_lineno or node.lineno
    if docstring.value.count("\n") != last_row - node.lineno or last_row > len(rows):
        return None
    start = _characters(rows[node.lineno - 1], node.col_offset)
    opening = _OPENING.match(rows[node.lineno - 1], start)
    if opening is None:
        return None
    lines = [Line(row, 0, rows[row - 1]) for row in range(node.lineno, last_row + 1)]
    end = _characters(rows[last_row - 1], node.end_col_offset or 0) - len(opening["quote"])
    lines[-1] = Line(last_row, 0, lines[-1].text[: max(end, 0)])
    lines[0] = lines[0].cut(min(opening.end(), len(lines[0].text)))
    return lines


def _clean(lines: list[Line]) -> list[Line]:
    """Return the lines without the common indentation of all but the first, as `inspect.cleandoc` does."""
    margin = min((len(line.text) - len(line.text.lstrip()) for line in lines[1:] if line.text.strip()), default=0)
    first = lines[0]
    clean = [first.cut(len(first.text) - len(first.text.lstrip()))]
    return clean + [line.cut(min(margin, len(line.text))) for line in lines[1:]]


def _characters(line: str, offset: int) -> int:
    """Return a column in characters; `ast` counts bytes of UTF-8."""
    return len(line.encode("utf-8", "surrogatepass")[:offset].decode("utf-8", "ignore"))
