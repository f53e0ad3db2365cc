"""Classes of the program, their objects, and modules of the project."""

from __future__ import annotations

import ast
from collections.abc import Sequence

from tfmemlint.facts.names import is_tensorflow
from tfmemlint.interpreter.context import Context
from tfmemlint.interpreter.operations.bindings import bind_outer, set_field_of
from tfmemlint.interpreter.operations.classes import class_member, has_lists
from tfmemlint.interpreter.operations.contents import mark_escaped
from tfmemlint.interpreter.operations.dataclass_init import make_record, takes_fields, written_init
from tfmemlint.interpreter.operations.function_calls import call_function
from tfmemlint.interpreter.operations.module_names import ask_module_getattr, named_in_module
from tfmemlint.interpreter.operations.named_calls import call_by_name
from tfmemlint.interpreter.operations.objects import call_derived, member
from tfmemlint.interpreter.operations.unknown_calls import call_not_followed
from tfmemlint.interpreter.registry import Invocation, attribute_of, calls, stores_in
from tfmemlint.interpreter.values import UNKNOWN, Class, Function, Instance, Module, Ref, Value


@calls(Class)
def instantiate(
    context: Context, cls: Class, args: Sequence[Value], keywords: dict[str, Value], node: ast.AST
) -> Value:
    """Make an object of a class of the program."""
    instance = Instance(cls)
    context.instances[id(cls.node)] = instance
    init = class_member(context, cls, "__init__")
    record = written_init(cls)
    if record is not None:
        make_record(context, instance, record, args, keywords, node)
    elif isinstance(init, Function):
        bound = Function(init.node, init.scope, init.decorators, instance)
        call_function(context, bound, args, keywords, node)
    elif isinstance(after := class_member(context, cls, "__post_init__"), Function):
        # A dataclass.
        bound = Function(after.node, after.scope, after.decorators, instance)
        call_function(context, bound, [], {}, node)
    elif takes_fields(context, cls, args, keywords, instance):
        pass
    elif isinstance(init, Ref):
        call_by_name(context, Invocation(init.name.removesuffix("().__init__"), node, list(args), keywords, []))
    else:
        for value in (*args, *keywords.values()):
            mark_escaped(context, value)
    return instance


@attribute_of(Class)
def attribute_of_class(context: Context, base: Class, name: str, node: ast.AST) -> Value:
    found = class_member(context, base, name)
    if isinstance(found, Function) and Ref("classmethod") in found.decorators and has_lists(base):
        return Function(found.node, found.scope, found.decorators, base)
    return found if found is not None else UNKNOWN


@attribute_of(Instance)
def attribute_of_object(context: Context, base: Instance, name: str, node: ast.AST) -> Value:
    return member(context, base, name, node)


@attribute_of(Module)
def attribute_of_module(context: Context, base: Module, name: str, node: ast.AST) -> Value:
    found = named_in_module(context, base, name)
    if found is None:
        found = ask_module_getattr(context, base, name, node)
    return found if found is not None else UNKNOWN


@calls(Instance)
def call_object(
    context: Context, callee: Instance, args: Sequence[Value], keywords: dict[str, Value], node: ast.AST
) -> Value:
    found = member(context, callee, "__call__", node)
    if isinstance(found, Function):
        return call_function(context, found, args, keywords, node)
    if isinstance(found, Ref) and is_tensorflow(found.name):
        call_derived(context, callee, found.name.removesuffix(".__call__"), args, keywords, node)
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
    known = class_member(context, base.cls, name)
    if isinstance(known, Function) and known.setter is not None:
        setter = known.setter
        bound = Function(setter.node, setter.scope, setter.decorators, base)
        call_function(context, bound, [value], {}, node)
    else:
        set_field_of(context, base, name, value)


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
