"""Findings in notebooks, as notebooks show them: by cell, and by the line in the cell."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from tfmemlint.model.finding import Finding, Fix, Span, Step
from tfmemlint.model.patterns import late_pattern
from tfmemlint.sources import Source

if TYPE_CHECKING:
    from tfmemlint.sources.notebook import Notebook

_LINE = late_pattern(r"\bline (\d+)\b")
_LINES = late_pattern(r"\blines (\d+(?:(?:, | and )\d+)*)")


def in_cells(
    findings: Sequence[Finding], sources: Mapping[str, Source], *, rows_of_file: bool = False
) -> tuple[list[Finding], dict[str, Source]]:
    """Return the findings with the cell of each that is in a notebook and rows counted from its start, and the texts to
    quote from, by ``path:cell N`` for cells.

    Args:
        rows_of_file: count rows in the file that stores the notebook, for tools that do not know cells.
    """
    notebooks = {path: source for path, source in sources.items() if hasattr(source, "cells")}
    if not notebooks:
        return list(findings), dict(sources)
    texts = dict(sources)
    made: list[Finding] = []
    for finding in findings:
        source = notebooks.get(finding.path)
        if source is not None:
            finding = _placed(finding, source, texts, rows_of_file=rows_of_file)  # type: ignore[arg-type]
        steps = [_step(step, notebooks.get(step.path), texts) for step in finding.trace]  # type: ignore[arg-type]
        made.append(dataclasses.replace(finding, trace=tuple(steps)))
    return made, texts


def rows_in_cells(findings: Sequence[Finding], sources: Mapping[str, Source]) -> list[Finding]:
    """Return findings that are gone, those in notebooks with the cell and the row in it that each was found at.

    Their fixes and traces refer to texts between the old and the new one: nothing but the row can be placed.
    """
    made = []
    for finding in findings:
        source = sources.get(finding.path)
        place = source.cell_of(finding.span.row) if hasattr(source, "cell_of") else None  # type: ignore[union-attr]
        if place is not None:
            number, row = place
            row = min(max(row, 1), source.cell_text(number).count("\n") + 1)  # type: ignore[union-attr]
            finding = dataclasses.replace(finding, cell=number, span=Span(row, 1, row, 1))
        made.append(finding)
    return made


def _placed(finding: Finding, source: Notebook, texts: dict[str, Source], *, rows_of_file: bool) -> Finding:
    place = source.cell_of(finding.span.row)
    if place is None:
        return finding
    number, row = place
    texts.setdefault(f"{finding.path}:cell {number}", Source(finding.path, source.cell_text(number)))

    def words(text: str) -> str:
        text = _LINES.sub(lambda match: _lines(source, match[1], number), text)
        return _LINE.sub(lambda match: _line(source, int(match[1]), number), text)

    span = _span(finding.span, source, row)
    if rows_of_file:
        first = source.raw_row(number, row)
        span = Span(first, 1, source.raw_row(number, row + span.end_row - span.row), 1)
    return dataclasses.replace(
        finding,
        cell=number,
        span=span,
        noqa_row=finding.noqa_row and row + finding.noqa_row - finding.span.row,
        message=words(finding.message),
        outcome=words(finding.outcome),
        advice=words(finding.advice),
        withheld=words(finding.withheld),
        notes=tuple(words(note) for note in finding.notes),
        fix=_fix(finding.fix, source),
    )


def _fix(fix: Fix | None, source: Notebook) -> Fix | None:
    """Return a fix whose edits count from the starts of their cells."""
    if fix is None:
        return None
    edits = []
    for edit in fix.edits:
        place = None if edit.path else source.cell_of(edit.span.row)
        if place is not None:
            content = source.as_in_cell(place[0], edit.content)
            edit = dataclasses.replace(edit, span=_moved(edit.span, place[1]), content=content)
        edits.append(edit)
    return dataclasses.replace(fix, edits=tuple(edits))


def _step(step: Step, source: Notebook | None, texts: dict[str, Source]) -> Step:
    place = source.cell_of(step.span.row) if source is not None else None
    if source is None or place is None:
        return step
    path = f"{step.path}:cell {place[0]}"
    texts.setdefault(path, Source(step.path, source.cell_text(place[0])))
    return Step(path, _span(step.span, source, place[1]), step.words)


def _span(span: Span, source: Notebook, row: int) -> Span:
    """Return a span counted from the start of its cell, which ``row`` is in; the whole line if the cell is not
    Python."""
    if not source.is_magic(span.row):
        return _moved(span, row, source.shift(span.row), source.shift(span.end_row))
    place = source.cell_of(span.row)
    assert place is not None
    line = source.cell_text(place[0]).split("\n")[row - 1]
    return Span(row, len(line) - len(line.lstrip()) + 1, row, len(line) + 1)


def _moved(span: Span, row: int, shift: int = 0, end_shift: int = 0) -> Span:
    row = max(row, 1)
    return Span(row, span.column + shift, row + span.end_row - span.row, span.end_column + end_shift)


def _line(source: Notebook, row: int, here: int) -> str:
    place = source.cell_of(row)
    if place is None:
        return f"line {row}"
    return f"line {place[1]}" if place[0] == here else f"line {place[1]} of cell {place[0]}"


def _lines(source: Notebook, rows: str, here: int) -> str:
    """Return words for several lines, by cells if some are in other cells."""
    places = [source.cell_of(int(row)) or (here, int(row)) for row in re.findall(r"\d+", rows)]
    if all(number == here for number, _ in places):
        return "lines " + re.sub(r"\d+", "{}", rows).format(*(row for _, row in places))
    cells = list(dict.fromkeys(number for number, _ in places))
    return f"cell {cells[0]}" if len(cells) == 1 else f"cells {', '.join(str(number) for number in cells)}"
