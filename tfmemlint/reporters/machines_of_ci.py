"""Findings for CI systems: GitLab's code quality, JUnit, reviewdog, Azure Pipelines, TeamCity."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tfmemlint.model.finding import Finding, Severity, Span
from tfmemlint.reporters.fingerprints import fingerprints
from tfmemlint.reporters.json_text import json_text
from tfmemlint.reporters.paint import printable
from tfmemlint.reporters.places import relative

if TYPE_CHECKING:
    from tfmemlint.reporters.formats import Report


def write_gitlab(report: Report) -> str:
    """Return a list of issues. Source: https://docs.gitlab.com/ci/testing/code_quality/#code-quality-report-format"""
    severities = {Severity.ERROR: "major", Severity.WARNING: "minor", Severity.ADVICE: "info"}
    names = fingerprints(report.findings, report.sources)
    issues = [
        {
            "description": f"{finding.severity.value}: {finding.message}",
            "check_name": finding.code,
            "fingerprint": name,
            "severity": severities[finding.severity],
            "location": {
                "path": relative(finding.path),
                "positions": {
                    "begin": {"line": finding.span.row, "column": finding.span.column},
                    "end": {"line": finding.span.end_row, "column": finding.span.end_column},
                },
            },
        }
        for finding, name in zip(report.findings, names, strict=True)
    ]
    return json_text(issues) + "\n"


def write_junit(report: Report) -> str:
    """Return JUnit's XML: a suite for each file, a failed test case for each finding."""
    from xml.etree import ElementTree as Xml

    top = Xml.Element("testsuites", name="tfmemlint", tests=str(len(report.findings) or 1))
    top.set("failures", str(len(report.findings)))
    by_file: dict[str, list[Finding]] = {}
    for finding in report.findings:
        by_file.setdefault(finding.path, []).append(finding)
    if not by_file:
        suite = Xml.SubElement(top, "testsuite", name="tfmemlint", tests="1", failures="0", errors="0")
        Xml.SubElement(suite, "testcase", name="no findings", classname="tfmemlint")
    for path, findings in by_file.items():
        count, where = str(len(findings)), _xml(printable(relative(path)))
        suite = Xml.SubElement(top, "testsuite", name=where, tests=count, failures=count, errors="0")
        for finding in findings:
            place = f"{finding.span.row}:{finding.span.column}"
            name = f"{finding.code} {finding.name} ({place})"
            case = Xml.SubElement(suite, "testcase", name=name, classname=where)
            case.set("line", str(finding.span.row))
            failure = Xml.SubElement(
                case, "failure", type=finding.severity.value, message=_xml(printable(finding.message))
            )
            failure.text = _xml(f"{printable(relative(path))}:{place}: {_words(finding)}")
    Xml.indent(top)
    return '<?xml version="1.0" encoding="utf-8"?>\n' + Xml.tostring(top, encoding="unicode") + "\n"


def write_rdjson(report: Report) -> str:
    """Return reviewdog's diagnostics.

    Source: https://github.com/reviewdog/reviewdog/tree/master/proto/rdf. Columns there are counted in bytes of UTF-8.
    """
    severities = {Severity.ERROR: "ERROR", Severity.WARNING: "WARNING", Severity.ADVICE: "INFO"}

    def place(path: str, span: Span) -> dict[str, Any]:
        source = report.sources.get(path)
        lines = source.lines if source is not None else ()

        def position(row: int, column: int) -> dict[str, int]:
            text = lines[row - 1][: column - 1] if row <= len(lines) else " " * (column - 1)
            return {"line": row, "column": len(text.encode("utf-8", "surrogatepass")) + 1}

        return {"start": position(span.row, span.column), "end": position(span.end_row, span.end_column)}

    diagnostics = []
    for finding in report.findings:
        rule = report.rules.get(finding.code)
        url = rule.url() if rule is not None else ""
        diagnostic: dict[str, Any] = {
            "message": _words(finding),
            "location": {"path": relative(finding.path), "range": place(finding.path, finding.span)},
            "severity": severities[finding.severity],
            "code": {"value": finding.code, **({"url": url} if url else {})},
        }
        if finding.fix is not None and finding.cell is None:
            own = [edit for edit in finding.fix.edits if edit.path in ("", finding.path)]
            if len(own) == len(finding.fix.edits):
                diagnostic["suggestions"] = [
                    {"range": place(finding.path, edit.span), "text": edit.content} for edit in own
                ]
        diagnostics.append(diagnostic)
    source = {"name": "tfmemlint", "url": "https://github.com/tfmemlint/tfmemlint"}
    return json_text({"source": source, "severity": "WARNING", "diagnostics": diagnostics}) + "\n"


def write_azure(report: Report) -> str:
    """Return a logging command for each finding.

    Source: https://learn.microsoft.com/azure/devops/pipelines/scripts/logging-commands. There is no third severity.
    """
    return "".join(_azure(finding) + "\n" for finding in report.findings)


def _azure(finding: Finding) -> str:
    properties = {
        "type": "error" if finding.severity is Severity.ERROR else "warning",
        "sourcepath": relative(finding.path),
        "linenumber": str(finding.span.row),
        "columnnumber": str(finding.span.column),
        "code": finding.code,
    }
    listed = "".join(f"{name}={_azure_property(value)};" for name, value in properties.items())
    words = printable(f"{finding.severity.value}: {finding.message}").replace("%", "%AZP25")
    return f"##vso[task.logissue {listed}]{words}"


def _azure_property(text: str) -> str:
    text = printable(text).replace("%", "%AZP25")
    return text.replace(";", "%3B").replace("]", "%5D").replace("\r", "%0D").replace("\n", "%0A")


def write_teamcity(report: Report) -> str:
    """Return inspections as service messages.

    Source: https://www.jetbrains.com/help/teamcity/service-messages.html#Reporting+Inspections
    """
    severities = {Severity.ERROR: "ERROR", Severity.WARNING: "WARNING", Severity.ADVICE: "WEAK WARNING"}
    lines = []
    known: set[str] = set()
    for finding in report.findings:
        if finding.code not in known:
            known.add(finding.code)
            rule = report.rules.get(finding.code)
            about = {
                "id": finding.code,
                "name": finding.name,
                "description": rule.page().summary if rule is not None else finding.name,
                "category": "tfmemlint",
            }
            lines.append(_service_message("inspectionType", about))
        found = {
            "typeId": finding.code,
            "message": f"{finding.severity.value}: {finding.message}",
            "file": relative(finding.path),
            "line": str(finding.span.row),
            "SEVERITY": severities[finding.severity],
        }
        lines.append(_service_message("inspection", found))
    return "".join(line + "\n" for line in lines)


def _service_message(name: str, attributes: dict[str, str]) -> str:
    listed = " ".join(f"{key}='{_teamcity(value)}'" for key, value in attributes.items())
    return f"##teamcity[{name} {listed}]"


def _teamcity(text: str) -> str:
    text = printable(" ".join(text.split()))
    for sign in "|'[]":
        text = text.replace(sign, f"|{sign}")
    return "".join(sign if sign.isascii() else f"|0x{ord(sign):04X}" if ord(sign) < 0x10000 else "?" for sign in text)


def _words(finding: Finding) -> str:
    """Return a finding as a sentence or several."""
    parts = [f"{finding.severity.value}: {finding.message}"]
    if finding.advice:
        parts.append(f"help: {finding.advice}")
    return "\n".join(map(printable, parts))


def _xml(text: str) -> str:
    """Return a text without characters that XML 1.0 can't have."""
    return "".join(
        sign if sign in "\n\t" or " " <= sign < "\ud800" or "\ue000" <= sign < "\ufffe" or sign > "\uffff" else "\ufffd"
        for sign in text
    )
