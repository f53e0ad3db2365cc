"""From what the engine finds to the library's results."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from tfmemlint.api.results import Change, Edit, Finding, Fix, Intent, Place, Problem, Step
from tfmemlint.engine.merge_programs import module_sources
from tfmemlint.model import finding as internal
from tfmemlint.reporters.cells import in_cells, rows_in_cells
from tfmemlint.rulekit.rule import rules

if TYPE_CHECKING:
    from tfmemlint.engine.context import RunContext
    from tfmemlint.engine.results import FileResult
    from tfmemlint.model.intent import Intent as InternalIntent
    from tfmemlint.sources import Source

_CELL = re.compile(r"(?P<path>.*):cell (?P<cell>\d+)", re.DOTALL)


def findings_of(results: Iterable[FileResult], context: RunContext) -> tuple[Finding, ...]:
    """Return the findings that are left in files, in order."""
    results = list(results)
    found = sorted((finding for result in results for finding in result.findings), key=lambda finding: finding.sort_key)
    return _public(found, sources_of(results, found, context))


def fixed_of(results: Iterable[FileResult]) -> tuple[Finding, ...]:
    """Return the findings that are gone, in order."""
    results = list(results)
    found = [finding for result in results for finding in result.applied]
    before = {result.path: result.old for result in results if result.old is not None}
    placed = rows_in_cells(sorted(found, key=lambda finding: finding.sort_key), before)
    return tuple(_finding(finding, finding, {}) for finding in placed)


def sources_of(
    results: Sequence[FileResult], found: Sequence[internal.Finding], context: RunContext
) -> dict[str, Source]:
    """Return the texts of the files that were checked, and of those that traces name."""
    known = {result.path: result.source for result in results if result.source is not None}
    others = {step.path for finding in found for step in finding.trace} - known.keys()
    return known | module_sources(others, context) if others else known


def _public(found: Sequence[internal.Finding], sources: Mapping[str, Source]) -> tuple[Finding, ...]:
    placed, _ = in_cells(found, sources)
    return tuple(_finding(finding, raw, sources) for finding, raw in zip(placed, found, strict=True))


def _finding(finding: internal.Finding, raw: internal.Finding, sources: Mapping[str, Source]) -> Finding:
    """Return a finding; ``raw`` is the same one with the places in the text of a notebook instead of in its cells."""
    return Finding(
        code=finding.code,
        name=finding.name,
        severity=finding.severity.value,
        place=_place(finding.path, finding.span, finding.cell),
        message=finding.message,
        intent=_intent(finding.intent),
        outcome=finding.outcome,
        advice=finding.advice,
        notes=finding.notes,
        trace=tuple(_step(step, sources) for step in finding.trace),
        fix=_fix(finding, raw, sources),
        withheld=finding.withheld,
        url=_url(finding.code),
        noqa_row=finding.noqa_row or finding.span.end_row,
    )


def _url(code: str) -> str:
    return next((rule.url() for rule in rules() if rule.code == code), "")


def _place(path: str, span: internal.Span, cell: int | None = None) -> Place:
    return Place(path, span.row, span.column, span.end_row, span.end_column, cell)


def _step(step: internal.Step, sources: Mapping[str, Source]) -> Step:
    in_cell = None if step.path in sources else _CELL.fullmatch(step.path)
    if in_cell is None or in_cell["path"] not in sources:
        return Step(_place(step.path, step.span), step.words)
    return Step(_place(in_cell["path"], step.span, int(in_cell["cell"])), step.words)


def _fix(finding: internal.Finding, raw: internal.Finding, sources: Mapping[str, Source]) -> Fix | None:
    if finding.fix is None or raw.fix is None:
        return None
    source = sources.get(finding.path)
    edits = []
    for edit, before in zip(finding.fix.edits, raw.fix.edits, strict=True):
        cell = None
        if not edit.path and source is not None and hasattr(source, "cell_of"):
            number = source.cell_of(before.span.row)
            cell = None if number is None else number[0]
        edits.append(Edit(_place(edit.path or finding.path, edit.span, cell), edit.content))
    return Fix(finding.fix.applicability.value, finding.fix.message, tuple(edits), finding.fix.needs)


def _intent(intent: InternalIntent | None) -> Intent | None:
    if intent is None:
        return None
    return Intent(intent.purpose.value, intent.describe(), intent.devices, intent.value, intent.text)


def changes_of(results: Iterable[FileResult]) -> tuple[Change, ...]:
    """Return the files that change, in the order of their paths."""
    changed = [
        Change(result.path, file_text(result.old, result.old.text), file_text(result.old, result.source.text))
        for result in results
        if result.old is not None and result.source is not None and result.old.text != result.source.text
    ]
    return tuple(sorted(changed, key=lambda change: change.path))


def file_text(source: Source, text: str) -> str:
    """Return the content of a file with ``text`` in place of its own, line ends as in the file."""
    return source.encode(text).decode(source.encoding)


def problems_of(results: Iterable[FileResult], paths: Iterable[tuple[str, str]] = ()) -> tuple[Problem, ...]:
    """Return the problems of paths, and those of files: not written, or not followed to their ends."""
    found = [Problem(path, words) for path, words in paths]
    for result in results:
        found += [Problem(result.path, words) for words in (result.problem, result.remark) if words]
        if result.is_cut_short:
            found += [Problem(result.path, f"not followed to the end: {note}") for note in result.notes]
    return tuple(sorted(found, key=lambda problem: (problem.path, problem.message)))
