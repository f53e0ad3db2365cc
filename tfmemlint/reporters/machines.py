"""Findings for programs: JSON in the shape of ruff's, and annotations for GitHub."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tfmemlint.model.finding import Finding, Fix, Severity, Span, Step
from tfmemlint.model.intent import Intent
from tfmemlint.reporters.json_text import json_text
from tfmemlint.reporters.paint import printable

if TYPE_CHECKING:
    from tfmemlint.reporters.formats import Report
    from tfmemlint.rulekit.rule import Rule

NOT_FOLLOWED = "not-followed-to-the-end"
"""The name of a note, where a finding has that of its rule."""
_COMMANDS = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.ADVICE: "notice"}


def absolute(path: str) -> str:
    """Return a path for programs: absolute, as in ruff's output; ``-`` stays as it is."""
    return path if path == "-" else os.path.normpath(Path(path).absolute())


def write_json(report: Report) -> str:
    """Return a list of objects, one per finding; the first ten keys are ruff's.

    A file that was not followed to its end has an object of the same keys, without a code and with the severity
    ``note``: it is no finding.
    """
    objects = _objects(report)
    return json_text(objects) + "\n" if objects else "[]\n"


def write_json_lines(report: Report) -> str:
    """Return one object a line, each as in `write_json`."""
    return "".join(json_text(found, indent=None) + "\n" for found in _objects(report))


def _objects(report: Report) -> list[dict[str, Any]]:
    found = [_object(finding, report.rules.get(finding.code)) for finding in report.findings]
    return found + [_note(path, reason) for path, reason in report.not_followed]


def _object(finding: Finding, rule: Rule | None) -> dict[str, Any]:
    return {
        "cell": finding.cell,
        "code": finding.code,
        "filename": absolute(finding.path),
        **places(finding.span),
        "message": finding.message,
        "fix": _fix(finding.fix, finding.path),
        "noqa_row": finding.noqa_row or finding.span.end_row,
        "url": (rule.url() or None) if rule is not None else None,
        "severity": finding.severity.value,
        "name": finding.name,
        "intent": _intent(finding.intent),
        "outcome": finding.outcome,
        "advice": finding.advice,
        "notes": list(finding.notes),
        "withheld": finding.withheld,
        "trace": [_step(step) for step in finding.trace],
    }


def _note(path: str, reason: str) -> dict[str, Any]:
    finding = Finding("", NOT_FOLLOWED, Severity.ADVICE, path, Span(1, 1, 1, 1), f"not followed to the end: {reason}")
    return {**_object(finding, None), "code": None, "severity": "note"}


def places(span: Span) -> dict[str, Any]:
    """Return a place in the shape of ruff's JSON."""
    return {
        "location": {"row": span.row, "column": span.column},
        "end_location": {"row": span.end_row, "column": span.end_column},
    }


def _fix(fix: Fix | None, path: str) -> dict[str, Any] | None:
    if fix is None:
        return None
    return {
        "applicability": fix.applicability.value,
        "message": fix.message,
        "edits": edits_of(fix, path),
        "needs": list(fix.needs),
    }


def edits_of(fix: Fix, path: str) -> list[dict[str, Any]]:
    """The edits of the fix of a finding in the file at ``path``, as ruff's JSON has them, each with its own file."""
    return [
        {"content": edit.content, "filename": absolute(edit.path or path), **places(edit.span)} for edit in fix.edits
    ]


def _intent(intent: Intent | None) -> dict[str, Any] | None:
    if intent is None:
        return None
    return {
        "wish": intent.purpose.value,
        "devices": intent.devices,
        "value": intent.json_value,
        "text": intent.text,
    }


def _step(step: Step) -> dict[str, Any]:
    return {"filename": absolute(step.path), **places(step.span), "message": step.words}


def write_github(report: Report) -> str:
    """Return one workflow command per finding; GitHub shows it at the line of a pull request."""
    found = "".join(_annotation(finding) + "\n" for finding in report.findings)
    return found + "".join(_notice(path, reason) + "\n" for path, reason in report.not_followed)


def _notice(path: str, reason: str) -> str:
    words = _data(f"{printable(path)}: not followed to the end: {printable(reason)}")
    return f"::notice file={_property(absolute(path))},title=tfmemlint::{words}"


def _annotation(finding: Finding) -> str:
    span = finding.span
    properties: dict[str, str] = {"file": absolute(finding.path), "line": str(span.row), "endLine": str(span.end_row)}
    if span.row == span.end_row:  # GitHub refuses columns where a span has several lines
        properties |= {"col": str(span.column), "endColumn": str(span.end_column)}
    properties["title"] = f"tfmemlint ({finding.code})"
    listed = ",".join(f"{name}={_property(value)}" for name, value in properties.items())
    message = f"{printable(finding.path)}:{span.row}:{span.column}: {finding.code} {printable(finding.message)}"
    if finding.advice:
        message += f"\n  help: {printable(finding.advice)}"
    return f"::{_COMMANDS[finding.severity]} {listed}::{_data(message)}"


def _data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return printable(_data(text)).replace(":", "%3A").replace(",", "%2C")
