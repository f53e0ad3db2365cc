"""Members of TensorFlow's objects: what an object of a known type does not have is reported."""

from __future__ import annotations

import ast

from tfmemlint.interpreter.context import Context
from tfmemlint.interpreter.operations.events import event_fields
from tfmemlint.interpreter.program import MissingMember, Store
from tfmemlint.interpreter.values import Device, Devices, Limit, Made, Proto, Ref, Value
from tfmemlint.knowledge import types

_KINDS = {"physical": types.PHYSICAL, "logical": types.LOGICAL, "local": types.ATTRIBUTES}


def type_of(value: Value) -> str:
    """Return the type of a value as `tfmemlint.knowledge.types` has it; "" if it isn't certain."""
    match value:
        case Device(kind):
            return _KINDS[kind]
        case Devices():
            return "list"
        case Limit():
            return types.CONFIGURATION
        case Made(name):
            return types.type_of_result(name)
        case Ref(name) if name.endswith("().extended"):
            return types.type_of_result(name)
        case Proto():
            return _type_of_proto(value)
        case _:
            return ""


def _type_of_proto(proto: Proto) -> str:
    """Return the type of a message, or of the part of one that ``proto`` is."""
    parts = proto.prefix.split(".")[:-1]
    root = proto.name.removesuffix("".join(f".{part}" for part in parts))
    type_ = types.type_of_message(root)
    for part in parts:
        field = types.field_of(type_, part)
        if field is None or field.repeated:
            return ""
        type_ = field.message
    return type_


def is_missing(context: Context, value: Value, name: str) -> bool:
    """True if a value has no such attribute for sure."""
    type_ = type_of(value)
    return bool(type_) and types.lacks(type_, name, context.target) and not _is_given(context, value, name)


def _is_given(context: Context, value: Value, name: str) -> bool:
    """True if the program may give the object that attribute itself."""
    if isinstance(value, (Device, Devices)):
        return any(isinstance(event, Store) and event.attribute == name for event in context.events)
    return name in context.attributes_set and not isinstance(value, Proto)


def report_missing(
    context: Context, base: Value, name: str, node: ast.AST, *, called: bool = False, stored: bool = False
) -> bool:
    """Report an attribute that ``base`` does not have; return whether there was something to report.

    ``count`` and ``index`` of a device are methods of a tuple: as numbers they are reported, too.
    """
    if context.state is None or not isinstance(node, ast.Attribute):
        return False
    type_ = type_of(base)
    if not type_:
        return False
    method = not called and not stored and types.is_method_of_tuple(type_, name)
    if not method and (not types.lacks(type_, name, context.target) or _is_given(context, base, name)):
        return False
    _emit(context, base, name, node, type_, method=method, called=called, stored=stored)
    return True


def report_key(context: Context, base: Value, key: str, node: ast.Subscript) -> None:
    """Report a key that is looked up in a device, which is a tuple."""
    if context.state is not None:
        _emit(context, base, key, node, type_of(base), key=True)


def _emit(
    context: Context,
    base: Value,
    name: str,
    node: ast.Attribute | ast.Subscript,
    type_: str,
    *,
    method: bool = False,
    called: bool = False,
    stored: bool = False,
    key: bool = False,
) -> None:
    context.emit(
        MissingMember(
            of=type_,
            member=name,
            text=context.text(node),
            base=base,
            base_span=context.span(node.value),
            base_text=context.text(node.value),
            method=method,
            called=called,
            stored=stored,
            key=key,
            **event_fields(context, node),
        )
    )
