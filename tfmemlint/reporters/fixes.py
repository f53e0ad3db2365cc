"""The fixes that were made, file by file, and the reasons for withheld ones."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import groupby
from typing import IO

from tfmemlint.model.finding import Applicability, Finding
from tfmemlint.reporters.paint import Line, Segment, painter, printable


def show_fixes(
    applied: Sequence[Finding],
    remaining: Sequence[Finding],
    problems: Mapping[str, str],
    stream: IO[str],
    *,
    planned: bool = False,
    color: bool | None = None,
) -> None:
    """Print each fix that was made, with the line of its finding, and how often fixes were withheld for each reason.

    Args:
        applied: findings that are gone, each with its fix.
        remaining: findings that are left.
        problems: files that could not be written, each with the reason.
        planned: nothing was written, only shown.
    """
    lines: list[Line] = []
    for path, group in groupby(sorted(applied, key=lambda finding: finding.sort_key), key=lambda finding: finding.path):
        lines.append([Segment(printable(path), "label")])
        lines.extend(_made(finding) for finding in group)
    reasons = Counter(finding.withheld for finding in remaining if finding.withheld)
    files = len({finding.path for finding in applied} - problems.keys())
    if applied:
        what = "would be changed" if planned else "changed"
        lines.append([Segment(f"{_count(files, 'file')} {what}, {_count(len(applied), 'fix', 'fixes')}.")])
    for reason, count in sorted(reasons.items(), key=lambda item: (-item[1], item[0])):
        lines.append([Segment(f"{count} withheld: ", "dim"), Segment(printable(reason))])
    painter(stream, color)(lines)


def _made(finding: Finding) -> Line:
    fix = finding.fix
    words = fix.message if fix is not None else ""
    unsafe = " (unsafe)" if fix is not None and fix.applicability is Applicability.UNSAFE else ""
    cell = "" if finding.cell is None else f"cell {finding.cell}:"
    row = f"  {cell}{finding.span.row}: "
    return [Segment(row, "dim"), Segment(finding.code, "label"), Segment(f" {printable(words)}{unsafe}")]


def _count(number: int, singular: str, many: str = "") -> str:
    return f"{number} {singular if number == 1 else many or singular + 's'}"
