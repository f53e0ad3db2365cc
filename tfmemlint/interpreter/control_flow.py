"""Branches, handlers and contexts: the ways that a program takes, and where they end."""

from __future__ import annotations

import ast
import functools
from collections.abc import Callable
from dataclasses import replace

from tfmemlint.facts.syntax import assigned_names, dotted
from tfmemlint.interpreter.exceptions import Handling, handled_names
from tfmemlint.interpreter.state import State
from tfmemlint.interpreter.values import UNKNOWN, Choice, Function, Instance, Lazy, Made, Value
from tfmemlint.knowledge.functions import GRAPHS, SESSIONS


class Ways(Handling):
    """Following ways."""

    import_state: State | None

    def _Assert(self, node: ast.Assert) -> None:
        self.evaluate(node.test)
        if self.state is not None:
            self.state = self.refine(self.state, node.test, True)

    def _If(self, node: ast.If) -> None:
        if _is_main_guard(node.test) and self.import_state is None and self.unit is self.main and len(self.frames) == 1:
            self.import_state = self.state
        value = self.evaluate(node.test)
        if self.state is None:
            return
        verdict = self.verdict(node.test, value)
        if verdict.truth is not None and not verdict.assumed:
            self.execute(node.body if verdict.truth else node.orelse)
            return
        yes, no = self.guards_of(node.test, True), self.guards_of(node.test, False)
        refined = self.refine(self.state, node.test, True), self.refine(self.state, node.test, False)
        before = self.snapshot()
        if verdict.truth is not None:
            # The other branch is for machines that nothing here is about: looked at, and left without a trace.
            likely, unlikely = (node.body, node.orelse) if verdict.truth else (node.orelse, node.body)
            taken, passed = (yes, no) if verdict.truth else (no, yes)
            self.state = refined[1 if verdict.truth else 0]
            with self.doubtful(passed):
                self.execute(unlikely)
            self.restore(before, refined[0 if verdict.truth else 1])
            with self.doubtful(taken, doubt=False):
                self.execute(likely)
            return
        self.state = refined[0]
        ended = self._ended()
        with self.doubtful(yes):
            self.execute(node.body)
        after = self.snapshot()
        self.restore(before, refined[1])
        with self.doubtful(no):
            self.execute(node.orelse)
        if (after.state is None) is not (self.state is None):
            # What follows is reached by one of the two alone.
            self.guards = (*self.guards, *(no if after.state is None else yes))
            if self._ended() != ended:
                # The others go on elsewhere.
                self.ways = (*self.ways, self.next_serial())
        self.merge(after, no, yes)

    def _ended(self) -> tuple[int, int]:
        """How many ways have left this function, or this pass of the loop that we are in."""
        loop = self.loops[-1] if self.loops else None
        return len(self.frame.returns), len(loop.breaks) + len(loop.continues) if loop is not None else 0

    def _Match(self, node: ast.Match) -> None:
        self.evaluate(node.subject)
        before = self.snapshot()
        ends = []
        for case in node.cases:
            self.restore(before)
            for name in assigned_names([case.pattern]):
                self.bind(name, UNKNOWN)
            with self.doubtful():
                if case.guard is not None:
                    self.evaluate(case.guard)
                self.execute(case.body)
            ends.append(self.snapshot())
        self.restore(before)
        for end in ends:
            self.merge(end)

    def _With(self, node: ast.With | ast.AsyncWith) -> None:
        self._enter(node, list(node.items))

    _AsyncWith = _With

    def _enter(self, node: ast.With | ast.AsyncWith, items: list[ast.withitem]) -> None:
        """Enter what a ``with`` still has to enter, go through its body, and leave it again."""
        if not items:
            self.execute(node.body)
            return
        item, *rest = items
        value = self.evaluate(item.context_expr)
        if self.state is None:
            return
        caught = self._suppressed(item.context_expr)
        if caught is not None:
            self.suppressing(caught, item.context_expr, functools.partial(self._enter, node, rest))
            return
        if isinstance(value, Choice):
            self.any_of(value, lambda option: self._entered(option, node, item, rest))
            return
        self._entered(value, node, item, rest)

    def _entered(
        self, value: Value, node: ast.With | ast.AsyncWith, item: ast.withitem, rest: list[ast.withitem]
    ) -> Value:
        """Enter one value, go through the body, and leave it again."""
        if isinstance(value, Lazy):
            self._in_context(value, item, lambda: self._enter(node, rest))
            return UNKNOWN
        graphs = 0
        entered: Instance | None = None
        if isinstance(value, Made):
            self.used.add(value.serial)
            graphs += value.name in GRAPHS or value.name in SESSIONS or value.name.endswith("Session().as_default")
        if isinstance(value, Instance):
            entered = value
            value = self._call_method(value, "__enter__", [], item.context_expr)
            if self.state is None:
                return UNKNOWN
        if item.optional_vars is not None:
            self.assign(item.optional_vars, value)
        before = self.here.graphs
        self.state = replace(self.here, graphs=before + graphs)
        self._enter(node, rest)
        if entered is not None:
            self._call_method(entered, "__exit__", [UNKNOWN] * 3, node)
        if self.state is not None:
            self.state = replace(self.state, graphs=before)
        return UNKNOWN

    def _suppressed(self, manager: ast.expr) -> tuple[str, ...] | None:
        """The exceptions that don't get out of ``with contextlib.suppress(...)`` or ``pytest.raises(...)``."""
        if not isinstance(manager, ast.Call) or not manager.args:
            return None
        if dotted(manager.func).rpartition(".")[2] not in ("suppress", "raises", "assertRaises", "assertRaisesRegex"):
            return None
        return handled_names(manager.args)

    def _in_context(self, manager: Lazy, item: ast.withitem, body: Callable[[], None]) -> None:
        """``with`` a context manager that is written as a generator: the body runs where that yields."""
        entered = False

        def inside(value: Value) -> None:
            nonlocal entered
            if not entered:
                entered = True
                if item.optional_vars is not None:
                    self.assign(item.optional_vars, value)
                body()

        self.consume(manager, inside)

    def _call_method(self, instance: Instance, name: str, args: list[Value], node: ast.AST) -> Value:
        if self.state is None:
            return UNKNOWN
        method = self.member(instance, name, node)
        return self.call_value(method, args, {}, node) if isinstance(method, (Function, Choice)) else UNKNOWN


def _is_main_guard(test: ast.expr) -> bool:
    return isinstance(test, ast.Compare) and isinstance(test.left, ast.Name) and test.left.id == "__name__"
