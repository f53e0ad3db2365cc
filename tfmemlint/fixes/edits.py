"""Turn the difference between two texts into edits, and apply edits to a text."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import accumulate

from tfmemlint.model.finding import Edit, Span
from tfmemlint.sources.line_changes import line_changes


def difference(old: str, new: str) -> tuple[Edit, ...]:
    """Return the replacements of whole lines that turn ``old`` into ``new``, in order and as few as possible."""
    before, after = _lines(old), _lines(new)
    found = []
    for tag, start, end, first, last in line_changes(before, after):
        if tag != "equal":
            row, column = _place(before, start)
            end_row, end_column = _place(before, end)
            found.append(Edit(Span(row, column, end_row, end_column), "".join(after[first:last])))
    return tuple(found)


def apply(text: str, edits: Iterable[Edit]) -> str:
    """Return ``text`` with ``edits`` applied. Insertions at one place keep the order in which they are given.

    Raises:
        ValueError: two edits overlap, or one lies outside of the text.
    """
    edits = sorted(edits, key=lambda edit: edit.span)
    # Only the lines up to the last edit are looked at, and not the empty ones at the top: of a program in a long
    # document, most lines are of these.
    above = len(text) - len(text.lstrip("\n"))
    last = max((max(edit.span.row, edit.span.end_row) for edit in edits), default=0)
    lines = text[above:].split("\n", max(last - above, 0))
    starts = list(accumulate((len(line) + 1 for line in lines), initial=above))
    rows = text.count("\n") + (not text.endswith("\n") and bool(text)) + 1

    def offset(row: int, column: int) -> int:
        if 1 <= row <= rows:
            start = row - 1 if row <= above else min(starts[row - above - 1], len(text))
            if start + column - 1 <= len(text):
                return start + column - 1
        raise ValueError(f"there is no line {row}, column {column}")

    parts, done = [], 0
    for edit in edits:
        start = offset(edit.span.row, edit.span.column)
        if start < done:
            raise ValueError(f"edits overlap in line {edit.span.row}")
        parts += [text[done:start], edit.content]
        done = offset(edit.span.end_row, edit.span.end_column)
    return "".join([*parts, text[done:]])


def overlap(first_edit: Edit, other: Edit) -> bool:
    """True if two edits touch the same text. Two insertions at one place do."""
    first, second = sorted((first_edit.span, other.span))
    if (first.row, first.column) == (second.row, second.column):
        return True
    return (second.row, second.column) < (first.end_row, first.end_column)


def _lines(text: str) -> list[str]:
    # str.splitlines would also split at form feeds and the like, which Python does not take for line ends.
    lines = text.split("\n")
    return [line + "\n" for line in lines[:-1]] + ([lines[-1]] if lines[-1] else [])


def _place(lines: list[str], index: int) -> tuple[int, int]:
    if index == len(lines) and lines and not lines[-1].endswith("\n"):
        return len(lines), len(lines[-1]) + 1
    return index + 1, 1
