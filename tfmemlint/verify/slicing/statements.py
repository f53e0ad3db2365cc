"""Index the statements of a module: their places, and the names that they bind."""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Iterator

from tfmemlint.facts.statements import blocks_of, own_nodes
from tfmemlint.model.finding import Span
from tfmemlint.verify.slicing.syntax import bound_names, is_exit

Function = ast.FunctionDef | ast.AsyncFunctionDef | None
"""A function, or None for the top level (class bodies belong to the function around them)."""

_LIBRARIES = frozenset({"tensorflow", "keras", "tf_keras"})
"""A name that is imported from these counts as a module: a call of its functions does not change it."""


class StatementIndex:
    """The statements of a module.

    Attributes:
        tree: the module. parent: the statement whose block contains a statement, None at the top level.
        function: the innermost function that contains a statement. outer: the function around a function.
        exits: the statements that leave a block early, or may: assertions.
        yields: of each function, the statements in which it yields.
        assigned_attributes: by name of the attribute, the statements that assign to it: assignments
            (``self.gpus = ...``), and those in the body of a class, including its methods.
        bound: by name and function, the statements that bind it there.
        modules: the names that imports bind. taken: those of them that are not modules, if that is known.
    """

    def __init__(self, tree: ast.Module) -> None:
        self.tree = tree
        self.parent: dict[ast.stmt, ast.stmt | None] = {}
        self.function: dict[ast.stmt, Function] = {}
        self.outer: dict[Function, Function] = {None: None}
        self.exits: list[ast.stmt] = []
        self.yields: dict[Function, list[ast.stmt]] = defaultdict(list)
        self.assigned_attributes: dict[str, list[ast.stmt]] = defaultdict(list)
        self.bound: dict[tuple[str, Function], list[ast.stmt]] = defaultdict(list)
        self.modules: set[str] = set()
        self.taken: set[str] = set()
        self._locals: dict[Function, set[str]] = defaultdict(set)
        self._outside: dict[Function, dict[str, Function]] = defaultdict(dict)
        self._by_row: dict[int, list[ast.stmt]] = defaultdict(list)
        self._children: dict[ast.stmt, list[ast.stmt]] = defaultdict(list)
        self._used: dict[str, list[ast.stmt]] = defaultdict(list)
        self._walk(tree.body, None, None)
        for statement in self.parent:
            self._read(statement)

    def at(self, span: Span) -> ast.stmt | None:
        """Return the innermost statement that contains a place."""
        best: ast.stmt | None = None
        for statement in self.parent:
            first = min(
                [statement.lineno, *(decorator.lineno for decorator in getattr(statement, "decorator_list", []))]
            )
            inside = first <= span.row <= (statement.end_lineno or statement.lineno)
            if inside and statement.lineno == span.row and statement.col_offset >= span.column:
                # It is another statement of the same line, unless it begins there.
                inside = statement.col_offset == span.column - 1
            if inside and (best is None or self._within(statement, best)):
                best = statement
            elif inside and best is not None and statement.lineno == best.lineno:
                best = statement if statement.col_offset < span.column else best
        return best

    def of_row(self, row: int) -> list[ast.stmt]:
        """Return the statements that begin in a row; if none does, the innermost one that continues there."""
        found = self._by_row[row]
        if found:
            return found
        around = [
            candidate
            for candidate in self.parent
            if candidate.lineno <= row <= (candidate.end_lineno or candidate.lineno)
        ]
        return [max(around, key=lambda candidate: (candidate.lineno, candidate.col_offset))] if around else []

    def uses(self, function: ast.stmt) -> list[ast.stmt]:
        """Return the statements that may call a function of the module.

        They contain its name, or the name of the class whose special method it is.
        """
        assert isinstance(function, (ast.FunctionDef, ast.AsyncFunctionDef))
        around = self.parent[function]
        if isinstance(around, ast.ClassDef) and function.name.startswith("__"):
            return self._used[around.name]
        return self._used[function.name]

    def inside(self, definition: ast.stmt) -> Iterator[ast.stmt]:
        """Yield all statements in the blocks of a statement."""
        for child in self._children[definition]:
            yield child
            yield from self.inside(child)

    def beside(self, statement: ast.stmt) -> list[ast.stmt]:
        """Return the other simple statements that begin on a line of this one."""
        if hasattr(statement, "body"):
            return []
        rows = range(statement.lineno, (statement.end_lineno or statement.lineno) + 1)
        return [
            other
            for row in rows
            for other in self._by_row[row]
            if other is not statement and not hasattr(other, "body")
        ]

    def _within(self, inner: ast.stmt, outer: ast.stmt) -> bool:
        around = self.parent[inner]
        while around is not None:
            if around is outer:
                return True
            around = self.parent[around]
        return False

    def _walk(self, block: list[ast.stmt], parent: ast.stmt | None, function: Function) -> None:
        for statement in block:
            self.parent[statement] = parent
            self.function[statement] = function
            self._by_row[statement.lineno].append(statement)
            if parent is not None:
                self._children[parent].append(statement)
            inner = function
            if isinstance(statement, (ast.FunctionDef, ast.AsyncFunctionDef)):
                inner = statement
                self.outer[statement] = function
                arguments = statement.args
                every = [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs]
                every += [argument for argument in (arguments.vararg, arguments.kwarg) if argument is not None]
                self._locals[statement].update(argument.arg for argument in every)
            for child in blocks_of(statement):
                self._walk(child, statement, inner)

    def _read(self, statement: ast.stmt) -> None:
        function = self.function[statement]
        leaves = (ast.Return, ast.Raise, ast.Break, ast.Continue, ast.Assert)
        if isinstance(statement, leaves) or is_exit(statement):
            self.exits.append(statement)
        if any(isinstance(node, (ast.Yield, ast.YieldFrom)) for node in own_nodes(statement)):
            self.yields[function].append(statement)
        if isinstance(statement, (ast.Global, ast.Nonlocal)):
            for name in statement.names:
                home = self.home(name, self.outer[function]) if isinstance(statement, ast.Nonlocal) else None
                self._outside[function][name] = home
                self.bound[name, home].append(statement)
            return
        for name in bound_names(statement):
            home = self._outside[function].get(name, function)
            self._locals[home].add(name)
            self.bound[name, home].append(statement)
            if isinstance(self.parent[statement], ast.ClassDef):
                self.assigned_attributes[name].append(statement)
            if isinstance(statement, (ast.Import, ast.ImportFrom)):
                self.modules.add(name)
                module = getattr(statement, "module", None) or ""
                if isinstance(statement, ast.ImportFrom) and module.split(".")[0] not in _LIBRARIES:
                    self.taken.add(name)
        for node in own_nodes(statement):
            if isinstance(node, ast.Attribute):
                self._used[node.attr].append(statement)
                if isinstance(node.ctx, ast.Store):
                    self.assigned_attributes[node.attr].append(statement)
            elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load):
                self._used[node.id].append(statement)

    def home(self, name: str, function: Function) -> Function:
        """Return the function whose local variable a name is, None for the module."""
        while function is not None and name not in self._locals[function]:
            if name in self._outside[function]:
                return self._outside[function][name]
            function = self.outer[function]
        return function
