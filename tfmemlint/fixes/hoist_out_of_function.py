"""Plan to move configuration out of a function, above an import of its module.

A runtime that an import starts is running before any function of the module is called, so configuration inside a
function is always too late. At the top level, above the import, it is in time; but then it also runs for every importer
of the module.
"""

from __future__ import annotations

import ast
import builtins
import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import libcst as cst

from tfmemlint.fixes.concrete_tree import Block, Statement
from tfmemlint.fixes.def_use import DefUse
from tfmemlint.fixes.hoist import Hoist, HoistEntry
from tfmemlint.fixes.imports import is_import
from tfmemlint.fixes.trace_places import is_outside_file, split_trace
from tfmemlint.fixes.withheld import Withheld
from tfmemlint.model.finding import Finding, Span

if TYPE_CHECKING:
    from tfmemlint.project.reaching import Graph


def plan_move_above_start(hoist: Hoist, finding: Finding) -> tuple[list[Statement], Statement, str]:
    """Return what moves so that ``finding`` is gone, the statement that it moves above, and the message of the fix.

    Raises:
        Withheld: it can't be moved, or the program would behave differently.
    """
    try:
        line, above = hoist.locate(finding)
        return hoist.plan([line], above), above, "Move the configuration above what starts the runtime"
    except Withheld as found:
        reason = found
    function_hoist = function_hoist_of(hoist, finding)
    start = function_hoist.import_above()
    try:
        if start is not None:
            moved, function = function_hoist.plan(start)
            left = f"{function}()" if function else "the condition"
            return moved, start, f"Move the configuration out of {left}, above the import that starts the runtime"
    except Withheld as found:
        reason = found
    place = finding.anchors.get("start")
    if place is None or all(step.path == finding.path for step in finding.trace):
        raise reason
    path = finding.path
    raise Withheld(f"{path}:{finding.span.row} can't be moved above {path}:{place.row}: {reason}")


def function_hoist_of(hoist: Hoist, finding: Finding) -> FunctionHoist:
    """Return the planner for a finding whose start and configuration are both reached in its own file."""
    early, late = split_trace(finding)
    own = all(step.path == finding.path for step in (*early[:1], *late))
    own = own and not any(is_outside_file(step, hoist.tree) for step in late)
    start = early[0].span if early and own else None
    return FunctionHoist(hoist, finding.path, start, [step.span for step in late])


class FunctionHoist:
    """A planner of moves to the top level of one file.

    Attributes:
        path: the file. early: what leads to the start there. steps: the calls there that lead to the configuration.
    """

    def __init__(self, hoist: Hoist, path: str, early: Span | None, steps: Sequence[Span]) -> None:
        self.hoist = hoist
        self.tree = hoist.tree
        self.path = path
        self.early = early
        self.steps = steps

    def above(self) -> Statement | None:
        """Return the top-level statement that starts the runtime.

        Return None if the configuration is neither in a function nor under ``if __name__ == "__main__"``.
        """
        if self.early is None or not self.steps:
            return None
        body = self.tree.statements(self.tree.module)
        early = self.early
        above = next((statement for statement in body if self.tree.span(statement).contains(early)), None)
        first = self.tree.statement_at(self.steps[0])
        if above is None or self.tree.span(above).contains(self.steps[0]):
            return None
        return above if len(self.steps) > 1 or self._guard(first) is not None else None

    def import_above(self) -> Statement | None:
        """Return the top-level import that starts the runtime, as `above` does."""
        above = self.above()
        return above if above is not None and _imports(above) else None

    def plan(self, above: Statement) -> tuple[list[Statement], str]:
        """Return what moves, and the name of the function that it moves out of ("" if there is none).

        Raises:
            Withheld: it can't be moved, the program would behave differently, or other files import the module.
        """
        reason: Withheld | None = None
        for depth in range(len(self.steps)):
            if depth == 0 and self._guard(self.tree.statement_at(self.steps[0])) is None:
                continue
            try:
                moved, function = self._from(above, depth)
            except Withheld as found:
                # The outermost call may do more than configure; the function that it calls may not.
                reason = found
                continue
            check_not_imported(self.path)
            return moved, function
        raise reason or Withheld("it is in no function")

    def _from(self, above: Statement, depth: int) -> tuple[list[Statement], str]:
        """Return the move of what happens at step ``depth`` towards the configuration."""
        tree, hoist = self.tree, self.hoist
        first = tree.statement_at(self.steps[0])
        guard = self._guard(first)
        body = tree.statements(tree.module)
        row = self._statements_before(
            body[body.index(above) :], guard or self._statement_containing(body, self.steps[0])
        )
        block: Block = tree.module
        if guard is not None:
            block = _block(guard)
            row += self._statements_before(
                tree.statements(block), self._statement_containing(tree.statements(block), self.steps[0])
            )
        function: cst.FunctionDef | None = None
        for number in range(1, depth + 1):
            self._check_unconditional(block, self.steps[number - 1])
            function = self._function(self.steps[number])
            block = _block(function)
            row.append(self._head(function))
            row += self._statements_before(
                tree.statements(block), self._statement_containing(tree.statements(block), self.steps[number])
            )
        holding = self._statement_containing(tree.statements(block), self.steps[depth])
        line = hoist.innermost(holding, self.steps[depth])
        if line is not holding:
            raise Withheld(f"the statement in line {tree.span(holding).row} does more than configure")
        row.append(hoist.entry_of(line, hoist.read(line), tree.span(line).row))
        moved = hoist.select_moved(row, [line])
        self._check_module_level(moved, function)
        return moved, function.name.value if function is not None else ""

    def _check_unconditional(self, block: Block, span: Span) -> None:
        """Refuse a call that is made under a condition or in a loop."""
        if self.tree.block_of(self.tree.statement_at(span)) is not block:
            raise Withheld(f"line {span.row} makes its call under a condition")

    def _statements_before(self, statements: Sequence[Statement], last: Statement) -> list[HoistEntry]:
        """Return the statements above ``last``, in the order in which they run."""
        before = statements[: statements.index(last)]
        return [
            self.hoist.entry_of(statement, self.hoist.read(statement), self.tree.span(statement).row)
            for statement in before
        ]

    def _guard(self, statement: Statement) -> cst.If | None:
        """Return the module's ``if __name__ == "__main__"`` around a statement."""
        found = None
        for ancestor in self.tree.ancestors(statement):
            if isinstance(ancestor, cst.If) and self.tree.parents.get(ancestor) is self.tree.module:
                found = ancestor
        if found is None or found.orelse is not None:
            return None
        test = self.tree.code(found.test).replace("'", '"').replace(" ", "").strip("()")
        return found if test in ('__name__=="__main__"', '"__main__"==__name__') else None

    def _function(self, span: Span) -> cst.FunctionDef:
        function = self.tree.function_of(self.tree.statement_at(span))
        if not isinstance(function, cst.FunctionDef) or self.tree.parents.get(function) is not self.tree.module:
            raise Withheld(f"the function around line {span.row} is not at the module's top level")
        if function.decorators or function.asynchronous is not None:
            raise Withheld(f"{function.name.value} (line {self.tree.span(function).row}) is not a plain function")
        return function

    def _head(self, function: cst.FunctionDef) -> HoistEntry:
        """Return an entry for the names that a call of the function binds."""
        code = self.tree.code(function.with_changes(body=cst.SimpleStatementSuite([cst.Pass()]), leading_lines=[]))
        node = ast.parse(code).body[0]
        given = {parameter.arg for parameter in ast.walk(node) if isinstance(parameter, ast.arg)}
        return self.hoist.entry_of(None, DefUse(binds=given), self.tree.span(function).row)

    def _statement_containing(self, body: Sequence[Statement], span: Span) -> Statement:
        found = next((candidate for candidate in body if self.tree.span(candidate).contains(span)), None)
        if found is None:
            raise Withheld(f"line {span.row} is reached in another way")
        return found

    def _check_module_level(self, moved: Sequence[Statement], function: cst.FunctionDef | None) -> None:
        """Refuse code that would do something else at the top level.

        What it needs must have the same value from the start, and the names that it binds must be free.
        """
        hoist, tree = self.hoist, self.tree
        local = [statement for statement in moved if function is not None and tree.function_of(statement) is function]
        for stated in moved:
            row = tree.span(stated).row
            if tree.block_of(stated) is not tree.module:
                foreign = hoist.unrelated_call(hoist.read(stated))
                if foreign:
                    raise Withheld(f"it needs what {foreign} gives (line {row}), for whoever imports this file too")
            elif not (isinstance(stated, cst.FunctionDef) or _imports(stated) or self._is_constant_assignment(stated)):
                raise Withheld(f"it needs what line {row} gives, which may have another value by then")
        bound = {name for statement in moved for name in hoist.read(statement).binds}
        steady = hoist.imports.imported() | set(hoist.bodies) | bound | set(dir(builtins))
        for stated in moved:
            for name in sorted(hoist.read(stated).reads - steady):
                if not any(
                    name in hoist.read(line).binds and self._is_constant_assignment(line) for line in self._top()
                ):
                    raise Withheld(f"it needs {name}, which may have another value by then")
        mine = {name for statement in local for name in hoist.read(statement).binds}
        rest = (
            [statement for statement in tree.statements(_block(function)) if statement not in local]
            if function is not None
            else []
        )
        for names in [
            *map(hoist.read, self._top()),
            *(DefUse(binds=hoist.read(statement).binds) for statement in rest),
        ]:
            taken = mine & (names.reads | names.binds | names.declared)
            if taken:
                raise Withheld(f"{min(taken)} would become a name of the module, which has one already")

    def _top(self) -> list[Statement]:
        return self.tree.statements(self.tree.module)

    def _is_constant_assignment(self, statement: Statement) -> bool:
        """True if a statement assigns constants to names that nothing else binds."""
        node = ast.parse(self.tree.code(statement)).body[0]
        if not isinstance(node, ast.Assign) or not _is_constant(node.value):
            return False
        bound = self.hoist.read(statement).binds
        others = [self.hoist.read(other).binds for other in self._top() if other is not statement]
        return not bound & self.hoist.declared and not any(bound & other for other in others)


def _is_constant(node: ast.expr) -> bool:
    """True if an expression is an immutable constant."""
    try:
        ast.literal_eval(node)
    except ValueError:
        return False
    return not any(isinstance(part, (ast.List, ast.Dict, ast.Set)) for part in ast.walk(node))


def _imports(statement: Statement) -> bool:
    return is_import(statement) or isinstance(statement, (cst.Import, cst.ImportFrom))


def _block(holder: cst.CSTNode) -> cst.IndentedBlock:
    body = getattr(holder, "body", None)
    if not isinstance(body, cst.IndentedBlock):
        raise Withheld("what has to move shares a line with the statement around it")
    return body


def check_not_imported(path: str) -> None:
    """Refuse if a file of the project imports this one: code at its top level would run there, too."""
    other = importer_of(path)
    if other:
        raise Withheld(f"{other} imports this file, and would configure the GPUs too")


def importer_of(path: str) -> str:
    """Return a file of the project that imports the one at ``path``, or "".

    Raises:
        Withheld: the project is too large to tell.
    """
    return min(importers_of(path), default="")


def importers_of(path: str) -> frozenset[str]:
    """Return the files of the project that import the one at ``path``.

    Raises:
        Withheld: the project is too large to tell.
    """
    made, own = _graph(path)
    return frozenset(made.importers.get(own, ())) if made is not None else frozenset()


def starts_using(path: str) -> frozenset[str]:
    """Return the files that lead to the one at ``path`` by imports and that no file imports: where programs start.

    Raises:
        Withheld: the project is too large to tell.
    """
    made, own = _graph(path)
    if made is None:
        return frozenset()
    return frozenset(file for file in made.reaching({own}) if not made.importers.get(file))


def readers_of(path: str) -> frozenset[str]:
    """Return the files of the project that lead to the one at ``path`` by imports, directly or not.

    Raises:
        Withheld: the project is too large to tell.
    """
    made, own = _graph(path)
    return frozenset(made.reaching({own})) - {own} if made is not None else frozenset()


def _graph(path: str) -> tuple[Graph | None, str]:
    from tfmemlint.project.importers import TooLarge, graph_around

    own = os.path.normpath(os.path.relpath(path))
    if not Path(path).exists():
        return None, own
    try:
        return graph_around(path), own
    except TooLarge:
        raise Withheld("the project is too large to see who imports this file") from None


__all__ = ["FunctionHoist", "importer_of", "importers_of", "plan_move_above_start", "readers_of", "starts_using"]
