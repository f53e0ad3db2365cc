"""Interpret a program under an observer, and tell it where the values that are not known became so.

`Unknown` carries nothing about its origin, so that it costs nothing. `WatchedContext` is only made where there is an
observer; it remembers of each expression without a known value what that came from.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from tfmemlint.facts.shapes import expressions
from tfmemlint.interpreter.context import Context, EventT
from tfmemlint.interpreter.observer import Decision, Origin, Reason
from tfmemlint.interpreter.state import Call
from tfmemlint.interpreter.values import Function, Scope, Unknown, Value

if TYPE_CHECKING:
    from tfmemlint.interpreter.observer import Observer
    from tfmemlint.interpreter.unit import EntrySetup
    from tfmemlint.interpreter.values import ModuleInstance
    from tfmemlint.knowledge.releases import Target

_NOT_COMPUTED = "is not computed"
_CALLEE = "is a call of what is not known"
_RESULT = "is a call whose result is not known"
_ARGUMENT = "is an argument of {}, which nothing calls in a way that is followed"
_GIVEN = "is an argument of {}, which the call in line {} gives"
_ATTRIBUTE = "is an attribute that is not known"
_PART = "is a part of what {} gives"
_CHANGED = "was bound in line {}; since then paths with different values met, or something not followed may change it"
_NEVER = "has no value on a path that leads here"


class WatchedContext(Context):
    """Interprets as `Context` does, and tells the observer the origins of what is not known."""

    def __init__(self, unit: ModuleInstance, target: Target, setup: EntrySetup | None, observer: Observer) -> None:
        super().__init__(unit, target, setup, observer)
        self._watcher = observer
        self._origins: dict[int, Origin] = {}
        """Of the last value of each expression that is not known, by the id of its node."""
        self._bound: dict[tuple[int, str], Origin | int] = {}
        """By scope and name: the origin of the value that was last bound, or its line where it was known."""

    def evaluate(self, node: ast.expr | None) -> Value:
        """Evaluate an expression, and note where its value became unknown if it did."""
        value = super().evaluate(node)
        if node is not None:
            if isinstance(value, Unknown):
                self._origins[id(node)] = self._origin(node)
            else:
                self._origins.pop(id(node), None)
        return value

    def assign(self, target: ast.expr, value: Value) -> None:
        """Bind a target, and note of a name what its value comes from."""
        super().assign(target, value)
        if isinstance(target, ast.Name):
            key = (self.scope.home(target.id).number, target.id)
            self._bound[key] = self._given(target) if isinstance(value, Unknown) else target.lineno

    def emit(self, event: EventT) -> EventT:
        """Add an event, and tell where the arguments of a call became unknown."""
        made = super().emit(event)
        if isinstance(event, Call):
            for argument in event.args:
                if isinstance(argument.value, Unknown) and argument.node is not None:
                    self._tell(argument.node)
        return made

    def tell_branch(self, test: ast.AST, decision: Decision, reason: Reason) -> None:
        """Tell how a branch is decided, and where the value of its test became unknown."""
        super().tell_branch(test, decision, reason)
        if reason is Reason.UNKNOWN and isinstance(test, ast.expr):
            self._tell(test)

    def _tell(self, node: ast.expr) -> None:
        origin = self._found(node)
        if origin is not None:
            self._watcher.unknown(self.source.path, self.span(node), self.text(node), origin)

    def _found(self, node: ast.AST) -> Origin | None:
        """The origin of an expression's value, or of the first part of it that is not known."""
        if id(node) in self._origins:
            return self._origins[id(node)]
        return next((origin for child in expressions(node) if (origin := self._found(child)) is not None), None)

    def _origin(self, node: ast.expr) -> Origin:
        match node:
            case ast.Name():
                return self._origin_of_name(node)
            case ast.Call():
                return self._origin_of_call(node)
            case ast.Attribute():
                return self._found(node.value) or self._made(node, _ATTRIBUTE)
        return next(filter(None, map(self._found, expressions(node))), None) or self._made(node, _NOT_COMPUTED)

    def _origin_of_call(self, node: ast.Call) -> Origin:
        if id(node.func) in self._origins:
            callee = self._origins[id(node.func)]
            return callee if isinstance(node.func, ast.Attribute) else self._made(node, _CALLEE)
        callee_value = self.last_values.get(id(node.func))
        if isinstance(callee_value, Function) and not isinstance(callee_value.node, ast.Lambda):
            for part in ast.walk(callee_value.node):
                if isinstance(part, ast.Return) and part.value is not None and id(part.value) in self._origins:
                    return self._origins[id(part.value)]
        given = (self._found(argument) for argument in expressions(node) if argument is not node.func)
        return next(filter(None, given), None) or self._made(node, _RESULT)

    def _origin_of_name(self, node: ast.Name) -> Origin:
        scope: Scope | None = self.scope
        while scope is not None and node.id not in scope.names and (scope.number, node.id) not in self._bound:
            scope = scope.parent
        bound = self._bound.get((scope.number, node.id)) if scope is not None else None
        if isinstance(bound, Origin):
            return bound
        if bound is not None:
            return self._made(node, _CHANGED.format(bound))
        function = self.frame.node
        if isinstance(function, (ast.FunctionDef, ast.AsyncFunctionDef)) and node.id in _parameters(function):
            call = self.frame.call
            name = f"{function.name}()"
            return self._made(node, _ARGUMENT.format(name) if call is None else _GIVEN.format(name, call.span.row))
        return self._made(node, _NEVER)

    def _given(self, target: ast.Name) -> Origin:
        """The origin of what a statement binds a name to."""
        statement = self.statement
        match statement:
            case ast.Assign() | ast.AnnAssign() | ast.AugAssign() if statement.value is not None:
                source: ast.AST = statement.value
            case ast.For() | ast.AsyncFor():
                source = statement.iter
            case _:
                return self._made(target, _NOT_COMPUTED)
        return self._found(source) or self._made(target, _PART.format(" ".join(self.text(source).split())))

    def _made(self, node: ast.expr, why: str) -> Origin:
        return Origin(self.source.path, self.span(node), self.text(node), why)


def _parameters(function: ast.FunctionDef | ast.AsyncFunctionDef) -> set[str]:
    given = function.args
    named = [*given.posonlyargs, *given.args, *given.kwonlyargs, given.vararg, given.kwarg]
    return {argument.arg for argument in named if argument is not None}
