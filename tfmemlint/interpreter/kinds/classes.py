"""Classes of the program, their objects, and modules of the project."""

from __future__ import annotations

import ast
import os
import re
from collections.abc import Sequence
from dataclasses import replace

from tfmemlint.facts.names import is_tensorflow
from tfmemlint.interpreter.context import Context
from tfmemlint.interpreter.operations.bindings import bind_outer, set_field_of
from tfmemlint.interpreter.operations.classes import class_member, member_after
from tfmemlint.interpreter.operations.dict_objects import OWN_DICTIONARY, held, inherited, put_held, set_attributes
from tfmemlint.interpreter.operations.function_calls import call_function
from tfmemlint.interpreter.operations.making import make_object
from tfmemlint.interpreter.operations.module_names import ask_module_getattr, named_in_module
from tfmemlint.interpreter.operations.objects import bound_to, call_derived, call_special, member, special
from tfmemlint.interpreter.operations.protocols import get_item
from tfmemlint.interpreter.operations.unknown_calls import call_not_followed
from tfmemlint.interpreter.registry import attribute_of, calls, item_of, stores_in
from tfmemlint.interpreter.values import (
    UNKNOWN,
    Class,
    Const,
    Dict,
    FilePath,
    Function,
    Instance,
    Made,
    Module,
    Partial,
    Property,
    Ref,
    Super,
    Value,
)
from tfmemlint.knowledge.functions import SESSIONS


@calls(Class)
def instantiate(
    context: Context, cls: Class, args: Sequence[Value], keywords: dict[str, Value], node: ast.AST
) -> Value:
    """Call a class of the program, which makes an object unless its metaclass does something else."""
    call = special(context, cls, "__call__")
    if call is not None:
        return context.call(call, list(args), keywords, node)
    return make_object(context, cls, args, keywords, node)


@attribute_of(Class)
def attribute_of_class(context: Context, base: Class, name: str, node: ast.AST) -> Value:
    found = class_member(context, base, name)
    match found:
        case Function():
            if Ref("classmethod") in found.decorators:
                return replace(found, bound=base)
            return found
        case Instance():
            return bound_to(context, found, Const(None), base, node)
        case None:
            if name == "__name__":
                return Const(base.node.name)
            if name == "__subclasses__":
                return Partial(Ref("type.__subclasses__"), (base,), {})
            method = special(context, base, name)
            if method is not None:
                return method
            asked = call_special(context, base, "__getattr__", [Const(name)], node)
            return UNKNOWN if asked is None else asked
        case _:
            return found


@attribute_of(Instance)
def attribute_of_object(context: Context, base: Instance, name: str, node: ast.AST) -> Value:
    return member(context, base, name, node)


@item_of(Instance, Class)
def item_of_object(
    context: Context, base: Instance | Class, key: Value, node: ast.expr, written: ast.expr | None = None
) -> Value:
    if context.state is None:
        return UNKNOWN
    result = get_item(context, base, key, node)
    return UNKNOWN if result is None else result


@attribute_of(Super)
def inherited_attribute(context: Context, base: Super, name: str, node: ast.AST) -> Value:
    receiver = base.receiver
    cls = receiver.cls if isinstance(receiver, Instance) else receiver
    if not isinstance(cls, Class):
        return UNKNOWN
    found = member_after(context, cls, base.owner, name)
    if found is None and isinstance(receiver, Class):
        metaclass = receiver.metaclass
        found = member_after(context, metaclass, base.owner, name) if isinstance(metaclass, Class) else None
    match found:
        case Function() if isinstance(receiver, Instance):
            return bound_to(context, found, receiver, cls, node)
        case Function():
            # In a class method, or in a method of a metaclass, where the class is the receiver.
            return found if name == "__new__" else replace(found, bound=receiver)
        case Ref(called) if is_tensorflow(called):
            owner = called.removesuffix(f"().{name}")
            return Ref(owner) if name == "__init__" else found
        case None:
            own = inherited(context, receiver, name)
            return own if own is not None else _of_object(name, receiver)
        case _:
            return bound_to(context, found, receiver, cls, node)


def _of_object(name: str, receiver: Value) -> Value:
    """Return what ``super().name`` is where no base of the program's has it: a method of ``object`` or ``type``."""
    if name == "__new__":
        return Ref("object.__new__")
    if name == "__call__":
        return Partial(Ref("type.__call__"), (receiver,), {}) if isinstance(receiver, Class) else UNKNOWN
    if name in ("__setattr__", "__getattribute__", "__delattr__"):
        return Partial(Ref(f"object.{name}"), (receiver,), {})
    return UNKNOWN


@attribute_of(Property)
def attribute_of_property(context: Context, base: Property, name: str, node: ast.AST) -> Value:
    return Partial(Ref(f"property.{name}"), (base,), {}) if name in ("getter", "setter", "deleter") else UNKNOWN


@attribute_of(Module)
def attribute_of_module(context: Context, base: Module, name: str, node: ast.AST) -> Value:
    found = named_in_module(context, base, name)
    if found is None:
        found = ask_module_getattr(context, base, name, node)
    if found is None and name == "__path__" and (unit := base.scope.unit) is not None:
        place = os.path.abspath(unit.source.path)
        return FilePath(os.path.dirname(place), anchored=True) if place.endswith("__init__.py") else UNKNOWN
    if found is None and name == "__name__" and base.scope.unit is not None:
        return Const(base.scope.unit.name)
    return found if found is not None else UNKNOWN


@calls(Instance)
def call_object(
    context: Context, callee: Instance, args: Sequence[Value], keywords: dict[str, Value], node: ast.AST
) -> Value:
    found = special(context, callee, "__call__") or class_member(context, callee.cls, "__call__")
    if isinstance(found, Function):
        return call_function(context, found, args, keywords, node)
    if isinstance(found, Ref) and is_tensorflow(found.name):
        call_derived(context, callee, found.name.removesuffix(".__call__"), args, keywords, node)
        return call_not_followed(context, args, keywords, node)
    if found is not None and found is not UNKNOWN:
        return context.call(found, args, keywords, node)
    return call_not_followed(context, args, keywords, node)


@stores_in(Instance)
def store_in_object(
    context: Context,
    base: Instance,
    name: str,
    value: Value,
    node: ast.AST,
    owner: ast.expr | None = None,
    given: ast.expr | None = None,
) -> None:
    if call_special(context, base, "__setattr__", [Const(name), value], node) is None:
        plain_store(context, base, name, value, node)


def _is_read(context: Context, name: str) -> bool:
    """Return True if an attribute of this name is read in this module."""
    return re.search(rf"\.{name}\b(?!\s*=[^=])", context.unit.source.text) is not None


def plain_store(context: Context, base: Instance, name: str, value: Value, node: ast.AST) -> None:
    """Set an attribute of an object as ``object.__setattr__`` does."""
    if isinstance(value, Made) and value.name in SESSIONS and _is_read(context, name):
        # The methods that nothing here calls are interpreted each on its own, and what uses the session is one of them.
        context.used.add(value.serial)
    known = class_member(context, base.cls, name)
    match known:
        case Function(setter=setter) if setter is not None:
            context.call(setter, [base, value], {}, node)
        case Property(setter=setter):
            if setter is not None:
                context.call(setter, [base, value], {}, node)
        case Instance() if call_special(context, known, "__set__", [base, value], node) is not None:
            pass
        case _ if name == OWN_DICTIONARY and value is not base:
            set_attributes(context, base, value if isinstance(value, Dict) else held(context, value))
        case _:
            set_field_of(context, base, name, value)
            if context.heap.get((base, OWN_DICTIONARY)) is base and name != OWN_DICTIONARY:
                put_held(context, base, Const(name), value)


@stores_in(Class)
def store_in_class(
    context: Context,
    base: Class,
    name: str,
    value: Value,
    node: ast.AST,
    owner: ast.expr | None = None,
    given: ast.expr | None = None,
) -> None:
    if call_special(context, base, "__setattr__", [Const(name), value], node) is None:
        set_field_of(context, base, name, value)


@stores_in(Module)
def store_in_module(
    context: Context,
    base: Module,
    name: str,
    value: Value,
    node: ast.AST,
    owner: ast.expr | None = None,
    given: ast.expr | None = None,
) -> None:
    bind_outer(context, base.scope, name, value)
