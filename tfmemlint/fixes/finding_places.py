"""Follow findings through the texts of one file, from one fix to the next."""

from __future__ import annotations

import dataclasses
import re
from collections import Counter
from collections.abc import Sequence
from functools import lru_cache

from tfmemlint.model.finding import CAME_TO_LIGHT, Finding, Span
from tfmemlint.sources.line_changes import line_changes

Place = tuple[object, ...]
"""The key of a finding within one text, see `place`."""


def place(finding: Finding) -> Place:
    """Return a key that identifies a finding within one text."""
    # Other fixes may move the lines that the message names.
    return finding.code, finding.span, re.sub(r"\bline \d+|:\d+\b", "line", re.sub(r"\s+", " ", finding.message))


def keys_in_new_text(places: dict[Place, str], old: str, new: str) -> dict[Place, str]:
    """Return the keys of findings in ``old`` as they are in ``new``, for lines that did not change."""
    if not places:
        return places
    rows = _rows(old, new)
    found: dict[Place, str] = {}
    for (code, span, message), reason in places.items():
        assert isinstance(span, Span)
        if span.row in rows and span.end_row in rows:
            moved = Span(rows[span.row], span.column, rows[span.end_row], span.end_column)
            found[code, moved, message] = reason
    return found


@lru_cache(maxsize=4)
def _rows(old: str, new: str) -> dict[int, int]:
    """Return the new row of each line of ``old`` that is still in ``new``."""
    rows: dict[int, int] = {}
    for kind, first, end, second, _ in line_changes(old.split("\n"), new.split("\n")):
        if kind == "equal":
            rows.update({first + number + 1: second + number + 1 for number in range(end - first)})
    return rows


def in_first_text(finding: Finding, first: str, text: str) -> Finding:
    """Return a finding of ``text`` at its row in the ``first`` text, or at the row just above if it is new."""
    if text == first:
        return finding
    rows = _rows(text, first)
    span = finding.span
    row = next((rows[row] for row in range(span.row, 0, -1) if row in rows), 1)
    if row == span.row:
        return finding
    moved = Span(row, span.column, row + span.end_row - span.row, span.end_column)
    return dataclasses.replace(finding, span=moved)


def marked(applied: Sequence[Finding], found_first: Sequence[Finding]) -> list[Finding]:
    """Return the fixed findings, those marked that came to light by another fix: nobody was told of them before."""
    left = Counter(finding.code for finding in found_first)
    found: list[Finding] = []
    for finding in applied:
        known = left[finding.code] > 0
        left[finding.code] -= known
        details = finding.details if known else {**finding.details, CAME_TO_LIGHT: True}
        found.append(dataclasses.replace(finding, details=details))
    return found
