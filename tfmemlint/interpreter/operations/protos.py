"""TF1's messages: making them, and setting their fields."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from typing import Any

from tfmemlint.interpreter.context import Context
from tfmemlint.interpreter.operations.devices import rank_taken
from tfmemlint.interpreter.operations.events import event_fields
from tfmemlint.interpreter.program import Call, LateOption, OptionsCopied, OptionsEmptied, OptionStored
from tfmemlint.interpreter.values import UNKNOWN, Const, Dict, Proto, ProtoRecord, Value

_OPTIONS = "gpu_options."
"""The part of a ``ConfigProto`` with the options of the GPUs."""


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
        _note_copy(context, proto, value)
        for inner, inner_value in list(value.record.fields.items()):
            if inner.startswith(value.prefix):
                place = value.record.spans.get(inner, span)
                _keep(context, record, f"{full}.{inner[len(value.prefix) :]}", inner_value, place)
    elif isinstance(value, Dict):
        for key, inner_value in value.items.items():
            _keep(context, record, f"{full}.{key}", inner_value, span)
    else:
        _keep(context, record, full, value, span)
    _note_late(context, record, f"{_OPTIONS}{full}" if proto.name.endswith("GPUOptions") else full, value)


def _note_copy(context: Context, proto: Proto, value: Proto) -> None:
    """Note that a message has a copy of others' options: what is set on these later is not in it."""
    if value.prefix or not value.name.endswith("GPUOptions") or context.state is None or context.statement is None:
        return
    value.record.late.clear()
    value.record.taken = OptionsCopied(name=proto.name, **event_fields(context, context.statement))


def _keep(context: Context, record: ProtoRecord, name: str, value: Value, span: Any) -> None:
    """Note the value of one field: what a call has emptied before is not lost any more."""
    record.fields[name] = value
    record.spans[name] = span
    if context.state is not None and context.statement is not None:
        record.setters[name] = event_fields(context, context.statement)
    for lost in record.lost:
        lost.fields.pop(name, None)


def copy_whole(context: Context, record: ProtoRecord, other: ProtoRecord) -> None:
    """Copy all fields of one message into another."""
    other.consumed = True
    for name, value in list(other.fields.items()):
        _keep(context, record, name, value, other.spans.get(name))


def empty_proto(context: Context, proto: Proto, node: ast.AST, method: str, source: Proto | None, field: str) -> None:
    """Forget the fields of a message that a call replaces, or clears, where they are set in every run that gets here.

    ``source``: the message whose fields take their place. ``field``: the one field that is cleared, or "".
    """
    record, prefix = proto.record, proto.prefix + field
    if context.state is None or (source is not None and source.record is record):
        return
    around = event_fields(context, node)
    given = {} if source is None else source.record.fields
    lost: dict[str, Value] = {}
    overlaps = False
    for name, value in list(record.fields.items()):
        inside = name == prefix or name.startswith(f"{prefix}." if field else prefix)
        setter = record.setters.get(name)
        if not inside or setter is None or not _comes_with(around, setter):
            continue
        del record.fields[name]
        record.spans.pop(name, None)
        if source is None or source.prefix + name[len(prefix) :] not in given:
            lost[name] = value
        else:
            overlaps = True
    if not lost or record.taken is not None or record.consumed:
        return
    taken = {name: value for name, value in given.items() if source is not None and name.startswith(source.prefix)}
    func = node.func if isinstance(node, ast.Call) else node
    record.lost.append(
        OptionsEmptied(
            method=method,
            fields=lost,
            setters={name: record.setters[name] for name in lost},
            before="gpu_options." if proto.name.endswith("GPUOptions") else "",
            replaced=source is not None,
            given=frozenset(taken),
            merges=all(isinstance(value, Const) and bool(value.value) for value in taken.values()) or not overlaps,
            whole=not prefix and not proto.name.endswith("GPUOptions"),
            text=context.text(func.value) if isinstance(func, ast.Attribute) else "",
            **around,
        )
    )


def _comes_with(call: Mapping[str, Any], setter: Mapping[str, Any]) -> bool:
    """True if a call comes in every run in which the setter does."""
    return set(call["guards"]) <= set(setter["guards"]) and set(call["ways"]) <= set(setter["ways"])


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
    if record.taken is None or not name.startswith(_OPTIONS) or context.loops or context.state is None:
        return
    if statement is not None:
        around = event_fields(context, statement)
        record.late.append(LateOption(field=name, value=value, session=record.taken, **around))
