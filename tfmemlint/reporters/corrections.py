"""Findings for a program that writes code: the wrong code, its replacement, and the releases in which that was seen.

`docs/corrections.md` describes the format; its version changes when a key changes its meaning.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from tfmemlint import __version__
from tfmemlint.knowledge import names
from tfmemlint.knowledge.instead import NEAREST, Instead, of_variable, releases_of
from tfmemlint.knowledge.releases import Target
from tfmemlint.model.finding import Finding, Span
from tfmemlint.reporters.json_text import json_text
from tfmemlint.reporters.machines import absolute, edits_of, places
from tfmemlint.rulekit.correction import NAME, USE, VARIABLE, Correction, of_use

if TYPE_CHECKING:
    from tfmemlint.reporters.formats import Report
    from tfmemlint.rulekit.rule import Rule
    from tfmemlint.sources import Source

VERSION = 1
_WHY = {
    NAME: "no name of TensorFlow is like it",
    USE: "no name or value is wrong by itself: how they are used is",
}


def write_corrections(report: Report) -> str:
    """Return one JSON object; its ``corrections`` are in the order of files, rows, columns and codes."""
    made = [
        _object(finding, report.sources, report.rules.get(finding.code), report.target_of(finding.path))
        for finding in report.findings
    ]
    whole: dict[str, Any] = {"version": VERSION, "tool": f"tfmemlint {__version__}", "corrections": made}
    if report.not_followed:
        whole["not_followed"] = [{"filename": absolute(path), "why": reason} for path, reason in report.not_followed]
    return json_text(whole) + "\n"


def _object(finding: Finding, sources: Mapping[str, Source], rule: Rule | None, target: Target) -> dict[str, Any]:
    text = _text(finding, sources)
    wrong = rule.correction(finding, text, target) if rule is not None else of_use(text)
    instead, nearest = wrong.instead, None
    if instead is not None and instead.relation == NEAREST:
        instead, nearest = None, instead
    why = None if instead is not None else wrong.why or _WHY.get(wrong.kind, _WHY[USE])
    if nearest is not None:
        why = "what was wanted is not known; nearest is the name that is most like it"
    fix = finding.fix
    return {
        "code": finding.code,
        "rule": finding.name,
        "severity": finding.severity.value,
        "filename": absolute(finding.path),
        "cell": finding.cell,
        **places(finding.span),
        "also_at": [places(span) for span in _other_places(finding)],
        "target": str(target),
        "kind": wrong.kind,
        "written": wrong.written,
        "text": text,
        "written_in_releases": _releases(wrong),
        "instead": _instead(instead, target),
        "nearest": _instead(nearest, target),
        "why_none": why,
        "edit": None
        if fix is None
        else {
            "applicability": fix.applicability.value,
            "message": fix.message,
            "edits": edits_of(fix, finding.path),
            "needs": list(fix.needs),
        },
        "why_no_edit": None if fix is not None else finding.withheld or "no rewrite is known for this",
        "sentence": _sentence(finding),
        "url": rule.url() if rule is not None else None,
    }


def _instead(instead: Instead | None, target: Target) -> dict[str, Any] | None:
    if instead is None:
        return None
    known = target.judged_as
    return {
        "write": instead.name,
        "relation": instead.relation,
        "parameters": None if instead.parameters is None else list(instead.parameters),
        "verified": known is not None and str(known) in instead.releases,
        "releases": list(instead.releases),
        "evidence": instead.evidence or None,
    }


def _text(finding: Finding, sources: Mapping[str, Source]) -> str:
    """Return the text of the file at the place of a finding."""
    key = finding.path if finding.cell is None else f"{finding.path}:cell {finding.cell}"
    source = sources.get(key)
    span = finding.span
    if source is None or not 1 <= span.row <= span.end_row <= len(source.lines):
        return ""
    rows = list(source.lines[span.row - 1 : span.end_row])
    rows[-1] = rows[-1][: span.end_column - 1]
    rows[0] = rows[0][span.column - 1 :]
    return "\n".join(rows)


def _other_places(finding: Finding) -> list[Span]:
    """Return the other places with the same wrong name."""
    uses = [span for name, span in finding.anchors.items() if re.fullmatch(r"use\d+", name)]
    return sorted({span for span in uses if span != finding.span})


def _sentence(finding: Finding) -> str:
    parts = [part.rstrip(". ") for part in (finding.message, finding.outcome, finding.advice) if part]
    return f"{'. '.join(parts)}."


def _releases(wrong: Correction) -> list[str]:
    """Return the releases that have the name as written."""
    if wrong.kind == NAME:
        return list(releases_of(wrong.written)) if names.ever_existed(wrong.written) else []
    return list(of_variable(wrong.written).releases) if wrong.kind == VARIABLE else []
