"""Built-in functions about classes: ``super``, ``type``, ``property``, and the methods of ``object`` and ``type``."""

from __future__ import annotations

import ast

from tfmemlint.interpreter.context import Context
from tfmemlint.interpreter.operations.bindings import set_field_of
from tfmemlint.interpreter.operations.making import complete_class, make_object
from tfmemlint.interpreter.operations.objects import plain_member
from tfmemlint.interpreter.registry import Invocation, builtin
from tfmemlint.interpreter.values import (
    UNKNOWN,
    Class,
    Const,
    Dict,
    Function,
    Instance,
    Property,
    Ref,
    Scope,
    Seq,
    Super,
    Value,
)


@builtin("super")
def super_(context: Context, call: Invocation) -> Value | None:
    match call.values:
        case [Class() as owner, receiver]:
            return Super(owner, receiver)
        case []:
            for frame in reversed(context.frames):
                if isinstance(frame.cls, Class) and isinstance(frame.receiver, (Instance, Class)):
                    return Super(frame.cls, frame.receiver)
    return None


@builtin("type")
def type_(context: Context, call: Invocation) -> Value | None:
    match call.values:
        case [Instance(cls)]:
            return cls
        case [Const(bool() | int() | float() | str() as value)]:
            return Ref(type(value).__name__)
        case [Const(str(name)), Seq(bases), Dict(members)]:
            node = ast.ClassDef(name, bases=[], keywords=[], body=[], decorator_list=[])
            made = Class(
                node,
                Scope(context.module),
                bases,
                {key: value for key, value in members.items() if isinstance(key, str)},
            )
            complete_class(context, made, call.keywords, call.node)
            return made
        case _:
            return None


@builtin("object.__new__")
def new_object(context: Context, call: Invocation) -> Value | None:
    match call.values:
        case [Class() as cls, Const(), *_] if context.being_made:
            made = context.being_made.pop()
            complete_class(context, made, call.keywords, call.node)
            return made
        case [Class() as cls, *_]:
            return Instance(cls)
        case _:
            return None


@builtin("type.__new__")
def new_class(context: Context, call: Invocation) -> Value | None:
    return new_object(context, call)


@builtin("type.__call__")
def call_class(context: Context, call: Invocation) -> Value | None:
    match call.values:
        case [Class() as cls, *rest]:
            return make_object(context, cls, rest, call.keywords, call.node)
        case _:
            return None


@builtin("type.__subclasses__")
def subclasses(context: Context, call: Invocation) -> Value | None:
    found = [cls for cls, _ in context.lineages.values() if call.values[0] in cls.bases]
    return Seq(tuple(found), "view")


@builtin("object.__setattr__")
def set_plainly(context: Context, call: Invocation) -> Value | None:
    match call.values:
        case [Instance() as owner, Const(str(name)), value]:
            set_field_of(context, owner, name, value)
            return Const(None)
        case [Instance() as owner, *_]:
            context.incomplete.add(owner)
            return Const(None)
        case _:
            return None


@builtin("object.__getattribute__")
def get_plainly(context: Context, call: Invocation) -> Value | None:
    match call.values:
        case [Instance() as owner, Const(str(name))]:
            return plain_member(context, owner, name, call.node, ask=False)
        case _:
            return None


@builtin("property", "functools.cached_property")
def property_(context: Context, call: Invocation) -> Value | None:
    getter, setter, deleter = (call.argument(place, name) for place, name in enumerate(("fget", "fset", "fdel")))
    return Property(getter, setter, deleter)


@builtin("property.*")
def property_with(context: Context, call: Invocation) -> Value | None:
    match call.values:
        case [Property(getter, setter, deleter), Function() as function]:
            kind = call.name.rpartition(".")[2]
            return Property(
                function if kind == "getter" else getter,
                function if kind == "setter" else setter,
                function if kind == "deleter" else deleter,
            )
        case _:
            return UNKNOWN
