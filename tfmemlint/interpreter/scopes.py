"""Names and what they are bound to, one scope a function, class body, or module."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from tfmemlint.interpreter.values import UNKNOWN, Value

if TYPE_CHECKING:
    from tfmemlint.interpreter.unit import ModuleInstance


@dataclass(slots=True, eq=False)
class Scope:
    """The names of one function call, class body, or module."""

    parent: Scope | None = None
    names: dict[str, Value] = field(default_factory=dict)
    outer: frozenset[str] = frozenset()
    """Names declared ``global`` or ``nonlocal``."""
    local: frozenset[str] = frozenset()
    """Names that the function binds somewhere: they never mean an outer name."""
    is_class: bool = False
    number: int = 0
    """Tells one scope from another; 0 for that of the module that is run."""
    unit: ModuleInstance | None = None
    """The module whose names these are; only for the scope of a module."""

    def lookup(self, name: str) -> Value | None:
        """The value of ``name`` as Python would find it, or None where no scope binds it."""
        scope: Scope | None = self
        first = True
        while scope is not None:
            if (first or not scope.is_class) and name in scope.names:
                return scope.names[name]
            if name in scope.local and name not in scope.outer and (first or not scope.is_class):
                return UNKNOWN
            scope, first = scope.parent, False
        return None

    def bind(self, name: str, value: Value) -> None:
        """Bind ``name`` where an assignment in this scope would."""
        self.home(name).names[name] = value

    def home(self, name: str) -> Scope:
        """The scope that an assignment to ``name`` in this one binds it in."""
        scope = self
        if name in self.outer:
            while scope.parent is not None and (scope is self or name not in scope.names):
                scope = scope.parent
        return scope

    def owner(self, name: str) -> Scope:
        """The scope whose ``name`` is meant here; that of the module where none has it."""
        scope = self
        while scope.parent is not None and name not in scope.local and name not in scope.names:
            scope = scope.parent
        return scope

    @property
    def module(self) -> Scope:
        """The outermost scope."""
        scope = self
        while scope.parent is not None:
            scope = scope.parent
        return scope
