"""Code that only another release reaches: behind a condition about the release that the interpreter could not tell."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TYPE_CHECKING

from tfmemlint.facts.statements import blocks_of
from tfmemlint.facts.tree_walk import unparsed
from tfmemlint.model.records import dataclass
from tfmemlint.project.name_uses import asks_release
from tfmemlint.project.targets.find import current
from tfmemlint.project.version_flags import UNKNOWN, Flags

if TYPE_CHECKING:
    from tfmemlint.interpreter.program import Program
    from tfmemlint.model.finding import Finding

_SIMPLE = (ast.Assign, ast.AnnAssign, ast.AugAssign, ast.Expr, ast.Return)
_SKIPS = ("skipIf", "skipUnless", "skipif", "run_v1_only", "deprecated_graph_mode_only")


@dataclass(frozen=True, slots=True)
class _Rows:
    """Rows that the release does not reach; ``certain`` if that is known, else it depends on what can't be told."""

    first: int
    last: int
    certain: bool


class ReleaseGuards:
    """Tells which rows of a file the release does not reach.

    A condition about the release is evaluated; where that can't be done, both of its branches may be for another one.
    """

    def __init__(self, program: Program) -> None:
        self._path = program.source.path
        self._tree = program.tree
        self._flags = Flags(program.target, current().source)
        self._by_row: dict[int, list[_Rows]] = {}
        self._by_statement: dict[ast.stmt, list[_Rows]] = {}

    def hides(self, finding: Finding, *, of_another_release: bool) -> bool:
        """Return True if the release does not reach the place of a finding. One about names of other releases counts as
        hidden also where that can't be told."""
        if finding.path != self._path:
            return False
        row = finding.span.row
        if row not in self._by_row:
            self._by_row[row] = list(self._ranges(self._tree.body, row))
        ranges = self._by_row[row]
        return any(rows.first <= row <= rows.last and (rows.certain or of_another_release) for rows in ranges)

    def _ranges(self, body: list[ast.stmt], row: int) -> Iterator[_Rows]:
        """Yield ranges of rows that the release does not reach: all that a row is in, and some others.

        A statement that the row is not in hides it only if it leaves the block above it. The rest of a file, which is
        most of it, is not looked at.
        """
        for place, node in enumerate(body):
            if node.lineno > row:
                return
            around = row <= (node.end_lineno or node.lineno)
            if not around and not (isinstance(node, ast.If) and _leaves(node)):
                continue
            if isinstance(node, ast.If) and self._flags.asks_release(node.test, self._path, self._tree):
                known = self._known(node.test)
                for branch, needs in ((node.body, True), (node.orelse, False)):
                    if branch and known is not needs:
                        yield _rows(branch[0], branch[-1], certain=known is not UNKNOWN)
                if _leaves(node) and known is not False and body[place + 1 :]:
                    yield _rows(body[place + 1], body[-1], certain=known is not UNKNOWN)
            elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef) and any(
                _names_skip(decorator) for decorator in node.decorator_list
            ):
                yield _rows(node, node, certain=False)
                continue
            if around:
                for inner in blocks_of(node):
                    yield from self._ranges(inner, row)
                if node not in self._by_statement:
                    # Many findings may be in one statement.
                    self._by_statement[node] = list(self._in_expressions(node))
                yield from self._by_statement[node]

    def _in_expressions(self, node: ast.stmt) -> Iterator[_Rows]:
        if isinstance(
            node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef | ast.If | ast.For | ast.With | ast.Try
        ):
            return
        for inner in ast.walk(node):
            if isinstance(inner, ast.IfExp) and self._flags.asks_release(inner.test, self._path, self._tree):
                known = self._known(inner.test)
                for branch, needs in ((inner.body, True), (inner.orelse, False)):
                    if known is not needs and branch.lineno != inner.test.lineno:
                        yield _rows(branch, branch, certain=known is not UNKNOWN)
                if known is UNKNOWN:
                    yield _rows(inner, inner, certain=False)

    def _known(self, test: ast.expr) -> object:
        value = self._flags.value(test, self._path, self._tree)
        return UNKNOWN if value is UNKNOWN else bool(value)


def _rows(first: ast.stmt | ast.expr, last: ast.stmt | ast.expr, *, certain: bool) -> _Rows:
    return _Rows(first.lineno, last.end_lineno or last.lineno, certain)


def _leaves(node: ast.If) -> bool:
    """True if the end of the first branch leaves the block that the condition is in."""
    return isinstance(node.body[-1], ast.Return | ast.Raise | ast.Continue) or _skips(node.body[-1])


def _names_skip(decorator: ast.expr) -> bool:
    return any(word in unparsed(decorator) for word in _SKIPS) and asks_release(decorator)


def _skips(statement: ast.stmt) -> bool:
    return isinstance(statement, ast.Expr) and "skip" in unparsed(statement).lower()
