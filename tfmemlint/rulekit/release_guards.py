"""Code that only another release reaches: behind a condition about the release that the interpreter could not tell."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import cached_property
from typing import TYPE_CHECKING

from tfmemlint.facts.statements import blocks_of
from tfmemlint.facts.tree_walk import nodes, unparsed
from tfmemlint.model.records import dataclass
from tfmemlint.project.name_uses import asks_release
from tfmemlint.project.targets.find import current
from tfmemlint.project.version_flags import UNKNOWN, Flags
from tfmemlint.rulekit.framework_settings import for_release

if TYPE_CHECKING:
    from tfmemlint.interpreter.program import Program
    from tfmemlint.model.finding import Finding

_SIMPLE = (ast.Assign, ast.AnnAssign, ast.AugAssign, ast.Expr, ast.Return)
_HOOKS = frozenset({"main", "setUp", "tearDown", "setUpClass", "call", "build", "forward", "run", "fit"})
"""Names of functions that others call without their name being in the file: frameworks, and classes above."""
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

    def __init__(self, program: Program, path: str = "", tree: ast.Module | None = None) -> None:
        """Take the file of a program, or another of its modules by its path and tree."""
        self._path = path or program.source.path
        self._tree = tree if tree is not None else program.tree
        self._flags = Flags(program.target, current().source)
        self._by_row: dict[int, list[_Rows]] = {}
        self._by_statement: dict[ast.stmt, list[_Rows]] = {}
        self._target = program.target
        self._users: dict[str, list[ast.expr]] | None = None
        self._for_another: dict[ast.AST, bool] = {}

    def hides(self, finding: Finding, *, of_another_release: bool) -> bool:
        """Return True if the release does not reach the place of a finding. One about names of other releases counts as
        hidden also where that can't be told."""
        if finding.path != self._path:
            return False
        return self._hides_row(finding.span.row, of_another_release=of_another_release)

    def _hides_row(self, row: int, *, of_another_release: bool) -> bool:
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
            if not around and not (isinstance(node, ast.If) and _leaves(node)) and not isinstance(node, ast.Assert):
                continue
            if isinstance(node, ast.If):
                yield from self._by_setting(node, body[place + 1 :])
            if isinstance(node, ast.If) and self._flags.asks_release(node.test, self._path, self._tree):
                known = self._known(node.test)
                for branch, needs in ((node.body, True), (node.orelse, False)):
                    if branch and known is not needs:
                        yield _rows(branch[0], branch[-1], certain=known is not UNKNOWN)
                if _leaves(node) and known is not False and body[place + 1 :]:
                    yield _rows(body[place + 1], body[-1], certain=known is not UNKNOWN)
            elif isinstance(node, ast.Assert) and self._flags.asks_release(node.test, self._path, self._tree):
                known = self._known(node.test)
                if known is not True and body[place + 1 :]:
                    yield _rows(body[place + 1], body[-1], certain=known is not UNKNOWN)
            elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef) and any(
                _names_skip(decorator) for decorator in node.decorator_list
            ):
                yield _rows(node, node, certain=False)
                continue
            elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and self._is_for_another_release(node):
                yield _rows(node, node, certain=True)
                continue
            if around:
                for inner in blocks_of(node):
                    yield from self._ranges(inner, row)
                if node not in self._by_statement:
                    # Many findings may be in one statement.
                    self._by_statement[node] = list(self._in_expressions(node))
                yield from self._by_statement[node]

    def _by_setting(self, node: ast.If, rest: list[ast.stmt]) -> Iterator[_Rows]:
        """Yield the branches of a condition that a setting chooses, for what that names: ``settings["tf"] == "tf1"``.
        Where it names this release, what is left over may be for another one."""
        held, failed = for_release(node.test, self._target)
        if held is False:
            yield _rows(node.body[0], node.body[-1], certain=failed is not True)
        for branch in (node.orelse, rest if _leaves(node) else []):
            if branch and failed is False:
                yield _rows(branch[0], branch[-1], certain=held is not True)

    def _is_for_another_release(self, function: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
        """Return True if all that uses a function in its file is where the release does not get.

        A function that others may use as well, by its name, counts only if no file of the project imports this one.
        """
        known = self._for_another.get(function)
        if known is None:
            # Who asks for it while it is being found out is the function itself.
            self._for_another[function] = False
            known = self._for_another[function] = self._is_used_for_another_release(function)
        return known

    def _is_used_for_another_release(self, function: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
        if any(self._runs_nothing(decorator) for decorator in function.decorator_list):
            return True
        if function.name.startswith("__") or function.name in _HOOKS:
            return False
        first, last = function.lineno, function.end_lineno or function.lineno
        users = [use for use in self._users_of(function.name) if not first <= use.lineno <= last]
        if not users or not all(self._hides_row(use.lineno, of_another_release=False) for use in users):
            return False
        return function.name.startswith("_") or not current().inference.is_imported(self._path)

    def _runs_nothing(self, decorator: ast.expr) -> bool:
        """Return True if a decorator of the file calls what it is given only where the release does not get."""
        made = decorator.func if isinstance(decorator, ast.Call) else decorator
        found = self._functions.get(made.id) if isinstance(made, ast.Name) else None
        if found is None:
            return False
        parameters = {
            argument.arg
            for node in nodes(found)
            if isinstance(node, ast.FunctionDef)
            for argument in node.args.args[:1]
        }
        calls = [
            node
            for node in nodes(found)
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in parameters
        ]
        return bool(calls) and all(self._hides_row(call.lineno, of_another_release=False) for call in calls)

    @cached_property
    def _functions(self) -> dict[str, ast.FunctionDef]:
        return {node.name: node for node in self._tree.body if isinstance(node, ast.FunctionDef)}

    def _users_of(self, name: str) -> list[ast.expr]:
        """Return the names and attributes that may mean a function."""
        if self._users is None:
            self._users = {}
            for node in nodes(self._tree):
                if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load):
                    self._users.setdefault(node.id, []).append(node)
                elif isinstance(node, ast.Attribute):
                    self._users.setdefault(node.attr, []).append(node)
                elif isinstance(node, ast.Constant) and isinstance(node.value, str) and node.value.isidentifier():
                    # ``getattr(self, "_make")``, ``__all__``.
                    self._users.setdefault(node.value, []).append(node)
        return self._users.get(name, [])

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
