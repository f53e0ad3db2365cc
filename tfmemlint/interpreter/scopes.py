"""Names and what they are bound to. `Scope` is defined with the values, as functions close over scopes."""

from __future__ import annotations

from tfmemlint.interpreter.values import Scope

__all__ = ["Scope"]
