"""Names and what they are bound to, one scope a function, class body, or module."""

from __future__ import annotations

from dataclasses import dataclass, field

from tfmemlint.flow.values import UNKNOWN, Value


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
    """Tells one call's scope from another's; 0 for the module."""

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
        scope = self
        if name in self.outer:
            while scope.parent is not None and (scope is self or name not in scope.names):
                scope = scope.parent
        scope.names[name] = value

    @property
    def module(self) -> Scope:
        """The outermost scope."""
        scope = self
        while scope.parent is not None:
            scope = scope.parent
        return scope
