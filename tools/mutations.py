"""The mutants of a file: changes of one condition each, for tools/mutants.py."""

from __future__ import annotations

import ast
import copy
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

_OPPOSITES: dict[type[ast.cmpop], tuple[type[ast.cmpop], ...]] = {
    ast.Lt: (ast.LtE, ast.GtE),
    ast.LtE: (ast.Lt, ast.Gt),
    ast.Gt: (ast.GtE, ast.LtE),
    ast.GtE: (ast.Gt, ast.Lt),
    ast.Eq: (ast.NotEq,),
    ast.NotEq: (ast.Eq,),
    ast.Is: (ast.IsNot,),
    ast.IsNot: (ast.Is,),
    ast.In: (ast.NotIn,),
    ast.NotIn: (ast.In,),
}
_SWAPPED = {"any": "all", "all": "any", "min": "max", "max": "min"}
_LEFT_OUT = ("annotation", "returns", "decorator_list", "type_params")
"""Fields of the syntax tree that change nothing when the code runs, or that make it unusable."""


@dataclass(frozen=True, slots=True)
class Mutant:
    """One change of one expression.

    Attributes:
        path: the file, from the root. row: its line. start, end: offsets of the expression in the file's text.
        before, after: the expression as it was, and as it is.
        first_row, last_row: the lines of its statement, up to its end. runs_later: it does not run at import.
    """

    path: str
    row: int
    first_row: int
    last_row: int
    runs_later: bool
    start: int
    end: int
    before: str
    after: str

    @property
    def change(self) -> str:
        """The change in words, on one line; the same wherever the expression moves to in its file."""
        return " ".join(f"{self.path}: {self.before} -> {self.after}".split())

    def text(self, original: str) -> str:
        """The file's text with the change made."""
        return f"{original[: self.start]}({self.after}){original[self.end :]}"


def mutants_of(name: str, root: Path) -> Iterator[Mutant]:
    """Yield the mutants of one file below ``root``."""
    text = (root / name).read_text(encoding="utf-8")
    starts = [0]
    for line in text.splitlines(keepends=True):
        starts.append(starts[-1] + len(line.encode()))
    data = text.encode()
    tree = ast.parse(text)
    statements = _statements(tree)
    for node, after in _changes(tree):
        first, last = starts[node.lineno - 1] + node.col_offset, starts[(node.end_lineno or 1) - 1]
        last += node.end_col_offset or 0
        start, end = len(data[:first].decode()), len(data[:last].decode())
        first_row, runs_later = statements[node]
        last_row = node.end_lineno or node.lineno
        yield Mutant(name, node.lineno, first_row, last_row, runs_later, start, end, text[start:end], after)


def _statements(tree: ast.AST) -> dict[ast.AST, tuple[int, bool]]:
    """Return for each node the first line of its statement, and whether it stands in the body of a function."""
    found: dict[ast.AST, tuple[int, bool]] = {}
    pending: list[tuple[ast.AST, int, bool]] = [(tree, 1, False)]
    while pending:
        node, row, inside = pending.pop()
        found[node] = row, inside
        body = getattr(node, "body", ()) if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)) else ()
        for child in ast.iter_child_nodes(node):
            pending.append((child, child.lineno if isinstance(child, ast.stmt) else row, inside or child in body))
    return found


def _changes(tree: ast.AST) -> Iterator[tuple[ast.expr, str]]:
    """Yield each expression that can be changed, with what to put there."""
    pending: list[ast.AST] = [tree]
    while pending:
        node = pending.pop()
        if isinstance(node, (ast.JoinedStr, ast.MatchValue)):
            # The text of a message; a pattern, which is no expression.
            continue
        if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING":
            continue
        if isinstance(node, ast.expr):
            yield from ((node, ast.unparse(changed)) for changed in _changed(node))
        for field in ("test", "guard", "ifs"):
            tests = getattr(node, field, None)
            for test in tests if isinstance(tests, list) else [tests]:
                if isinstance(test, ast.expr) and not isinstance(test, (ast.Compare, ast.Constant)):
                    yield test, f"not ({ast.unparse(test)})"
        for field, child in ast.iter_fields(node):
            if field not in _LEFT_OUT:
                pending.extend(item for item in (child if isinstance(child, list) else [child]) if _is_node(item))


def _is_node(item: object) -> bool:
    return isinstance(item, ast.AST)


def _changed(node: ast.expr) -> Iterator[ast.expr]:
    """Yield an expression's mutants."""
    match node:
        case ast.Compare(ops=ops):
            for place, operator in enumerate(ops):
                for opposite in _OPPOSITES[type(operator)]:
                    changed = copy.deepcopy(node)
                    changed.ops[place] = opposite()
                    yield changed
        case ast.BoolOp(op=operator, values=values):
            yield ast.BoolOp(ast.Or() if isinstance(operator, ast.And) else ast.And(), values)
            for place in range(len(values)):
                rest = values[:place] + values[place + 1 :]
                yield rest[0] if len(rest) == 1 else ast.BoolOp(operator, rest)
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            yield operand
        case ast.Constant(value=bool() as value):
            yield ast.Constant(not value)
        case ast.Constant(value=int() as number):
            yield ast.Constant(number + 1)
        case ast.Call(func=ast.Name(id=name)) if name in _SWAPPED:
            yield ast.Call(ast.Name(_SWAPPED[name]), node.args, node.keywords)
