"""One repository, checked in this process: its findings as plain data."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

from tfmemlint.api.convert import sources_of
from tfmemlint.api.functions import runs
from tfmemlint.api.request import ConfigError, Options, analysis
from tfmemlint.history.objects import History, HistoryError
from tfmemlint.model.finding import Finding
from tfmemlint.reporters.cells import in_cells
from tfmemlint.reporters.fingerprints import fingerprints
from tfmemlint.reporters.formats import Report
from tfmemlint.reporters.places import relative
from tfmemlint.reporters.sarif import write_sarif
from tfmemlint.rulekit.rule import rules

Record = dict[str, Any]
"""All that is known of one repository, as data for JSON."""


def judge(directory: str, options: dict[str, Any]) -> Record:
    """Return what is found in a repository. The working directory is its top afterwards.

    Args:
        directory: its top.
        options: fields of `tfmemlint.api.request.Options`.
    """
    try:
        os.chdir(directory)
    except OSError as error:
        return {"outcome": "missing", "problem": error.strerror or str(error)}
    try:
        with analysis():
            made = runs([os.curdir], Options(**options), explain_fixes="always")
            files, rows, problems = 0, [], []
            by_code = {rule.code: rule for rule in rules()}
            sarif: Record = {}
            for results, context, found_problems in made:
                files += len(results)
                problems += [f"{path}: {words}" for path, words in found_problems]
                found = sorted((f for result in results for f in result.findings), key=lambda f: f.sort_key)
                sources = sources_of(results, found, context)
                names = fingerprints(found, sources)
                cut = [(result.path, reason) for result in results for reason in result.not_followed]
                placed, texts = in_cells(found, sources)
                rows += [_row(finding, name) for finding, name in zip(placed, names, strict=True)]
                in_rows, texts = in_cells(found, sources, rows_of_file=True)
                report = Report(in_rows, texts, by_code, context.target_of, not_followed=cut)
                sarif = json.loads(write_sarif(report))["runs"][0]
    except ConfigError as error:
        return {"outcome": "failed", "problem": f"its configuration can't be followed: {error}", "commit": _commit()}
    return {
        "outcome": "checked",
        "problem": "; ".join(problems),
        "commit": _commit(),
        "files": files,
        "findings": rows,
        "rules": sarif.get("tool", {}).get("driver", {}).get("rules", []),
        "results": sarif.get("results", []),
        "notifications": sarif.get("invocations", [{}])[0].get("toolExecutionNotifications", []),
    }


def _commit() -> str:
    """Return the commit that is checked out; "" where none is known."""
    try:
        return History(os.curdir).commit("HEAD") if Path(".git").exists() else ""
    except HistoryError:
        return ""


def _row(finding: Finding, fingerprint: str) -> Record:
    fix = finding.fix
    return {
        "path": relative(finding.path),
        "cell": finding.cell,
        "row": finding.span.row,
        "column": finding.span.column,
        "end_row": finding.span.end_row,
        "end_column": finding.span.end_column,
        "code": finding.code,
        "name": finding.name,
        "severity": finding.severity.value,
        "message": finding.message,
        "outcome": finding.outcome,
        "advice": finding.advice,
        "intent": finding.intent.purpose.value if finding.intent is not None else "",
        "fix": fix.applicability.value if fix is not None else "",
        "fix_message": fix.message if fix is not None else "",
        "withheld": finding.withheld,
        "fingerprint": fingerprint,
    }
