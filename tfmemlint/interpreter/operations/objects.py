"""Objects of the program's classes: their attributes and methods."""

from __future__ import annotations

import ast
from collections.abc import Sequence

from tfmemlint.interpreter.context import Context
from tfmemlint.interpreter.operations.classes import class_member
from tfmemlint.interpreter.operations.effects import call_result
from tfmemlint.interpreter.operations.function_calls import call_function
from tfmemlint.interpreter.values import UNKNOWN, Function, Instance, Ref, Value


def member(context: Context, instance: Instance, name: str, node: ast.AST) -> Value:
    """Return an attribute of an object: a field, a method, a property, or an inherited name."""
    field = context.heap.get((instance, name))
    if field is not None:
        return field
    found = class_member(context, instance.cls, name)
    if isinstance(found, Function):
        names = {value.name for value in found.decorators if isinstance(value, Ref)}
        if "staticmethod" in names:
            return found
        receiver: Value = instance.cls if "classmethod" in names else instance
        bound = Function(found.node, found.scope, found.decorators, receiver)
        if names & {"property", "functools.cached_property", "cached_property"}:
            return context.call(bound, (), {}, node)
        return bound
    return found if found is not None else UNKNOWN


def call_method_of(context: Context, instance: Instance, name: str, node: ast.AST, args: Sequence[Value] = ()) -> Value:
    """Call a method of an object by its name; return UNKNOWN if its class has none of that name."""
    method = class_member(context, instance.cls, name) if context.state is not None else None
    if not isinstance(method, Function):
        return UNKNOWN
    return call_function(context, Function(method.node, method.scope, method.decorators, instance), args, {}, node)


def call_derived(
    context: Context, instance: Instance, base: str, args: Sequence[Value], keywords: dict[str, Value], node: ast.AST
) -> None:
    """Call an object of a class that is derived from one of Keras's: a model or a layer of the program's own."""
    if context.state is None:
        return
    for name in ("build", "call"):
        method = class_member(context, instance.cls, name)
        if isinstance(method, Function) and context.state is not None:
            bound = Function(method.node, method.scope, method.decorators, instance)
            context.tracing += 1
            call_function(
                context, bound, list(args) if name == "call" else [], keywords if name == "call" else {}, node
            )
            context.tracing -= 1
    if context.state is not None:
        call_result(context, base.removesuffix("()"), node)
