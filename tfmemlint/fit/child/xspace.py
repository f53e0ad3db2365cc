"""Reads the profiler's files as far as needed: TensorFlow's own class for them is in another place in every release.

The format is a protocol buffer, ``XSpace`` in TensorFlow's ``xplane.proto``; the numbers below are its fields'.
"""

from __future__ import annotations

import struct
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from typing import Any

_Field = tuple[int, int, Any]
"""Its number, its wire type, its value."""


@dataclass(slots=True)
class Event:
    """Something that happened at one moment, in picoseconds from the start of the epoch or of the session."""

    name: str
    time_ps: int
    values: dict[str, Any]


def events(data: bytes, names: Collection[str]) -> Iterator[Event]:
    """The events of certain names, thread by thread.

    Raises:
        ValueError: it is no such file.
    """
    for number, _, plane in _fields(data):
        if number == 1:
            yield from _of_plane(plane, names)


def _of_plane(plane: bytes, names: Collection[str]) -> Iterator[Event]:
    lines: list[bytes] = []
    kinds: dict[int, str] = {}
    titles: dict[int, str] = {}
    for number, _, value in _fields(plane):
        if number == 3:
            lines.append(value)
        elif number in (4, 5):
            entry = {key: item for key, _, item in _fields(value)}
            described = {key: item for key, _, item in _fields(entry.get(2, b""))}
            table = kinds if number == 4 else titles
            table[entry.get(1, 0)] = _text(described.get(2, b""))
    wanted = {key: name for key, name in kinds.items() if name in names}
    for line in lines if wanted else ():
        start_ns = 0
        of_line: list[bytes] = []
        for number, _, value in _fields(line):
            if number == 3:
                start_ns = value
            elif number == 4:
                of_line.append(value)
        for event in of_line:
            found = _event(event, wanted, titles, start_ns)
            if found is not None:
                yield found


def _event(data: bytes, wanted: dict[int, str], titles: dict[int, str], start_ns: int) -> Event | None:
    kind = offset = 0
    stats: list[bytes] = []
    for number, _, value in _fields(data):
        if number == 1:
            kind = value
            if kind not in wanted:
                return None
        elif number == 2:
            offset = value
        elif number == 4:
            stats.append(value)
    values: dict[str, Any] = {}
    for stat in stats:
        title, content = 0, None
        for number, _, value in _fields(stat):
            if number == 1:
                title = value
            elif number == 2:
                content = struct.unpack("<d", value)[0]
            elif number == 7:
                content = titles.get(value, "")
            else:
                content = _text(value) if isinstance(value, bytes) else value
        values[titles.get(title, "")] = content
    return Event(wanted[kind], start_ns * 1000 + offset, values)


def _text(value: bytes) -> str:
    return value.decode("utf-8", "replace")


def _fields(data: bytes) -> Iterator[_Field]:
    """The fields of a message; numbers as they are, everything else as bytes."""
    place, end = 0, len(data)
    try:
        while place < end:
            key, place = _varint(data, place)
            number, wire = key >> 3, key & 7
            value: Any
            if wire == 0:
                value, place = _varint(data, place)
            else:
                if wire == 2:
                    length, place = _varint(data, place)
                elif wire in (1, 5):
                    length = 8 if wire == 1 else 4
                else:
                    raise ValueError(f"unknown wire type {wire}")
                value = data[place : place + length]
                place += length
            yield number, wire, value
    except IndexError:
        raise ValueError("the file ends too early") from None


def _varint(data: bytes, place: int) -> tuple[int, int]:
    value = shift = 0
    while True:
        byte = data[place]
        place += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return value, place
        shift += 7
