"""Attributes that are got and set by names in strings: ``getattr``, ``setattr``, ``vars`` and the like."""

from __future__ import annotations

import ast
import functools

from tfmemlint.facts.names import is_tensorflow
from tfmemlint.facts.syntax import does_nothing
from tfmemlint.interpreter.context import Context
from tfmemlint.interpreter.frames import Catching
from tfmemlint.interpreter.operations.bindings import set_field_of
from tfmemlint.interpreter.operations.call_effects import tensorflow_has
from tfmemlint.interpreter.operations.classes import class_member
from tfmemlint.interpreter.operations.contents import mark_escaped
from tfmemlint.interpreter.operations.dict_objects import set_attributes
from tfmemlint.interpreter.operations.events import event_fields, report_use
from tfmemlint.interpreter.operations.members import is_missing
from tfmemlint.interpreter.operations.module_names import ask_module_getattr, is_not_bound_yet, named_in_module
from tfmemlint.interpreter.operations.paths import merge, restore, snapshot
from tfmemlint.interpreter.program import Arg, Handler, NameAsked
from tfmemlint.interpreter.registry import Invocation, builtin
from tfmemlint.interpreter.scopes import Scope
from tfmemlint.interpreter.state import join_states
from tfmemlint.interpreter.values import (
    UNKNOWN,
    Class,
    Const,
    Fields,
    Function,
    Instance,
    Module,
    Partial,
    Ref,
    Seq,
    Value,
    join,
)

_GETTER = "operator.attrgetter()"
"""The name of the result of ``operator.attrgetter``, which is called with the paths and then the object."""
_NAMESPACE = ast.ClassDef("SimpleNamespace", bases=[], keywords=[], body=[], decorator_list=[])


def _walked(context: Context, owner: Value, path: Value, node: ast.AST) -> Value:
    """Return the value that the dotted ``path`` leads to from ``owner``."""
    if not isinstance(path, Const) or not isinstance(path.value, str):
        return UNKNOWN
    value = owner
    for part in path.value.split("."):
        value = context.attribute(value, part, node)
    if isinstance(value, Ref) and is_tensorflow(value.name):
        report_use(context, node, value.name, origin="getattr")
    return value


def _attribute_by_name(context: Context, name: str, node: ast.AST, values: list[Value], written: list[Arg]) -> Value:
    """Interpret ``getattr`` or ``hasattr`` with a literal name."""
    owner, key = values[0], values[1]
    if not (isinstance(key, Const) and isinstance(key.value, str)):
        return UNKNOWN
    if isinstance(owner, Module):
        return _attribute_of_own_module(context, name, owner, key.value, node, values)
    if isinstance(owner, (Instance, Class)):
        return _attribute_of_object(context, name, owner, key.value, node, values)
    if (name == "hasattr" or len(values) > 2) and is_missing(context, owner, key.value):
        return Const(False) if name == "hasattr" else values[2]
    if not isinstance(owner, Ref) or not is_tensorflow(owner.name):
        return context.attribute(owner, key.value, node) if name == "getattr" and len(values) == 2 else UNKNOWN
    known = tensorflow_has(context, owner.name, key.value)
    if known is False and context.state is not None and (name == "hasattr" or len(values) > 2):
        asked, text = f"{owner.name}.{key.value}", context.text(node)
        replaced = name == "getattr" and not _is_nothing(values[2])
        context.emit(NameAsked(name=asked, how=name, text=text, replaced=replaced, **event_fields(context, node)))
    if name == "hasattr":
        return UNKNOWN if known is None else Const(known)
    if len(values) > 2:
        if known is None:
            return UNKNOWN
        return Ref(f"{owner.name}.{key.value}") if known else values[2]
    report_use(context, node, f"{owner.name}.{key.value}", origin="getattr")
    return Ref(f"{owner.name}.{key.value}")


def _is_nothing(value: Value) -> bool:
    """True for a default that is false, and for a function that does nothing."""
    if isinstance(value, Function):
        return does_nothing(value.node)
    return isinstance(value, Const) and not value.value


def _attribute_of_object(
    context: Context, name: str, owner: Instance | Class, key: str, node: ast.AST, values: list[Value]
) -> Value:
    """Interpret ``getattr`` or ``hasattr`` of an object, which a default or the test keeps from raising."""
    if name == "getattr" and len(values) == 2:
        return context.attribute(owner, key, node)
    cls = owner.cls if isinstance(owner, Instance) else owner
    certain = (owner, key) in context.heap or class_member(context, cls, key) is not None
    before = snapshot(context)
    described = Handler(("AttributeError",), context.span(node), reraises=False, idle=True, silent=True)
    context.handlers.append(Catching((described,), len(context.frames)))
    found = context.attribute(owner, key, node)
    context.handlers.pop()
    refused = context.raised.pop(id(described), [])
    if refused:
        end = snapshot(context)
        restore(context, before, functools.reduce(join_states, refused))
        merge(context, end)
    if name == "hasattr":
        return UNKNOWN
    return found if certain and not refused else join(found, values[2])


def _attribute_of_own_module(
    context: Context, name: str, module: Module, key: str, node: ast.AST, values: list[Value]
) -> Value:
    """Interpret ``getattr`` or ``hasattr`` of a module of the project."""
    found = named_in_module(context, module, key)
    if found is None:
        found = ask_module_getattr(context, module, key, node, caught=name == "hasattr" or len(values) > 2)
    if found is None and is_not_bound_yet(module, key):
        if name == "hasattr":
            return Const(False)
        if len(values) > 2:
            return values[2]
    return UNKNOWN if found is None or name == "hasattr" else found


@builtin("getattr", "hasattr")
def getattr_or_hasattr(context: Context, call: Invocation) -> Value | None:
    if len(call.values) < 2:
        return None
    return _attribute_by_name(context, call.name, call.node, call.values, call.written)


@builtin("setattr")
def setattr_(context: Context, call: Invocation) -> Value | None:
    match call.values:
        case [owner, Const(str(name)), value]:
            node = call.node
            written = node.args if isinstance(node, ast.Call) and len(node.args) == 3 else []
            context.set_attribute(owner, name, value, node, *(written[::2] or (None, None)))
            return Const(None)
        case [Instance() as owner, *_]:
            # Any of its names.
            set_attributes(context, owner, None)
            return None
        case _:
            return None


@builtin("vars")
def vars_(context: Context, call: Invocation) -> Value | None:
    match call.values:
        case [Ref(owner)]:
            return Ref(f"{owner}.__dict__")
        case [Fields() as fields]:
            return fields
        case [Instance() as owner]:
            # What it has may go on under any name.
            mark_escaped(context, owner)
            return context.attribute(owner, "__dict__", call.node)
        case _:
            return None


@builtin("operator.attrgetter")
def attrgetter(context: Context, call: Invocation) -> Value | None:
    return Partial(Ref(_GETTER), tuple(call.values), {}) if call.values else None


@builtin(_GETTER)
def got_by_attrgetter(context: Context, call: Invocation) -> Value | None:
    if not call.values:
        return None
    *paths, owner = call.values
    found = [_walked(context, owner, path, call.node) for path in paths]
    return found[0] if len(found) == 1 else Seq(tuple(found), "tuple")


@builtin("types.SimpleNamespace", "argparse.Namespace")
def namespace(context: Context, call: Invocation) -> Value | None:
    if call.values:
        return None
    made = Instance(Class(_NAMESPACE, Scope()))
    for name, value in call.keywords.items():
        set_field_of(context, made, name, value)
    return made
