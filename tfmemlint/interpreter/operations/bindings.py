"""Bindings: names, and the attributes of objects and classes."""

from __future__ import annotations

from tfmemlint.interpreter.context import Context
from tfmemlint.interpreter.limits import MAX_CONTAINER_CHANGES
from tfmemlint.interpreter.operations.events import statement_span
from tfmemlint.interpreter.operations.paths import lose
from tfmemlint.interpreter.scopes import Scope
from tfmemlint.interpreter.values import UNKNOWN, Class, Dict, Instance, Seq, Value, is_called


def set_field_of(context: Context, holder: Instance | Class, name: str, value: Value) -> None:
    """Give an object, or a class, an attribute."""
    if isinstance(value, (Seq, Dict)) and value.cell is not None and value.cell.watched:
        context.containers_of.setdefault(id(holder), []).append(value)
        context.fields_given.append((holder, name, value))
    if isinstance(holder, Class) and is_called(value):
        context.code_rebindings += 1
    context.heap = {**context.heap, (holder, name): value}


def bind_outer(context: Context, home: Scope, name: str, value: Value) -> None:
    """Bind a name of another scope; its value is UNKNOWN if an enclosing branch won't restore it."""
    if home.unit is not None and home.unit is not context.unit:
        context.bound_in_other_module = True
    if isinstance(value, (Seq, Dict)):
        note_put(context)
    context.outer_bindings.append((home, name, value, home.names.get(name)))
    covered = all(home is scope or home is module for scope, module in context.doubts)
    if not covered:
        lose(value, context.used)
    home.names[name] = value if covered else UNKNOWN


def note_put(context: Context) -> None:
    """Record that code is put into a container here, or taken out of it."""
    if context.statement is not None and len(context.container_changes) < MAX_CONTAINER_CHANGES:
        calls = (frame.call.span for frame in context.frames if frame.call is not None)
        chain = (statement_span(context, context.statement), *calls)
        context.container_changes[chain] = None


def bind(context: Context, name: str, value: Value) -> None:
    """Bind a name where an assignment here binds it."""
    home = context.scope.home(name)
    if home.unit is not None and name in home.names and is_called(value):
        context.code_rebindings += 1
    key = (home.number, name)
    context.rebindings[key] = context.rebindings.get(key, 0) + 1
    if home is context.scope:
        home.names[name] = value
    else:
        bind_outer(context, home, name, value)
