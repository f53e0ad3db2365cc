"""The events in the files of TensorFlow's profiler, which are protocol buffers (``XSpace``).

TensorFlow's own class for them is in another module in each release (``tensorflow.tsl.profiler.protobuf``,
``tensorflow.core.profiler.protobuf``, ...), so the message is described here, for the protobuf runtime that TensorFlow
brings. Source: ``xplane.proto`` of TensorFlow 2.21 (``tsl/profiler/protobuf/xplane.proto``, of which the wheel has the
descriptor): the names, numbers and types below are its own. Maps are what they are on the wire, repeated entries of a
key and a value; texts are bytes, since a program may give them in any encoding. Fields that are not named here are
skipped.
"""

from __future__ import annotations

import importlib
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

_FIELDS: dict[str, dict[str, tuple[int, str]]] = {
    "XSpace": {"planes": (1, "XPlane*")},
    "XPlane": {"lines": (3, "XLine*"), "event_metadata": (4, "EventEntry*"), "stat_metadata": (5, "StatEntry*")},
    "EventEntry": {"key": (1, "int64"), "value": (2, "XEventMetadata")},
    "StatEntry": {"key": (1, "int64"), "value": (2, "XStatMetadata")},
    "XEventMetadata": {"name": (2, "bytes")},
    "XStatMetadata": {"name": (2, "bytes")},
    "XLine": {"timestamp_ns": (3, "int64"), "events": (4, "XEvent*")},
    "XEvent": {"metadata_id": (1, "int64"), "offset_ps": (2, "int64"), "stats": (4, "XStat*")},
    "XStat": {
        "metadata_id": (1, "int64"),
        "double_value": (2, "double"),
        "uint64_value": (3, "uint64"),
        "int64_value": (4, "int64"),
        "str_value": (5, "bytes"),
        "bytes_value": (6, "bytes"),
        "ref_value": (7, "uint64"),
    },
}
"""The fields of each message: number and type; a star for a list."""


@dataclass(slots=True)
class Event:
    """Something that happened at one moment, in picoseconds from the start of the epoch or of the session."""

    name: str
    time_ps: int
    values: dict[str, Any]


def events(data: bytes, names: Collection[str]) -> Iterator[Event]:
    """Yield the events of certain names, thread by thread.

    Raises:
        ValueError: the file is truncated, or is not a file of the profiler.
    """
    for plane in _parsed(data).planes:
        kinds = {entry.key: _text(entry.value.name) for entry in plane.event_metadata}
        wanted = {key: name for key, name in kinds.items() if name in names}
        if not wanted:
            continue
        titles = {entry.key: _text(entry.value.name) for entry in plane.stat_metadata}
        for line in plane.lines:
            for event in line.events:
                name = wanted.get(event.metadata_id)
                if name is not None:
                    values = {titles.get(stat.metadata_id, ""): _value(stat, titles) for stat in event.stats}
                    yield Event(name, line.timestamp_ns * 1000 + event.offset_ps, values)


def _value(stat: Any, titles: dict[int, str]) -> Any:
    for field, value in stat.ListFields():
        if field.name == "ref_value":
            return titles.get(value, "")
        if field.name != "metadata_id":
            return _text(value) if isinstance(value, bytes) else value
    return None


def _text(value: bytes) -> str:
    return value.decode("utf-8", "replace")


def _parsed(data: bytes) -> Any:
    decode_error = importlib.import_module("google.protobuf.message").DecodeError
    space = _space_class()()
    try:
        space.ParseFromString(data)
    except decode_error as error:
        raise ValueError(f"the profiler's file is truncated or broken: {error}") from None
    return space


@lru_cache(maxsize=1)
def _space_class() -> Any:
    """Return the class of ``XSpace``, made at run time."""
    # It has no types of its own, and the processes that have no TensorFlow do without it.
    described_by, pools, factory = (
        importlib.import_module(f"google.protobuf.{name}")
        for name in ("descriptor_pb2", "descriptor_pool", "message_factory")
    )
    field_type: Any = described_by.FieldDescriptorProto
    file: Any = described_by.FileDescriptorProto(name="tfmemlint/xspace.proto", package="tfmemlint", syntax="proto2")
    for message, fields in _FIELDS.items():
        described = file.message_type.add(name=message)
        for name, (number, kind) in fields.items():
            label = field_type.LABEL_REPEATED if kind.endswith("*") else field_type.LABEL_OPTIONAL
            field = described.field.add(name=name, number=number, label=label)
            kind = kind.rstrip("*")
            if kind in _FIELDS:
                field.type, field.type_name = field_type.TYPE_MESSAGE, f".tfmemlint.{kind}"
            else:
                field.type = getattr(field_type, f"TYPE_{kind.upper()}")
    pool = pools.DescriptorPool()
    pool.Add(file)
    found = pool.FindMessageTypeByName("tfmemlint.XSpace")
    if hasattr(factory, "GetMessageClass"):
        return factory.GetMessageClass(found)
    return factory.MessageFactory(pool).GetPrototype(found)  # releases before 4.22
