"""Branches, handlers and contexts: the ways that a program takes, and where they end."""

from __future__ import annotations

import ast
import functools
from collections.abc import Callable
from dataclasses import replace

from tfmemlint.facts.syntax import assigned_names, dotted, ends_in_exit, handler_types, is_idle, is_silent
from tfmemlint.flow.assigning import Assigning
from tfmemlint.flow.program import Handler
from tfmemlint.flow.state import Phase, State, Tri, join_states
from tfmemlint.flow.values import (
    UNKNOWN,
    Function,
    Instance,
    Lazy,
    Made,
    Value,
)
from tfmemlint.knowledge.functions import GRAPHS, SESSIONS


class Ways(Assigning):
    """Following ways."""

    import_state: State | None

    def _Return(self, node: ast.Return) -> None:
        value = self.evaluate(node.value)
        if self.state is not None:
            if len([frame for frame in self.frames if frame.call is not None]) == 0:
                # Nobody in sight gets it.
                self.escape(value)
            self.frame.returns.append((self.state, value))
            self.state = None

    def _Raise(self, node: ast.Raise) -> None:
        self._children(node)
        raised = node.exc.func if isinstance(node.exc, ast.Call) else node.exc
        self.leave(certain=isinstance(raised, ast.Name) and raised.id == "SystemExit")

    def _Break(self, node: ast.Break) -> None:
        if self.loops and self.state is not None:
            self.loops[-1].breaks.append(self.snapshot())
        self.state = None

    def _Continue(self, node: ast.Continue) -> None:
        if self.loops and self.state is not None:
            self.loops[-1].continues.append(self.snapshot())
        self.state = None

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
        with self.doubtful(yes):
            self.execute(node.body)
        after = self.snapshot()
        self.restore(before, refined[1])
        with self.doubtful(no):
            self.execute(node.orelse)
        if (after.state is None) is not (self.state is None):
            # What follows is reached by one of the two alone.
            self.guards = (*self.guards, *(no if after.state is None else yes))
        self.merge(after, no, yes)

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

    def _Try(self, node: ast.Try) -> None:
        group = tuple(
            Handler(
                handler_types(handler),
                self.span(handler) if not handler.body else self.statement_span(handler),
                reraises=ends_in_exit(handler.body),
                idle=is_idle(handler.body),
                silent=is_silent(handler.body),
            )
            for handler in node.handlers
        )
        before = self.snapshot()
        self.handlers.append((group, len(self.frames)))
        self.execute(node.body)
        self.handlers.pop()
        after = self.snapshot()
        if self.state is not None:
            self.execute(node.orelse)
        end = self.snapshot()
        ends = []
        entered = []
        for handler, described in zip(node.handlers, group, strict=True):
            self.restore(before)
            self.merge(after)
            caught = self.raised.pop(id(described), [])
            if caught:
                self.state = functools.reduce(join_states, caught)
            elif self.state is not None and before.state is not None:
                # Whether the body had come as far as what starts the runtime when it failed, nobody knows.
                self.state = _started_or_not(self.state, before.state)
            if handler.name:
                self.bind(handler.name, UNKNOWN)
            with self.doubtful():
                if handler.type is not None:
                    self.evaluate(handler.type)
                self.execute(handler.body)
            ends.append(self.snapshot())
            if caught:
                entered.append(ends[-1])
        # Unless something raises for sure, the body is taken to go through: a claim that rests on an exception nobody
        # knows of would be a guess.
        self.restore(end)
        for handled in ends if self.state is None else entered:
            self.merge(handled)
        if node.finalbody:
            dead = self.state is None
            if dead:
                self.restore(after if after.state is not None else before)
            self.execute(node.finalbody)
            if dead:
                self.state = None

    _TryStar = _Try

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
            group = (Handler(caught, self.span(item.context_expr), reraises=False, idle=True, silent=True),)
            self.handlers.append((group, len(self.frames)))
            self._enter(node, rest)
            self.handlers.pop()
            return
        if isinstance(value, Lazy):
            self._in_context(value, item, lambda: self._enter(node, rest))
            return
        graphs = 0
        entered: Instance | None = None
        if isinstance(value, Made):
            self.used.add(value.serial)
            graphs += value.name in GRAPHS or value.name in SESSIONS or value.name.endswith("Session().as_default")
        if isinstance(value, Instance):
            entered = value
            value = self._call_method(value, "__enter__", [], item.context_expr)
            if self.state is None:
                return
        if item.optional_vars is not None:
            self.assign(item.optional_vars, value)
        before = self.here.graphs
        self.state = replace(self.here, graphs=before + graphs)
        self._enter(node, rest)
        if entered is not None:
            self._call_method(entered, "__exit__", [UNKNOWN] * 3, node)
        if self.state is not None:
            self.state = replace(self.state, graphs=before)

    def _suppressed(self, manager: ast.expr) -> tuple[str, ...] | None:
        """The exceptions that don't get out of ``with contextlib.suppress(...)`` or ``pytest.raises(...)``."""
        if not isinstance(manager, ast.Call) or not manager.args:
            return None
        if dotted(manager.func).rpartition(".")[2] not in ("suppress", "raises", "assertRaises", "assertRaisesRegex"):
            return None
        named = [one for part in manager.args for one in (part.elts if isinstance(part, ast.Tuple) else [part])]
        return tuple(dotted(one).replace("tensorflow.", "tf.", 1) or "?" for one in named)

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
        return self.call_value(method, args, {}, node) if isinstance(method, Function) else UNKNOWN


def _started_or_not(state: State, before: State) -> State:
    """What has started since ``before`` may have, or not."""
    changes = {
        which: Phase(Tri.UNKNOWN)
        for which in ("context", "allocator", "listed")
        if getattr(state, which) != getattr(before, which)
    }
    return replace(state, **changes) if changes else state  # type: ignore[arg-type]


def _is_main_guard(test: ast.expr) -> bool:
    return isinstance(test, ast.Compare) and isinstance(test.left, ast.Name) and test.left.id == "__name__"
