"""Reports for programs, read back: JSON, JSON lines and SARIF, as ``check`` has written them.

JSON has all that a finding is made of. SARIF has what its viewers show; what it lacks (the intent, the row of a
``noqa`` comment) is not made up.
"""

from __future__ import annotations

import dataclasses
import json
import os
from collections.abc import Iterable, Mapping
from dataclasses import field
from typing import Any
from urllib.parse import unquote, urlsplit

from tfmemlint.model.codes import is_label
from tfmemlint.model.finding import Applicability, Edit, Finding, Fix, Severity, Span, Step
from tfmemlint.model.intent import Intent, Purpose
from tfmemlint.model.records import dataclass
from tfmemlint.reporters.machines import NOT_FOLLOWED
from tfmemlint.reporters.places import relative
from tfmemlint.sources import Source, Unreadable, decode
from tfmemlint.sources.regular import can_name_a_file, read_regular
from tfmemlint.sources.text import read_bytes

MAX_REPORT_BYTES = 2**30
"""Bytes of a report: some 500,000 findings of JSON."""
_MAX_PLACE = 2**31
"""A row, a column or a cell from here on is in no file that is read."""
_NOT_FOLLOWED = "not followed to the end: "
_LEVELS = {"error": Severity.ERROR, "warning": Severity.WARNING, "note": Severity.ADVICE}


class ReportError(Exception):
    """A report can't be read; the text is a message that names it."""


@dataclass(slots=True)
class ReadReport:
    """The content of one report, or of several.

    Attributes:
        findings: what was found.
        suppressed: the findings that comments silence (SARIF alone has them).
        not_followed: the files that were not followed to their end, each with the reason.
    """

    findings: list[Finding] = field(default_factory=list)
    suppressed: list[Finding] = field(default_factory=list)
    not_followed: list[tuple[str, str]] = field(default_factory=list)


def read_report(path: str) -> ReadReport:
    """Return the content of a report.

    Raises:
        ReportError: it can't be read, or is none of JSON, JSON lines and SARIF.
    """
    try:
        text = read_regular(path, MAX_REPORT_BYTES).decode("utf-8-sig")
    except OSError as error:
        raise ReportError(f"{path}: {error.strerror or error}") from None
    except UnicodeDecodeError:
        raise ReportError(f"{path}: is no report: not UTF-8") from None
    try:
        return _of_data(_data_of(text))
    except (LookupError, TypeError, ValueError, AttributeError, RecursionError):
        words = "is no report that can be merged: json, json-lines and sarif are read"
        raise ReportError(f"{path}: {words}") from None


def merged(reports: Iterable[ReadReport]) -> ReadReport:
    """Return one report of several, in the order of files and rows; what is in two of them is in it once."""
    whole = ReadReport()
    for report in reports:
        whole.findings += report.findings
        whole.suppressed += report.suppressed
        whole.not_followed += report.not_followed
    whole.findings = _once(whole.findings)
    whole.suppressed = _once(whole.suppressed)
    whole.not_followed = sorted(set(whole.not_followed))
    return whole


def sources_of(report: ReadReport) -> dict[str, Source]:
    """Return the texts that findings are in and traces lead through, of the files that are there.

    Only files below the working directory are read, links followed first: a report that somebody else has written must
    not have other files quoted, such as keys.

    The texts of cells are by ``path:cell N``, as findings in notebooks name them.
    """
    found: dict[str, Source] = {}
    top = os.path.realpath(os.curdir)
    for finding in (*report.findings, *report.suppressed):
        steps = [step.path for step in finding.trace]
        for shown in (finding.path, *steps, f"{finding.path}:cell {finding.cell}" if finding.cell else ""):
            path, _, cell = shown.partition(":cell ")
            if path and path not in found and _is_below(path, top):
                try:
                    found[path] = decode(path, read_bytes(path))
                except Unreadable:
                    continue
            source = found.get(path)
            if cell.isdigit() and hasattr(source, "cell_text"):
                try:
                    found[shown] = Source(path, source.cell_text(int(cell)))  # type: ignore[union-attr]
                except (IndexError, KeyError, ValueError):
                    continue
    return found


def _is_below(path: str, top: str) -> bool:
    """True if the file at ``path`` lies below the directory ``top``."""
    return os.path.commonpath([os.path.realpath(path), top]) == top


def in_rows_of_files(findings: Iterable[Finding], sources: Mapping[str, Source]) -> list[Finding]:
    """Return findings with the rows of the files that store notebooks, for formats that do not know cells."""
    made = []
    for finding in findings:
        source = sources.get(finding.path)
        if finding.cell is not None and hasattr(source, "raw_row"):
            span = finding.span
            first, last = (source.raw_row(finding.cell, row) for row in (span.row, span.end_row))  # type: ignore[union-attr]
            finding = dataclasses.replace(finding, span=Span(first, 1, last, 1))
        made.append(finding)
    return made


def _once(findings: Iterable[Finding]) -> list[Finding]:
    known = {repr(finding): finding for finding in findings}
    return sorted(known.values(), key=lambda finding: (finding.sort_key, finding.cell or 0))


def _data_of(text: str) -> Any:
    """Return the data of JSON, or of JSON lines as a list."""
    try:
        data = json.loads(text)
    except ValueError:
        return [json.loads(line) for line in text.splitlines() if line.strip()]
    # One line of JSON lines is an object, as SARIF is.
    return [data] if isinstance(data, dict) and "runs" not in data else data


def _of_data(data: Any) -> ReadReport:
    report = ReadReport()
    if isinstance(data, dict):
        for run in _list(data["runs"]):
            _add_run(run, report)
        return report
    for entry in _list(data):
        if entry["code"] is None and entry["name"] == NOT_FOLLOWED:
            reason = _text(entry["message"]).removeprefix(_NOT_FOLLOWED)
            report.not_followed.append((_shown(entry["filename"]), reason))
        else:
            report.findings.append(_of_json(entry))
    return report


def _of_json(entry: Mapping[str, Any]) -> Finding:
    path = _shown(entry["filename"])
    intent, fix = entry["intent"], entry["fix"]
    return Finding(
        code=_label(entry["code"]),
        name=_label(entry["name"]),
        severity=Severity(entry["severity"]),
        path=path,
        span=_span(entry),
        message=_text(entry["message"]),
        intent=None
        if intent is None
        else Intent(Purpose(intent["wish"]), _text(intent["devices"]), _value(intent["value"]), _text(intent["text"])),
        outcome=_text(entry["outcome"]),
        advice=_text(entry["advice"]),
        notes=tuple(map(_text, _list(entry["notes"]))),
        trace=tuple(
            Step(_shown(step["filename"]), _span(step), _text(step["message"])) for step in _list(entry["trace"])
        ),
        fixable=fix is not None or bool(entry["withheld"]),
        withheld=_text(entry["withheld"]),
        cell=None if entry["cell"] is None else _number(entry["cell"]),
        noqa_row=_number(entry["noqa_row"]),
        fix=None
        if fix is None
        else Fix(
            Applicability(fix["applicability"]),
            _text(fix["message"]),
            tuple(_edit(edit, path) for edit in _list(fix["edits"])),
            tuple(map(_text, _list(fix["needs"]))),
        ),
    )


def _edit(edit: Mapping[str, Any], path: str) -> Edit:
    changed = _shown(edit["filename"])
    return Edit(_span(edit), _text(edit["content"]), "" if changed == path else changed)


def _span(entry: Mapping[str, Any]) -> Span:
    first, last = entry["location"], entry["end_location"]
    return Span(*(_number(place[key]) for place in (first, last) for key in ("row", "column")))


def _text(value: object) -> str:
    if not isinstance(value, str):
        raise TypeError("not a text")
    return value


def _list(value: object) -> list[Any]:
    if not isinstance(value, list):
        raise TypeError("not a list")
    return value


def _label(value: object) -> str:
    """Return the code or the name of a rule, which reports print as it is."""
    text = _text(value)
    if not is_label(text):
        raise ValueError("no rule has this code or name")
    return text


def _number(value: object) -> int:
    """Return a row, a column, or the number of a cell."""
    if type(value) is not int:
        raise TypeError("not a whole number")
    if not 0 <= value < _MAX_PLACE:
        raise ValueError("no place in a file")
    return value


def _value(value: object) -> float | int | str | None:
    """Return the value of an intent."""
    if value is not None and not isinstance(value, (int, float, str)):
        raise TypeError("not a plain value")
    return value


def _shown(path: object) -> str:
    """Return a path as reports for people show it: relative to the working directory if it is below it."""
    text = _text(path)
    if not text or not can_name_a_file(text):
        raise ValueError("no file has this name")
    return text if text == "-" else relative(text).replace("/", os.sep)


def _add_run(run: Mapping[str, Any], report: ReadReport) -> None:
    """Add one run of SARIF."""
    for invocation in _list(run.get("invocations", [])):
        for notice in _list(invocation.get("toolExecutionNotifications", [])):
            place = notice["locations"][0]["physicalLocation"]
            reason = _text(notice["message"]["text"]).removeprefix(_NOT_FOLLOWED)
            report.not_followed.append((_path_of(place), reason))
    for result in _list(run["results"]):
        suppressions = result.get("suppressions")
        finding = _of_sarif(result)
        if suppressions:
            reason = _text(suppressions[0].get("justification", ""))
            report.suppressed.append(dataclasses.replace(finding, suppressed=reason))
        else:
            report.findings.append(finding)


def _of_sarif(result: Mapping[str, Any]) -> Finding:
    place = result["locations"][0]["physicalLocation"]
    path, about = _path_of(place), result.get("properties", {})
    message, *rest = _text(result["message"]["text"]).split("\n")
    outcome = next((line for line in rest if line.startswith("TensorFlow: ")), "")
    advice = next((line for line in rest if line.startswith("Help: ")), "")
    fixes = _list(result.get("fixes", []))
    severity = about.get("severity")
    return Finding(
        code=_label(result["ruleId"]),
        name=_label(about.get("name", "")),
        severity=Severity(severity) if severity else _LEVELS[result["level"]],
        path=path,
        span=_region(place["region"]),
        message=message,
        outcome=outcome.removeprefix("TensorFlow: "),
        advice=advice.removeprefix("Help: "),
        notes=tuple(line for line in rest if line not in (outcome, advice)),
        trace=tuple(
            Step(
                _path_of(step["physicalLocation"]),
                _region(step["physicalLocation"]["region"]),
                _text(step["message"]["text"]),
            )
            for step in _list(result.get("relatedLocations", []))
        ),
        fixable=bool(fixes),
        fix=_sarif_fix(fixes[0], path) if fixes else None,
    )


def _sarif_fix(fix: Mapping[str, Any], path: str) -> Fix:
    words = _text(fix["description"]["text"])
    applicability = Applicability.SAFE
    for other in (Applicability.UNSAFE, Applicability.DISPLAY):
        if words.endswith(f" ({other.value})"):
            applicability, words = other, words.removesuffix(f" ({other.value})")
    edits = []
    for change in fix["artifactChanges"]:
        changed = _uri(change["artifactLocation"])
        for replacement in change["replacements"]:
            content = _text(replacement["insertedContent"]["text"])
            edits.append(Edit(_region(replacement["deletedRegion"]), content, "" if changed == path else changed))
    return Fix(applicability, words, tuple(edits))


def _region(region: Mapping[str, Any]) -> Span:
    return Span(*(_number(region[key]) for key in ("startLine", "startColumn", "endLine", "endColumn")))


def _path_of(place: Mapping[str, Any]) -> str:
    return _uri(place["artifactLocation"])


def _uri(artifact: Mapping[str, Any]) -> str:
    uri = _text(artifact["uri"])
    parts = urlsplit(uri)
    return _shown(unquote(parts.path if parts.scheme == "file" else uri))
