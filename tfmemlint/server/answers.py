"""Findings and plans as the protocol's answers: diagnostics, quick fixes, hovers."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence

from lsprotocol import types

from tfmemlint.api.planned import EntryPoint, PlannedIntent, PlanResult
from tfmemlint.api.results import Finding, Place
from tfmemlint.server.documents import Document
from tfmemlint.server.places import Places
from tfmemlint.sources.notebook import MARK

SOURCE = "tfmemlint"
FIX_ALL = "source.fixAll.tfmemlint"
_SEVERITIES = {
    "error": types.DiagnosticSeverity.Error,
    "warning": types.DiagnosticSeverity.Warning,
    "advice": types.DiagnosticSeverity.Information,
}


def diagnostic(finding: Finding, places: Places, own: Document) -> types.Diagnostic:
    """Return a finding as a diagnostic, with its trace as related places."""
    parts = [finding.message, finding.outcome, finding.advice]
    return types.Diagnostic(
        range=places.location(finding.place, own).range,
        severity=_SEVERITIES[finding.severity],
        code=finding.code,
        code_description=types.CodeDescription(finding.url) if finding.url else None,
        source=SOURCE,
        message="\n".join(part for part in (*parts, *finding.notes) if part),
        related_information=[
            types.DiagnosticRelatedInformation(places.location(step.place, own), step.message) for step in finding.trace
        ],
    )


def diagnostics(findings: Iterable[Finding], places: Places, own: Document) -> dict[str, list[types.Diagnostic]]:
    """Return the diagnostics of a document, and of the files in which it brings something about, by their names."""
    found: dict[str, list[types.Diagnostic]] = {own.uri: []} if not own.cells else {}
    for cell in filter(None, own.cells):
        found[cell] = []
    for finding in findings:
        found.setdefault(places.uri(finding.place, own), []).append(diagnostic(finding, places, own))
    return found


def quick_fixes(
    findings: Iterable[Finding], params: types.CodeActionParams, places: Places, own: Document
) -> list[types.CodeAction]:
    """Return the fixes of the findings in a range, the safe ones as preferred, and comments that silence them."""
    actions = []
    for finding in findings:
        location = places.location(finding.place, own)
        if location.uri != params.text_document.uri or not _touch(location.range, params.range):
            continue
        about = [diagnostic(finding, places, own)]
        edit = _edit(finding, places, own)
        if edit is not None and finding.fix is not None:
            safe = finding.fix.applicability == "safe"
            title = f"{finding.code}: {finding.fix.message}" + ("" if safe else " (unsafe: look at the result)")
            kind = types.CodeActionKind.QuickFix
            actions.append(types.CodeAction(title, kind=kind, diagnostics=about, edit=edit, is_preferred=safe))
        if own.language == "python" or own.cells:
            actions.append(_silence(finding, location, places, own, about))
    return actions


def _edit(finding: Finding, places: Places, own: Document) -> types.WorkspaceEdit | None:
    """Return the rewrite of a finding; None if there is none that an editor could make."""
    if finding.fix is None or finding.fix.applicability == "display":
        return None
    if any(MARK in edit.content for edit in finding.fix.edits):
        return None  # it moves code from one cell to another, which is no edit of a text
    changes: dict[str, list[types.TextEdit]] = {}
    for edit in finding.fix.edits:
        location = places.location(edit.place, own)
        changes.setdefault(location.uri, []).append(types.TextEdit(location.range, edit.content))
    return types.WorkspaceEdit(changes=changes)


def _silence(
    finding: Finding, location: types.Location, places: Places, own: Document, about: Sequence[types.Diagnostic]
) -> types.CodeAction:
    row, place = finding.noqa_row or finding.place.end_row, finding.place
    end = places.location(Place(place.path, row, 10**6, row, 10**6, place.cell), own).range
    edit = types.WorkspaceEdit(changes={location.uri: [types.TextEdit(end, f"  # noqa: {finding.code}")]})
    title = f"{finding.code}: silence it on this line"
    return types.CodeAction(title, kind=types.CodeActionKind.QuickFix, diagnostics=list(about), edit=edit)


def _touch(first: types.Range, other: types.Range) -> bool:
    def key(position: types.Position) -> tuple[int, int]:
        return position.line, position.character

    return key(first.start) <= key(other.end) and key(other.start) <= key(first.end)


def hover(plan: PlanResult, params: types.HoverParams, places: Places, own: Document) -> types.Hover | None:
    """Return the intent at a position, and what becomes of it; None if there is no configuration."""
    at = types.Range(params.position, params.position)
    for program in plan.programs:
        for entry in program.entries:
            for intent in entry.intents:
                location = places.location(intent.place, own)
                if location.uri == params.text_document.uri and _touch(location.range, at):
                    content = types.MarkupContent(types.MarkupKind.Markdown, _words(intent, entry, program.tensorflow))
                    return types.Hover(content, location.range)
    return None


def _words(intent: PlannedIntent, entry: EntryPoint, release: str) -> str:
    condition = f" {intent.condition}" if intent.condition else ""
    lines = [
        f"**Intent:** {intent.words}",
        f"**TensorFlow {release}:** {intent.outcome or intent.prediction}{condition}",
    ]
    lines += intent.details
    if entry.start is not None:
        start = entry.start
        where = f"{os.path.basename(start.place.path)}:{start.place.row}"
        if start.place.cell is not None:
            where = f"cell {start.place.cell}, line {start.place.row}"
        sure = "" if start.certain else ", on some path"
        lines.append(f"**The runtime is started by** `{start.code}` ({where}{sure})")
    else:
        lines.append("Nothing here starts the runtime.")
    lines += [f"**{device.name}:** {device.words}" for device in entry.devices]
    if entry.assumes:
        lines.append(f"Assumed: {entry.assumes}.")
    if intent.rules:
        lines.append(f"Reported by {', '.join(intent.rules)}.")
    return "\n\n".join(lines)
