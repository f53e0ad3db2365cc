"""TF1's messages: making them, and setting their fields."""

from __future__ import annotations

import ast
from typing import Any

from tfmemlint.interpreter.context import Context
from tfmemlint.interpreter.operations.devices import rank_taken
from tfmemlint.interpreter.operations.events import event_fields
from tfmemlint.interpreter.program import Call, LateOption, OptionStored
from tfmemlint.interpreter.values import UNKNOWN, Const, Dict, Proto, ProtoRecord, Value


def new_proto(context: Context, name: str, keywords: dict[str, Value], call: Call) -> Proto:
    record = ProtoRecord()
    proto = Proto(name, record)
    context.protos.append((proto, call))
    for argument in call.args:
        if argument.keyword is not None:
            set_proto_field(context, proto, argument.keyword, argument.value, argument.span)
        elif isinstance(argument.value, Proto):
            argument.value.record.consumed = True  # it raises, whatever was meant
    for keyword, value in keywords.items():
        if keyword not in {argument.keyword for argument in call.args}:
            set_proto_field(context, proto, keyword, value, call.span)
    return proto


def set_proto_field(context: Context, proto: Proto, name: str, value: Value, span: Any) -> None:
    """Set a field of a message; a message set as a field brings its own fields along."""
    full = proto.prefix + name
    record = proto.record
    if name == "visible_device_list" and context.statement is not None:
        value = rank_taken(context, value, "list", context.statement, span)
    if isinstance(value, Proto):
        value.record.consumed = True
        for inner, inner_value in list(value.record.fields.items()):
            if inner.startswith(value.prefix):
                record.fields[f"{full}.{inner[len(value.prefix) :]}"] = inner_value
                record.spans[f"{full}.{inner[len(value.prefix) :]}"] = value.record.spans.get(inner, span)
    elif isinstance(value, Dict):
        for key, inner_value in value.items.items():
            record.fields[f"{full}.{key}"] = inner_value
            record.spans[f"{full}.{key}"] = span
    else:
        record.fields[full] = value
        record.spans[full] = span
    _note_late(context, record, full, value)


def report_stored(context: Context, name: str, value: Value, node: ast.AST, given: ast.expr | None) -> None:
    """Report that a field of a message is assigned to."""
    if context.state is None:
        return
    whole = context.statement if isinstance(context.statement, ast.Assign) else node
    context.emit(
        OptionStored(
            field=name,
            value=value,
            text=context.text(node),
            target=context.span(node),
            given=context.span(given) if given is not None and isinstance(node, ast.Attribute) else None,
            given_text=context.text(given) if given is not None else "",
            **event_fields(context, whole),
        )
    )


def set_proto_item(context: Context, proto: Proto, key: Value, value: Value, span: Any) -> None:
    """Set an item of a field that is a mapping (``device_count["GPU"]``) or a list.

    Without a known key, only that the field is set is known.
    """
    if isinstance(key, Const) and isinstance(key.value, str):
        set_proto_field(context, proto, key.value, value, span)
    elif proto.prefix:
        proto.record.fields[proto.prefix[:-1]] = UNKNOWN


def _note_late(context: Context, record: ProtoRecord, name: str, value: Value) -> None:
    """Note a GPU option that a session which has taken the message before does not get."""
    statement = context.statement
    if record.taken is None or not name.startswith("gpu_options.") or context.loops or context.state is None:
        return
    if statement is not None:
        around = event_fields(context, statement)
        record.late.append(LateOption(field=name, value=value, session=record.taken, **around))
