"""The plan as plain data: the keys of ``tfmemlint plan --json``, which stay as they are.

Rows and columns count from 1; amounts of memory are in MiB. Unknown values are null. Each row has the path of its file
beside it: a program may have several files.
"""

from __future__ import annotations

from typing import Any

from tfmemlint.plans.model import Device, FilePlan, Place, Plan, PlannedEntry, PlannedIntent, PlannedStart, Variable

VERSION = 1
"""The version of the format. It changes when a key changes its meaning or goes away; new keys may come at any time."""


def as_data(plan: Plan) -> dict[str, Any]:
    """Return the whole plan as one object, of values that JSON can express."""
    found: dict[str, Any] = _expressed(
        {
            "version": VERSION,
            "tensorflow": plan.target,
            "gpus": plan.gpus,
            "gpu_memory_mib": plan.gpu_memory_mib,
            "differs": plan.differs,
            "files": [_file(file) for file in plan.files],
            "problems": [
                {"path": problem.path, "row": problem.row, "message": problem.message} for problem in plan.problems
            ],
            "left_out": plan.left_out,
        }
    )
    return found


def _expressed(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _expressed(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_expressed(item) for item in value]
    return _plain(value)


def _file(file: FilePlan) -> dict[str, Any]:
    return {
        "path": file.path,
        "tensorflow": file.target,
        "incomplete": file.incomplete or None,
        "started_by": _begun(file),
        "entries": [_entry(entry, file) for entry in file.entries],
    }


def _begun(file: FilePlan) -> dict[str, Any] | None:
    """Return the configuration file that starts the program; null if it is started by hand."""
    begun = file.begun
    return None if begun is None else {"path": begun.path, "row": begun.span.row, "where": begun.where}


def _entry(entry: PlannedEntry, file: FilePlan) -> dict[str, Any]:
    stop = entry.stop
    return {
        "entry": entry.name,
        "kind": "module" if entry.is_module else "function",
        "row": _numbers(entry.row, file)[1],
        "cell": _numbers(entry.row, file)[2],
        "assumes": entry.assumes or None,
        "start": _start(entry.start, file) if entry.start is not None else None,
        "devices": [_device(device, file) for device in entry.devices],
        "environment": [_variable(variable, file) for variable in entry.variables],
        "intents": [_planned(planned, file) for planned in entry.intents],
        "stop": None
        if stop is None
        else {**_row("row", stop.row, file), "exception": _exception(stop.exception), "rules": list(stop.rules)},
    }


def _start(start: PlannedStart, file: FilePlan) -> dict[str, Any]:
    return {"what": start.what, **_place(start.place, file), "certain": start.certain, "before": start.before}


def _place(place: Place, file: FilePlan) -> dict[str, Any]:
    return {
        **_row("row", place.span.row, file),
        "column": place.span.column,
        "end_row": _numbers(place.span.end_row, file)[1],
        "end_column": place.span.end_column,
        "code": place.text,
        "frames": [{**_row("row", row, file), "words": words} for row, words in place.frames],
    }


def _row(key: str, row: int | None, file: FilePlan) -> dict[str, Any]:
    """Return a line, and the file that it is in: ``path`` beside ``row``, ``because_path`` beside ``because_row``; in
    a notebook the line of the cell, with the number of the cell."""
    path, line, cell = _numbers(row, file)
    kind = key.removesuffix("row")
    return {key: line, f"{kind}path": path, f"{kind}cell": cell}


def _numbers(row: int | None, file: FilePlan) -> tuple[str | None, int | None, int | None]:
    """Return the path of a row, its line, and its cell if that is in a notebook."""
    if row is None:
        return None, None, None
    path, line = file.where(row)
    cell = file.cell(row)
    return (path, cell[1], cell[0]) if cell is not None else (path, line, None)


def _device(device: Device, file: FilePlan) -> dict[str, Any]:
    memory = device.memory
    return {
        "device": device.name,
        "number": device.number,
        "visible": device.visible,
        **_row("visible_row", device.visible_row, file),
        "memory": {
            "kind": memory.kind,
            "words": memory.words,
            "growth": memory.growth,
            "mib": None if memory.mib is None else list(memory.mib),
            "fraction": memory.fraction,
            "rows": [_numbers(row, file)[1] for row in memory.rows],
            "paths": [_numbers(row, file)[0] for row in memory.rows],
            "cells": [_numbers(row, file)[2] for row in memory.rows],
        },
        "allocator": device.allocator or None,
        **_row("allocator_row", device.allocator_row, file),
    }


def _variable(variable: Variable, file: FilePlan) -> dict[str, Any]:
    return {
        "name": variable.name,
        "value": variable.value,
        **_row("row", variable.row, file),
        "read_at": variable.read,
        "in_time": variable.in_time,
    }


def _planned(planned: PlannedIntent, file: FilePlan) -> dict[str, Any]:
    prediction = planned.prediction
    return {
        "wish": planned.purpose,
        "words": planned.words,
        "devices": planned.devices,
        "gpu": planned.gpu,
        "value": _plain(planned.value),
        "mib": None if planned.mib is None else [_plain(size) for size in planned.mib],
        "by": planned.by,
        "name": planned.name,
        **_place(planned.place, file),
        "certain": planned.certain,
        "verdict": prediction.kind.value,
        "reason": prediction.reason or None,
        "outcome": prediction.words,
        "details": list(prediction.details),
        "condition": prediction.condition or None,
        "exception": None if prediction.exception is None else _exception(prediction.exception),
        **_row("handler_row", prediction.handler, file),
        **_row("because_row", prediction.because, file),
        "rules": list(planned.rules),
    }


def _plain(value: object) -> object:
    """Return a value that JSON can express: JSON has no nan and no infinity, and few readers take numbers of hundreds
    of digits."""
    if isinstance(value, float) and value - value != 0:
        return str(value)
    if isinstance(value, int) and value.bit_length() > 63:
        return float(value) if value.bit_length() < 1024 else None
    return value if value is None or isinstance(value, (str, int, float)) else str(value)


def _exception(exception: tuple[str, str]) -> dict[str, str]:
    return {"type": exception[0], "message": exception[1]}
