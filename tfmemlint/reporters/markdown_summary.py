"""A summary in Markdown, as for ``$GITHUB_STEP_SUMMARY``."""

from __future__ import annotations

import re
from collections import Counter
from typing import TYPE_CHECKING

from tfmemlint.reporters.paint import printable
from tfmemlint.reporters.places import relative

if TYPE_CHECKING:
    from tfmemlint.reporters.formats import Report

MAX_ROWS = 200
"""Findings in the table: GitHub refuses a summary of more than 1 MiB, and nobody reads a longer table."""
_SIGNS = re.compile(r"([\\`*_{}\[\]<>|#~])")


def write_markdown(report: Report) -> str:
    """Return a heading with the number of findings, and a table of them."""
    findings = report.findings
    left = [
        f"- {_plain(relative(path))} was not followed to the end: {_plain(why)}" for path, why in report.not_followed
    ]
    if not findings:
        return "\n".join(["## tfmemlint", "", *(left or ["All checks passed!"])]) + "\n"
    counts = Counter(finding.severity.value for finding in findings)
    found = ", ".join(f"{counts[word]} {word}" for word in ("error", "warning", "advice") if counts[word])
    lines = [f"## tfmemlint: {found}", "", "| severity | place | rule | finding |", "|---|---|---|---|"]
    for finding in findings[:MAX_ROWS]:
        rule = report.rules.get(finding.code)
        url = rule.url() if rule is not None else ""
        code = f"[{finding.code}]({url})" if url else finding.code
        cell = "" if finding.cell is None else f" cell {finding.cell}"
        place = f"{_plain(relative(finding.path))}{cell}:{finding.span.row}"
        lines.append(f"| {finding.severity.value} | {place} | {code} | {_plain(finding.message)} |")
    if len(findings) > MAX_ROWS:
        lines += ["", f"and {len(findings) - MAX_ROWS} more"]
    if left:
        lines += ["", *left]
    return "\n".join(lines) + "\n"


def _plain(text: str) -> str:
    return _SIGNS.sub(r"\\\1", printable(text))
