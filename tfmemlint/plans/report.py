"""The plan for people: an entry point is a paragraph, with a line for each GPU and for each intent."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import IO

from tfmemlint.plans.model import Device, FilePlan, Place, Plan, PlannedEntry, PlannedIntent, Prediction, PredictionKind
from tfmemlint.reporters.language import localized
from tfmemlint.reporters.paint import Line, Segment, cells, columns, painter, printable

_STYLES = {
    PredictionKind.HAPPENS: "good",
    PredictionKind.REPLACED: "dim",
    PredictionKind.FAILS: "error",
    PredictionKind.DEPENDS: "warning",
    PredictionKind.UNKNOWN: "advice",
}
_ORDER = (
    PredictionKind.FAILS,
    PredictionKind.DEPENDS,
    PredictionKind.UNKNOWN,
    PredictionKind.HAPPENS,
    PredictionKind.REPLACED,
)
_COUNTED = {
    PredictionKind.HAPPENS: ("takes effect", "take effect"),
    PredictionKind.REPLACED: ("is replaced", "are replaced"),
    PredictionKind.DEPENDS: ("depends", "depend"),
    PredictionKind.FAILS: ("does not take effect", "do not take effect"),
    PredictionKind.UNKNOWN: ("isn't known", "aren't known"),
}
_QUIET = "Nothing is raised"
_LABEL = 24  # columns that a label takes at most


def show(plan: Plan, stream: IO[str], *, color: bool | None = None, width: int | None = None) -> None:
    """Print ``plan`` to ``stream``.

    Args:
        color: True for colour; None for colour on a terminal, NO_COLOR and FORCE_COLOR permitting.
        width: the number of columns; None for those of the terminal, unlimited without one.
    """
    paint = painter(stream, color)
    room = width or columns(stream)
    for file in plan.files:
        paint(_file(file, room))
    for line in _summary(plan):
        paint(_wrapped(Segment(""), localized(line), room))


def _file(file: FilePlan, width: int | None) -> Iterator[Line]:
    for alike in _grouped(file.entries):
        yield localized(_title(file, alike))
        yield from _entry(alike[0], file, len(alike) == 1, width)
        yield []
    if file.incomplete:
        words = f": not followed to its end: {file.incomplete}"
        yield [Segment(printable(file.path), "path"), *localized([Segment(words)])]
        yield []


def _grouped(entries: Sequence[PlannedEntry]) -> list[list[PlannedEntry]]:
    """Return the entry points, with those that lead to the same plan together."""
    groups: dict[object, list[PlannedEntry]] = {}
    for entry in entries:
        start = entry.start
        same = (
            entry.is_module,
            (start.what, start.place.span, start.certain, start.before) if start is not None else None,
            entry.devices,
            entry.variables,
            tuple((planned.place.span, planned.words, planned.prediction) for planned in entry.intents),
            entry.stop,
            entry.assumes,
        )
        groups.setdefault(same, []).append(entry)
    return list(groups.values())


def _title(file: FilePlan, alike: Sequence[PlannedEntry]) -> Line:
    first = alike[0]
    if first.is_module:
        begun = f", as {file.begun.words}" if file.begun is not None else ""
        return [Segment(printable(file.path), "path"), Segment(f": run from top to bottom{printable(begun)}")]
    names = ["a lambda" if entry.name == "<lambda>" else f"{printable(entry.name)}()" for entry in alike]
    names = list(dict.fromkeys(names))
    if len(names) > 4:
        words = f"{', '.join(names[:3])} or one of {len(names) - 3} others"
    elif len(names) > 1:
        words = f"{', '.join(names[:-1])} or {names[-1]}"
    else:
        words = names[0]
    place = [Segment(printable(file.path), "path"), Segment(f":{file.shown(first.row)}", "mark")]
    assumes = f", if {first.assumes}" if first.assumes else ""
    return [*place, Segment(f": when {words} is called{assumes}")]


def _entry(entry: PlannedEntry, file: FilePlan, alone: bool, width: int | None) -> Iterator[Line]:
    rows = [
        (localized([Segment(label, "label")]), localized(segments)) for label, segments in _rows(entry, file, alone)
    ]
    room = min(max((_columns(label) for label, _ in rows), default=0), _LABEL)
    for label, segments in rows:
        words = label[0].text
        yield from _wrapped(Segment(f"  {words}  {' ' * (room - _columns(label))}", "label"), segments, width)


def _columns(line: Line) -> int:
    return sum(width for segment in line for _, width in cells(segment.text))


def _rows(entry: PlannedEntry, file: FilePlan, alone: bool) -> Iterator[tuple[str, Line]]:
    """Yield the lines of an entry point: a label and its text; no label if a line continues the last one."""
    yield from _start(entry, file, alone)
    yield from _devices(entry.devices, file)
    stated_at = {(planned.name, planned.place.span.row) for planned in entry.intents}
    for variable in entry.variables:
        if (variable.name, variable.row) not in stated_at:
            late = {True: "", False: ", too late", None: ", if it is in time"}[variable.in_time]
            shown = f"{variable.name}={variable.value}" if variable.value is not None else f"{variable.name} is set"
            yield file.line(variable.row), [Segment(printable(f"{shown}: read at {variable.read}{late}"))]
    for planned in entry.intents:
        yield from _planned(planned, file, alone)
    if entry.stop is not None:
        kind, message = entry.stop.exception
        words = f"every run ends in {file.line(entry.stop.row)}: {kind}{f': {message}' if message else ''}"
        yield "ends", [Segment(printable(words), "error"), *_codes(entry.stop.rules)]


def _start(entry: PlannedEntry, file: FilePlan, alone: bool) -> Iterator[tuple[str, Line]]:
    start = entry.start
    if start is None:
        words = "nothing here starts the runtime" if entry.stop is None else "nothing starts the runtime before the end"
        yield "starts", [Segment(words, "dim")]
        return
    what = "starts the runtime" if start.what == "runtime" else "makes the GPU devices"
    before = ", when the file is imported" if start.before else ""
    some = "" if start.certain else ", on some ways"
    words = f"{file.line(start.place.span.row)}: {start.place.text} {what}{before}{some}"
    yield "starts", [Segment(printable(words))]
    if alone and start.place.frames:
        yield "", [Segment(_way(start.place, file), "dim")]


def _devices(devices: Sequence[Device], file: FilePlan) -> Iterator[tuple[str, Line]]:
    """Yield a line for each GPU, one for consecutive GPUs with the same prediction."""
    runs: list[list[Device]] = []
    for device in devices:
        last = runs[-1][-1] if runs else None
        numbered = last is not None and device.number is not None and last.number is not None
        if numbered and last is not None and replace(device, name=last.name, number=last.number) == last:
            runs[-1].append(device)
        else:
            runs.append([device])
    for run in runs:
        first, last = run[0], run[-1]
        name = first.name if len(run) == 1 else f"GPUs {first.number} to {last.number}"
        yield printable(name), _device(first, file)


def _device(device: Device, file: FilePlan) -> Line:
    memory = device.memory
    line = [Segment(printable(memory.words)), *_lines(memory.rows, file)]
    if device.visible is None:
        line.append(Segment(", if it is visible"))
        line.extend(_lines((device.visible_row,) if device.visible_row is not None else (), file))
    elif device.visible and device.visible_row is not None:
        line.append(Segment(f", visible ({file.line(device.visible_row)})"))
    if device.allocator and device.allocator not in memory.words:
        line.append(Segment(f", allocator {printable(device.allocator)}"))
        line.extend(_lines((device.allocator_row,) if device.allocator_row is not None else (), file))
    return line


def _lines(rows: Sequence[int], file: FilePlan) -> Line:
    numbers = list(dict.fromkeys(rows))
    if not numbers:
        return []
    own = [str(row) for row in numbers if file.line(row) == f"line {row}"]
    others = [file.line(row) for row in numbers if file.line(row) != f"line {row}"]
    lines = [f"line{'s' if len(own) > 1 else ''} {', '.join(own)}"] if own else []
    return [Segment(f" ({', '.join([*lines, *others])})", "dim")]


def _planned(planned: PlannedIntent, file: FilePlan, alone: bool) -> Iterator[tuple[str, Line]]:
    prediction = planned.prediction
    style = _STYLES[prediction.kind]
    words = [Segment(printable(planned.words)), Segment(": "), Segment(printable(prediction.words), style)]
    details = prediction.details
    if _QUIET in details:
        words.append(Segment(f"; {_QUIET[0].lower()}{_QUIET[1:]}"))
        details = tuple(detail for detail in details if detail != _QUIET)
    if prediction.condition:
        words.append(Segment(f", {printable(prediction.condition)}"))
    yield file.line(planned.place.span.row), [*words, *_codes(planned.rules)]
    for detail in details:
        yield "", [Segment(printable(detail))]
    if alone and planned.place.frames:
        yield "", [Segment(_way(planned.place, file), "dim")]


def _codes(codes: Sequence[str]) -> Line:
    return [Segment(f" [{', '.join(codes)}]", "mark")] if codes else []


def _way(place: Place, file: FilePlan) -> str:
    return printable("by way of " + ", ".join(f"{file.line(row)} ({words})" for row, words in place.frames))


def _wrapped(head: Segment, segments: Line, width: int | None) -> Iterator[Line]:
    """Yield a label and its line; on a terminal the continuation of a long line is indented to its start."""
    indent = len(head.text)
    text = "".join(segment.text for segment in segments)
    if width is None or indent + len(text) <= width:
        yield [head, *segments]
        return
    pieces = textwrap.wrap(text, max(20, width - indent), break_long_words=False, break_on_hyphens=False)
    position = 0
    for number, piece in enumerate(pieces):
        position = text.index(piece, position)
        start = head if number == 0 else Segment(" " * indent)
        yield [start, *_cut(segments, position, position + len(piece))]
        position += len(piece)


def _cut(segments: Line, first: int, last: int) -> Line:
    """Return the part of a line from one column to another, in its styles."""
    found: Line = []
    at = 0
    for segment in segments:
        text = segment.text[max(first - at, 0) : max(last - at, 0)]
        if text:
            found.append(Segment(text, segment.style))
        at += len(segment.text)
    return found


def _summary(plan: Plan) -> Iterator[Line]:
    worst: dict[object, Prediction] = {}
    for file in plan.files:
        for entry in file.entries:
            for planned in entry.intents:
                key = (*file.where(planned.place.span.row), planned.place.span.column, planned.words)
                known = worst.get(key)
                if known is None or _ORDER.index(planned.prediction.kind) < _ORDER.index(known.kind):
                    worst[key] = planned.prediction
    kinds = [prediction.kind for prediction in worst.values()]
    if kinds:
        counts = [f"{kinds.count(kind)} {_COUNTED[kind][kinds.count(kind) > 1]}" for kind in _ORDER if kind in kinds]
        files = len({file.path for file in plan.files if any(entry.intents for entry in file.entries)})
        where = f" in {files} files" if files > 1 else ""
        style = _STYLES[min(kinds, key=_ORDER.index)]
        yield [Segment(f"{_count(len(kinds), 'thing is', 'things are')} asked for{where}: {', '.join(counts)}", style)]
    if plan.left_out:
        yield [Segment(f"{_count(plan.left_out, 'file asks', 'files ask')} for nothing of GPU memory", "dim")]
    if any(planned.rules for file in plan.files for entry in file.entries for planned in entry.intents):
        yield [Segment("`tfmemlint check` shows what the rules find there, `tfmemlint rule CODE` explains one", "dim")]


def _count(number: int, singular: str, plural: str) -> str:
    return f"{number} {singular if number == 1 else plural}"
