"""Statements: the ways a program takes."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from dataclasses import replace

from tfmemlint.facts.syntax import dotted
from tfmemlint.interpreter.context import Frame
from tfmemlint.interpreter.control_flow import Ways
from tfmemlint.interpreter.scopes import Scope
from tfmemlint.interpreter.state import State
from tfmemlint.interpreter.values import UNKNOWN, Choice, Class, Function, Instance, Partial, Value


class Statements(Ways):
    """Executing statements."""

    classes: list[Class]
    import_state: State | None

    def execute(self, body: Sequence[ast.stmt]) -> None:
        """Interpret statements one after another, as far as there is a way."""
        guards, ways = self.guards, self.ways
        for statement in body:
            if self.state is None:
                break
            self.step()
            saved, self.statement = self.statement, statement
            kind = type(statement)
            method = self._methods[kind] if kind in self._methods else self.method_for(kind)
            if method is not None:
                method(self, statement)
            else:
                self._children(statement)
            self.statement = saved
        self.guards, self.ways = guards, ways

    # Definitions

    def _FunctionDef(self, node: ast.FunctionDef | ast.AsyncFunctionDef) -> None:
        decorators = self._decorators(node)
        if self._is_skipped(node.decorator_list):
            self.bind(node.name, UNKNOWN)
            return
        self.evaluate_defaults(node.args)
        function = Function(node, self.scope, decorators)
        if any(dotted(written) == f"{node.name}.setter" for written in node.decorator_list):
            getter = self.scope.lookup(node.name)
            if isinstance(getter, Function):
                self.bind(node.name, replace(getter, setter=function))
                return
        if self.unit is self.main:
            self.functions.setdefault(id(node), function)
        bound: Value = function
        for decorator in reversed(decorators):
            if isinstance(decorator, (Function, Class, Instance, Partial, Choice)):
                # It runs here and now. Unless it returns something of the program's own, what it returns is taken to
                # do what the function itself does.
                result = self.call_value(decorator, [bound], {}, node)
                bound = result if isinstance(result, (Function, Instance, Partial, Choice)) else bound
        self.bind(node.name, bound)

    _AsyncFunctionDef = _FunctionDef

    def _ClassDef(self, node: ast.ClassDef) -> None:
        decorators = self._decorators(node)
        if self._is_skipped(node.decorator_list):
            self.bind(node.name, UNKNOWN)
            return
        bases = tuple(self.evaluate(base) for base in node.bases)
        for keyword in node.keywords:
            self.evaluate(keyword.value)
        scope = Scope(self.scope, is_class=True, number=self.next_serial())
        cls = Class(node, self.scope, bases, scope.names)
        if self.unit is self.main:
            self.classes.append(cls)
        self.frames.append(Frame(self.frame.function, scope, node))
        try:
            self.execute(node.body)
        finally:
            self.frames.pop()
        for made in reversed(decorators):
            if isinstance(made, (Function, Class, Instance)):
                self.call_value(made, [cls], {}, node)
        self.bind(node.name, cls)

    def _decorators(self, node: ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef) -> tuple[Value, ...]:
        if not node.decorator_list:
            return ()
        with self.at("decorator"):
            return tuple(self.evaluate(decorator) for decorator in node.decorator_list)

    def _is_skipped(self, decorators: Sequence[ast.expr]) -> bool:
        """Whether a test never runs under the targeted release: ``skipif(version.parse(tf.__version__) >= ...)``."""
        for decorator in decorators:
            call = decorator if isinstance(decorator, ast.Call) else None
            kind = dotted(call.func if call is not None else decorator).rpartition(".")[2].lower()
            if kind == "skip":
                return True
            if kind not in ("skipif", "skipunless") or call is None or not call.args:
                continue
            verdict = self.verdict(call.args[0], self._last_values.get(id(call.args[0]), UNKNOWN))
            if verdict.truth is (kind == "skipif") and not verdict.assumed:
                return True
        return False
