"""The plan as plain data: the keys of ``tfmemlint plan --json``, which stay as they are.

Rows and columns count from 1; amounts of memory are in MiB. What isn't known is null. Beside each row stands the path
of its file: a program may have several.
"""

from __future__ import annotations

from typing import Any

from tfmemlint.plan.model import Asked, Device, FilePlan, Place, Plan, PlannedEntry, PlannedStart, Variable

VERSION = 1
"""Of the format: raised where a key changes its meaning or goes away; new keys may come at any time."""


def as_data(plan: Plan) -> dict[str, Any]:
    """Return the whole plan as one object."""
    return {
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
        "row": entry.row,
        "assumes": entry.assumes or None,
        "start": _start(entry.start, file) if entry.start is not None else None,
        "devices": [_device(device, file) for device in entry.devices],
        "environment": [_variable(variable, file) for variable in entry.variables],
        "intents": [_asked(asked, file) for asked in entry.asked],
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
        "end_row": file.where(place.span.end_row)[1],
        "end_column": place.span.end_column,
        "code": place.text,
        "frames": [{**_row("row", row, file), "words": words} for row, words in place.frames],
    }


def _row(key: str, row: int | None, file: FilePlan) -> dict[str, Any]:
    """Return a line, and the file that it is in: ``path`` beside ``row``, ``because_path`` beside ``because_row``."""
    path, line = file.where(row) if row is not None else (None, None)
    return {key: line, f"{key.removesuffix('row')}path": path}


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
            "rows": [file.where(row)[1] for row in memory.rows],
            "paths": [file.where(row)[0] for row in memory.rows],
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


def _asked(asked: Asked, file: FilePlan) -> dict[str, Any]:
    fate = asked.fate
    return {
        "wish": asked.wish,
        "words": asked.words,
        "devices": asked.devices,
        "gpu": asked.gpu,
        "value": _plain(asked.value),
        "mib": None if asked.mib is None else [_plain(size) for size in asked.mib],
        "by": asked.by,
        "name": asked.name,
        **_place(asked.place, file),
        "certain": asked.certain,
        "verdict": fate.verdict.value,
        "reason": fate.reason or None,
        "outcome": fate.words,
        "details": list(fate.details),
        "condition": fate.condition or None,
        "exception": None if fate.exception is None else _exception(fate.exception),
        **_row("handler_row", fate.handler, file),
        **_row("because_row", fate.because, file),
        "rules": list(asked.rules),
    }


def _plain(value: object) -> object:
    """JSON knows no nan and no infinity, and few readers of it numbers of hundreds of digits."""
    if isinstance(value, float) and value - value != 0:
        return str(value)
    if isinstance(value, int) and value.bit_length() > 63:
        return float(value) if value.bit_length() < 1024 else None
    return value


def _exception(exception: tuple[str, str]) -> dict[str, str]:
    return {"type": exception[0], "message": exception[1]}
