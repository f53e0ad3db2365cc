"""Plans of programs of several files and of notebooks: their sentences name the file or the cell of a line."""

from __future__ import annotations

from dataclasses import replace

from tfmemlint.plans.model import Device, Place, PlannedEntry, PlannedIntent
from tfmemlint.sources.line_map import Rows


def with_file_names(entry: PlannedEntry, rows: Rows) -> PlannedEntry:
    """Return ``entry`` with the rows in its sentences as messages show them."""
    if not rows.renames:
        return entry
    return replace(
        entry,
        start=replace(entry.start, place=_place(entry.start.place, rows)) if entry.start is not None else None,
        devices=tuple(_device(device, rows) for device in entry.devices),
        intents=tuple(_planned(planned, rows) for planned in entry.intents),
    )


def _place(place: Place, rows: Rows) -> Place:
    return replace(place, frames=tuple((row, rows.words(words)) for row, words in place.frames))


def _device(device: Device, rows: Rows) -> Device:
    return replace(device, memory=replace(device.memory, words=rows.words(device.memory.words)))


def _planned(planned: PlannedIntent, rows: Rows) -> PlannedIntent:
    prediction = planned.prediction
    prediction = replace(
        prediction,
        words=rows.words(prediction.words),
        details=tuple(map(rows.words, prediction.details)),
        condition=rows.words(prediction.condition),
    )
    return replace(planned, place=_place(planned.place, rows), prediction=prediction)
