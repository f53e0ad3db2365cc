"""From a plan of the command to the library's result."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tfmemlint.api.planned import Device, EntryPoint, PlannedIntent, PlanResult, Program, RuntimeStart
from tfmemlint.api.results import Place, Problem

if TYPE_CHECKING:
    from tfmemlint.plans import model


def result_of(plan: model.Plan) -> PlanResult:
    """Return the result for a plan."""
    problems = tuple(Problem(problem.path, problem.message, problem.row) for problem in plan.problems)
    return PlanResult(tuple(_program(file) for file in plan.files), plan.differs, problems)


def _program(file: model.FilePlan) -> Program:
    entries = tuple(_entry(entry, file) for entry in file.entries)
    begun = file.begun
    started_by = None if begun is None else f"{begun.path}:{begun.span.row}"
    return Program(file.path, file.target, entries, started_by, file.incomplete)


def _entry(entry: model.PlannedEntry, file: model.FilePlan) -> EntryPoint:
    start = entry.start
    stop = entry.stop
    return EntryPoint(
        name=entry.name,
        row=_row(entry.row, file)[1],
        start=None
        if start is None
        else RuntimeStart(start.what, _place(start.place, file), start.place.text, start.certain),
        devices=tuple(_device(device) for device in entry.devices),
        intents=tuple(_planned(planned, file) for planned in entry.intents),
        assumes=entry.assumes,
        stop=None if stop is None else (_row(stop.row, file)[1], *stop.exception),
    )


def _row(row: int, file: model.FilePlan) -> tuple[str, int, int | None]:
    """Return the path of a row, its line there, and its cell in a notebook."""
    path, line = file.where(row)
    cell = file.cell(row)
    return (path, cell[1], cell[0]) if cell is not None else (path, line, None)


def _place(place: model.Place, file: model.FilePlan) -> Place:
    span = place.span
    path, row, cell = _row(span.row, file)
    return Place(path, row, span.column, row + span.end_row - span.row, span.end_column, cell)


def _device(device: model.Device) -> Device:
    memory = device.memory
    return Device(
        name=device.name,
        number=device.number,
        visible=device.visible,
        memory=memory.kind,
        words=memory.words,
        mib=memory.mib,
        fraction=memory.fraction,
        allocator=device.allocator,
    )


def _planned(planned: model.PlannedIntent, file: model.FilePlan) -> PlannedIntent:
    prediction = planned.prediction
    return PlannedIntent(
        purpose=planned.purpose,
        words=planned.words,
        place=_place(planned.place, file),
        code=planned.place.text,
        prediction=prediction.kind.value,
        outcome=prediction.words,
        reason=prediction.reason,
        details=prediction.details,
        condition=prediction.condition,
        exception=prediction.exception,
        because=None if prediction.because is None else _row(prediction.because, file)[:2],
        devices=planned.devices,
        gpu=planned.gpu,
        value=planned.value,
        mib=planned.mib,
        by=planned.by,
        name=planned.name,
        certain=planned.certain,
        rules=planned.rules,
    )
