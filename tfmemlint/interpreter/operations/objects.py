"""Objects of the program's classes: their attributes and methods, and the special methods that syntax calls.

Source: the Python Language Reference, 3.3 (special method names): they are looked up on the class of an object, never
on the object itself; of a class, on its metaclass.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence
from dataclasses import replace

from tfmemlint.interpreter.context import Context
from tfmemlint.interpreter.operations.call_effects import call_result
from tfmemlint.interpreter.operations.classes import class_member, is_all_known, metaclass_of
from tfmemlint.interpreter.operations.dict_objects import ANY_NAME, attribute_held, inherited
from tfmemlint.interpreter.operations.function_calls import call_function
from tfmemlint.interpreter.operations.paths import for_each_option
from tfmemlint.interpreter.values import (
    UNKNOWN,
    Choice,
    Class,
    Const,
    Dict,
    Function,
    Instance,
    OwnDict,
    Partial,
    Property,
    Ref,
    Seq,
    Value,
)

_PROPERTIES = frozenset({"property", "functools.cached_property", "cached_property", "abc.abstractproperty"})
_DATA = (Const, Seq, Dict)
_BOUND = (Function, Partial, Choice)


def member(context: Context, instance: Instance, name: str, node: ast.AST) -> Value:
    """Return an attribute of an object: a field, a method, a property, or an inherited name."""
    if class_member(context, instance.cls, "__getattribute__") is not None:
        asked = call_special(context, instance, "__getattribute__", [Const(name)], node)
        if asked is not None:
            return asked
    return plain_member(context, instance, name, node)


def plain_member(context: Context, instance: Instance, name: str, node: ast.AST, *, ask: bool = True) -> Value:
    """Return an attribute as ``object.__getattribute__`` finds it; or else, with ``ask``, by ``__getattr__``."""
    field = context.heap.get((instance, name))
    if field is not None:
        found = class_member(context, instance.cls, name)
        if not isinstance(found, (Instance, Property)) or not _is_data(context, found):
            return field
        return bound_to(context, found, instance, instance.cls, node)
    found = class_member(context, instance.cls, name)
    if found is not None and isinstance(found, _DATA) and (instance, ANY_NAME) in context.heap:
        return UNKNOWN
    if found is not None:
        return bound_to(context, found, instance, instance.cls, node)
    if name == "__class__":
        return instance.cls
    own = inherited(context, instance, name) or attribute_held(context, instance, name)
    if own is not None:
        return own
    if name == "__dict__":
        complete = instance not in context.incomplete
        context.incomplete.add(instance)
        return OwnDict(instance, complete)
    if ask and _lacks(context, instance):
        asked = call_special(context, instance, "__getattr__", [Const(name)], node)
        if asked is not None:
            return asked
    return UNKNOWN


def _lacks(context: Context, instance: Instance) -> bool:
    """True if an object has no attributes but those that are known."""
    return instance not in context.incomplete and is_all_known(context, instance.cls)


def _is_data(context: Context, descriptor: Value) -> bool:
    """True if a descriptor comes before the object's own attribute."""
    if isinstance(descriptor, Property):
        return True
    return isinstance(descriptor, Instance) and class_member(context, descriptor.cls, "__set__") is not None


def bound_to(context: Context, found: Value, instance: Value, cls: Class, node: ast.AST) -> Value:
    """Return what a name of a class gives for an object of it: a bound method, or what a descriptor makes of it."""
    match found:
        case Function():
            names = {value.name for value in found.decorators if isinstance(value, Ref)}
            if "staticmethod" in names:
                return found
            bound = replace(found, bound=cls if "classmethod" in names else instance)
            return context.call(bound, (), {}, node) if names & _PROPERTIES else bound
        case Property(getter) if getter is not None:
            return context.call(getter, [instance], {}, node)
        case Instance():
            result = call_special(context, found, "__get__", [instance, cls], node)
            return found if result is None else result
        case Choice(options) if any(isinstance(option, (Function, Instance, Property)) for option in options):
            return for_each_option(context, found, lambda option: bound_to(context, option, instance, cls, node))
        case _:
            return found


def special(context: Context, value: Value, name: str) -> Value | None:
    """Return a special method of an object or a class, bound to it; None where its class has none that is known."""
    cls: Value | None
    match value:
        case Instance(cls):
            pass
        case Class():
            cls = metaclass_of(context, value)
        case _:
            return None
    found = class_member(context, cls, name) if isinstance(cls, Class) else None
    match found:
        case Function():
            names = {kind.name for kind in found.decorators if isinstance(kind, Ref)}
            if "staticmethod" in names:
                return found
            return replace(found, bound=cls if "classmethod" in names else value)
        case Partial() | Choice():
            return found
        case Ref(called) if called.startswith("dict."):
            # `__getattr__ = dict.__getitem__` in the body of the class.
            return inherited(context, value, called.removeprefix("dict."))
        case Instance():
            return found
        case _:
            return None


def call_special(context: Context, value: Value, name: str, args: Sequence[Value], node: ast.AST) -> Value | None:
    """Call a special method of a value; return None if its class has none that is known."""
    found = special(context, value, name)
    if found is None:
        return None
    return context.call(found, list(args), {}, node) if context.state is not None else UNKNOWN


def call_first_special(
    context: Context, value: Value, names: Sequence[str], args: Sequence[Value], node: ast.AST
) -> Value | None:
    """Call the first of these special methods that the class of a value has; None if it has none of them."""
    for name in names:
        result = call_special(context, value, name, args, node)
        if result is not None:
            return result
    return None


def call_method_of(context: Context, instance: Instance, name: str, node: ast.AST, args: Sequence[Value] = ()) -> Value:
    """Call a method of an object by its name; return UNKNOWN if its class has none of that name."""
    return call_special(context, instance, name, args, node) or UNKNOWN


def call_derived(
    context: Context, instance: Instance, base: str, args: Sequence[Value], keywords: dict[str, Value], node: ast.AST
) -> None:
    """Call an object of a class that is derived from one of Keras's: a model or a layer of the program's own."""
    if context.state is None:
        return
    for name in ("build", "call"):
        method = class_member(context, instance.cls, name)
        if isinstance(method, Function) and context.state is not None:
            bound = replace(method, bound=instance)
            context.tracing += 1
            call_function(
                context, bound, list(args) if name == "call" else [], keywords if name == "call" else {}, node
            )
            context.tracing -= 1
    if context.state is not None:
        call_result(context, base.removesuffix("()"), node)
