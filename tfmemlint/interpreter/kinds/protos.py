"""TF1's messages (``ConfigProto``, ``GPUOptions``, ...): their fields and methods."""

from __future__ import annotations

import ast

from tfmemlint.interpreter.context import Context
from tfmemlint.interpreter.operations.members import report_missing
from tfmemlint.interpreter.operations.methods import MethodCall
from tfmemlint.interpreter.operations.protos import copy_whole, empty_proto, report_stored, set_proto_field
from tfmemlint.interpreter.registry import attribute_of, method, stores_in
from tfmemlint.interpreter.values import UNKNOWN, Const, Proto, Value
from tfmemlint.knowledge.option_types import NOT_ASSIGNED


@attribute_of(Proto)
def field_of_proto(context: Context, base: Proto, name: str, node: ast.AST) -> Value:
    full = base.prefix + name
    found = base.record.fields.get(full)
    if found is None:
        report_missing(context, base, name, node)
    return Proto(f"{base.name}.{name}", base.record, full + ".") if found is None else found


@stores_in(Proto)
def store_in_proto(
    context: Context,
    base: Proto,
    name: str,
    value: Value,
    node: ast.AST,
    owner: ast.expr | None = None,
    given: ast.expr | None = None,
) -> None:
    report_missing(context, base, name, node, stored=True)
    report_stored(context, name, value, node, given)
    if name in NOT_ASSIGNED:
        # It raises, and nothing is set.
        if isinstance(value, Proto):
            value.record.consumed = True
        return
    # What sets it by `setattr` may set any other field, too: no place that a fix may take away.
    set_proto_field(context, base, name, value, context.span(node) if isinstance(node, ast.Attribute) else None)


@method(Proto, "CopyFrom", "MergeFrom")
def copy_fields(context: Context, base: Proto, call: MethodCall) -> Value:
    values, _ = call.drained_arguments(context)
    if values and isinstance(values[0], Proto):
        source = values[0]
        if call.name == "CopyFrom":
            empty_proto(context, base, call.node, call.name, source, "")
        prefix = base.prefix[:-1]
        if prefix:
            set_proto_field(context, Proto(base.name, base.record, ""), prefix, source, None)
        else:
            copy_whole(context, base.record, source.record)
    return UNKNOWN


@method(Proto, "Clear", "ClearField")
def clear_fields(context: Context, base: Proto, call: MethodCall) -> Value:
    values, _ = call.drained_arguments(context)
    given = values[0] if values else Const("")
    if isinstance(given, Const) and isinstance(given.value, str) and (call.name == "Clear") == (not given.value):
        empty_proto(context, base, call.node, call.name, None, given.value)
    return UNKNOWN


@method(Proto, "add", "append", "extend")
def add_to_repeated_field(context: Context, base: Proto, call: MethodCall) -> Value:
    call.drained_arguments(context)
    if base.prefix:
        # That the repeated field is set is all there is to know.
        base.record.fields.setdefault(base.prefix[:-1], UNKNOWN)
    return UNKNOWN


@method(Proto, "SerializeToString", "SerializePartialToString")
def serialize(context: Context, base: Proto, call: MethodCall) -> Value:
    call.drained_arguments(context)
    base.record.consumed = True
    return UNKNOWN


@method(Proto)
def read_proto(context: Context, base: Proto, call: MethodCall) -> Value:
    call.drained_arguments(context)
    return UNKNOWN
