"""Plans of programs of several files: their sentences say which file a line is in."""

from __future__ import annotations

from dataclasses import replace

from tfmemlint.plan.model import Asked, Device, Place, PlannedEntry
from tfmemlint.sources.line_map import Rows


def told(entry: PlannedEntry, rows: Rows) -> PlannedEntry:
    """``entry`` with the rows in its sentences as people read them."""
    if not rows.files:
        return entry
    return replace(
        entry,
        start=replace(entry.start, place=_place(entry.start.place, rows)) if entry.start is not None else None,
        devices=tuple(_device(one, rows) for one in entry.devices),
        asked=tuple(_asked(one, rows) for one in entry.asked),
    )


def _place(place: Place, rows: Rows) -> Place:
    return replace(place, frames=tuple((row, rows.words(words)) for row, words in place.frames))


def _device(device: Device, rows: Rows) -> Device:
    return replace(device, memory=replace(device.memory, words=rows.words(device.memory.words)))


def _asked(asked: Asked, rows: Rows) -> Asked:
    fate = asked.fate
    fate = replace(
        fate,
        words=rows.words(fate.words),
        details=tuple(map(rows.words, fate.details)),
        condition=rows.words(fate.condition),
    )
    return replace(asked, place=_place(asked.place, rows), fate=fate)
