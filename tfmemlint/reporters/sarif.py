"""SARIF 2.1.0, as GitHub code scanning and other viewers read it.

Source: https://docs.oasis-open.org/sarif/sarif/v2.1.0/os/sarif-v2.1.0-os.html
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tfmemlint import __version__
from tfmemlint.model.finding import Finding, Fix, Severity, Span, Step
from tfmemlint.reporters.fingerprints import fingerprints
from tfmemlint.reporters.json_text import json_text
from tfmemlint.reporters.page import markdown
from tfmemlint.reporters.places import address, here

if TYPE_CHECKING:
    from tfmemlint.reporters.formats import Report
    from tfmemlint.rulekit.rule import Rule

SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"
FINGERPRINT = "tfmemlint/v1"
_LEVELS = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.ADVICE: "note"}
_ROOT = "%SRCROOT%"


def write_sarif(report: Report) -> str:
    """Return one run; findings that comments silence are results with a suppression."""
    findings = [*report.findings, *report.suppressed]
    codes = sorted({finding.code for finding in findings})
    rules = [_rule(report.rules[code]) for code in codes if code in report.rules]
    numbers = {rule["id"]: number for number, rule in enumerate(rules)}
    names = fingerprints(findings, report.sources)
    log = {
        "$schema": SCHEMA,
        "version": "2.1.0",
        "runs": [
            {
                "tool": {
                    "driver": {
                        "name": "tfmemlint",
                        "semanticVersion": __version__,
                        "informationUri": "https://github.com/tfmemlint/tfmemlint",
                        "rules": rules,
                    }
                },
                "invocations": [_invocation(report)],
                "columnKind": "unicodeCodePoints",
                "originalUriBaseIds": {_ROOT: {"uri": here()}},
                "results": [_result(finding, name, numbers) for finding, name in zip(findings, names, strict=True)],
            }
        ],
    }
    return json_text(log) + "\n"


def _invocation(report: Report) -> dict[str, Any]:
    """Return the run, with the files that were not followed to their end."""
    notifications = [
        {
            "level": "note",
            "message": {"text": f"not followed to the end: {reason}"},
            "locations": [{"physicalLocation": {"artifactLocation": _artifact(path)}}],
        }
        for path, reason in report.not_followed
    ]
    return {"executionSuccessful": True, "toolExecutionNotifications": notifications}


def _rule(rule: Rule) -> dict[str, Any]:
    page = rule.page()
    text = markdown(rule)
    about: dict[str, Any] = {
        "id": rule.code,
        "name": rule.name,
        "shortDescription": {"text": page.summary},
        "fullDescription": {"text": page.sections.get("What it does", page.summary)},
        "help": {"text": text, "markdown": text},
        "defaultConfiguration": {"level": _LEVELS[rule.severity]},
        "properties": {"tags": ["tensorflow", "gpu-memory"], "problem.severity": _problem(rule.severity)},
    }
    if rule.url():
        about["helpUri"] = rule.url()
    return about


def _problem(severity: Severity) -> str:
    """Return the word of GitHub code scanning for a severity."""
    return "recommendation" if severity is Severity.ADVICE else severity.value


def _result(finding: Finding, name: str, numbers: dict[str, int]) -> dict[str, Any]:
    result: dict[str, Any] = {
        "ruleId": finding.code,
        "level": _LEVELS[finding.severity],
        "message": {"text": _message(finding)},
        "locations": [{"physicalLocation": _place(finding.path, finding.span)}],
        "partialFingerprints": {FINGERPRINT: name},
        "properties": {"severity": finding.severity.value, "name": finding.name},
    }
    if finding.code in numbers:
        result["ruleIndex"] = numbers[finding.code]
    if finding.trace:
        result["relatedLocations"] = [_step(step, number) for number, step in enumerate(finding.trace, 1)]
        steps = [{"location": _step(step)} for step in finding.trace]
        steps.append({"location": _step(Step(finding.path, finding.span, finding.message))})
        result["codeFlows"] = [{"threadFlows": [{"locations": steps}]}]
    if finding.fix is not None and finding.cell is None:
        result["fixes"] = [_fix(finding.fix, finding.path)]
    if finding.suppressed is not None:
        reason = {"justification": finding.suppressed} if finding.suppressed else {}
        result["suppressions"] = [{"kind": "inSource", **reason}]
    if finding.cell is not None:
        result["properties"]["cell"] = finding.cell
    return result


def _message(finding: Finding) -> str:
    parts = [finding.message]
    if finding.outcome:
        outcome = finding.outcome.removeprefix("TensorFlow ")
        parts.append(f"TensorFlow: {outcome}")
    if finding.advice:
        parts.append(f"Help: {finding.advice}")
    parts += finding.notes
    return "\n".join(parts)


def _place(path: str, span: Span) -> dict[str, Any]:
    return {"artifactLocation": _artifact(path), "region": _region(span)}


def _artifact(path: str) -> dict[str, str]:
    found = address(path.partition(":cell ")[0])
    return {"uri": found} if ":" in found.partition("/")[0] else {"uri": found, "uriBaseId": _ROOT}


def _region(span: Span) -> dict[str, int]:
    return {
        "startLine": span.row,
        "startColumn": span.column,
        "endLine": span.end_row,
        "endColumn": span.end_column,
    }


def _step(step: Step, number: int | None = None) -> dict[str, Any]:
    location = {"physicalLocation": _place(step.path, step.span), "message": {"text": step.words}}
    return location if number is None else {"id": number, **location}


def _fix(fix: Fix, path: str) -> dict[str, Any]:
    changes: dict[str, list[dict[str, Any]]] = {}
    for edit in fix.edits:
        replacement = {"deletedRegion": _region(edit.span), "insertedContent": {"text": edit.content}}
        changes.setdefault(edit.path or path, []).append(replacement)
    words = fix.message if fix.applicability.value == "safe" else f"{fix.message} ({fix.applicability.value})"
    return {
        "description": {"text": words},
        "artifactChanges": [
            {"artifactLocation": _artifact(changed), "replacements": replacements}
            for changed, replacements in changes.items()
        ],
    }
