"""The names of the project's own modules."""

from __future__ import annotations

import ast
import functools

from tfmemlint.interpreter.context import Context
from tfmemlint.interpreter.frames import Catching
from tfmemlint.interpreter.operations.paths import doubtful, merge, restore, snapshot
from tfmemlint.interpreter.program import Handler
from tfmemlint.interpreter.state import join_states
from tfmemlint.interpreter.values import UNKNOWN, Const, Function, Module, Value
from tfmemlint.model.patterns import late_pattern

_NAMES_ITSELF = late_pattern(r"\b(?:globals|vars|exec)\(|sys\.modules|__dict__|\bimport \*")
"""Code that may give a module names that nothing in it binds."""


def named_in_module(context: Context, module: Module, name: str) -> Value | None:
    """Return a name that a module of the project binds, or a submodule that has been imported."""
    if module.scope.unit is not None and module.scope.unit is not context.unit:
        context.modules_looked_at.add(module.name)
        if module.scope.unit.running:
            # What it has by now depends on who imported it first.
            context.circular_imports.add(module.name)
    found = module.scope.names.get(name)
    if found is None:
        # Also of a directory without `__init__.py`, which has no code of its own.
        full = f"{module.name}.{name}"
        inner = context.units.get(full)
        # A unit may be there before its import: of the module that `python -m` runs, while its package is imported.
        if inner is not None and (context.state is None or full in context.here.imported):
            context.asked_modules.add(full)
            found = Module(full, inner.scope)
    return found


def is_not_bound_yet(module: Module, name: str) -> bool:
    """True if a module whose import has not ended, as it is in a circle, certainly lacks a name until now."""
    unit = module.scope.unit
    if unit is None or not unit.running or unit.stars or name in module.scope.names:
        return False
    return "__getattr__" not in module.scope.names and not any(map(_NAMES_ITSELF.search, unit.source.lines))


def ask_module_getattr(
    context: Context, module: Module, name: str, node: ast.AST, *, caught: bool = False
) -> Value | None:
    """Return what the ``__getattr__`` of a module (PEP 562) makes of a name that the module lacks.

    None if it has no such function; or if an AttributeError, which is ``caught``, is its answer.
    """
    function, unit = module.scope.names.get("__getattr__"), module.scope.unit
    if not isinstance(function, Function) or unit is None or context.state is None:
        return None
    lines = unit.source.lines
    first, last = getattr(function.node, "lineno", 1) - 1, getattr(function.node, "end_lineno", len(lines))
    vague = bool(unit.stars) or any(_NAMES_ITSELF.search(line) for line in (*lines[:first], *lines[last:]))
    asked = (unit.name, name)
    if asked in context.getattr_asked and any("globals" in line for line in lines[first:last]):
        # What it has found once it may have given that name.
        vague = True
    context.getattr_asked.add(asked)
    before = snapshot(context)
    described = Handler(("AttributeError",), context.span(node), reraises=False, idle=True, silent=True)
    if caught:
        context.handlers.append(Catching((described,), len(context.frames)))
    with doubtful(context, doubt=vague):
        found: Value | None = context.call(function, [Const(name)], {}, node)
    if caught:
        context.handlers.pop()
    refused = context.raised.pop(id(described), [])
    if refused:
        end = snapshot(context)
        restore(context, before, functools.reduce(join_states, refused))
        found = None if end.state is None else UNKNOWN
        merge(context, end)
    if vague:
        merge(context, before)
    return found if not vague or found is None else UNKNOWN
