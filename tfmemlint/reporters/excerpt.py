"""The lines of source around a finding, numbered, with a marker at the place."""

from __future__ import annotations

from collections.abc import Sequence

from tfmemlint.model.finding import Span
from tfmemlint.model.records import dataclass
from tfmemlint.reporters.paint import Line, Segment, cells

ROWS = 7
"""For a span with more rows than this, the middle is left out."""
_ELLIPSIS = "..."
_LONGEST = 4000  # characters of a line that are looked at


@dataclass(frozen=True, slots=True)
class Excerpt:
    """Lines to print, the rows that they show, and the columns of the line numbers."""

    lines: list[Line]
    rows: frozenset[int]
    gutter: int


@dataclass(frozen=True, slots=True)
class _Frame:
    """The part of each line to show: display columns ``left`` to ``left + width``, after ``base`` characters."""

    base: int
    left: int
    width: int

    def column(self, text: str, column: int) -> int:
        """Return the display column, from 0, of the character at ``column``, which counts from 1."""
        return sum(width for _, width in cells(text[self.base : max(self.base, column - 1)]))

    def place(self, text: str, column: int) -> int:
        """Return the column in the frame of the character at ``column``, moved to the edge if it is outside."""
        return min(max(self.column(text, column) - self.left, 0), self.width)

    def shows(self, text: str) -> bool:
        """Return True if any of a line is in the frame, or the line is shown from its start."""
        return self.left == 0 or bool(self.cut(text).strip(_ELLIPSIS[0]))

    def cut(self, text: str) -> str:
        """Return the part of a line that is shown; dots replace the omitted parts."""
        shown = cells(text[self.base : self.base + _LONGEST])
        total = sum(width for _, width in shown)
        before = (self.left > 0 or self.base > 0) and bool(shown)
        after = total > self.left + self.width or len(text) > self.base + _LONGEST
        if not before and not after:
            return "".join(char for char, _ in shown).rstrip()
        low = self.left + len(_ELLIPSIS) * before
        high = self.left + self.width - len(_ELLIPSIS) * after
        if total <= low:
            return _ELLIPSIS
        kept: list[str] = []
        start = 0
        for char, width in shown:
            end = start + width
            if start >= low and end <= high:
                kept.append(char)
            elif end > low and start < high:  # half of a wide character is none: keep what follows in its column
                kept.append(" " * (min(end, high) - max(start, low)))
            start = end
        return (_ELLIPSIS * before + "".join(kept) + _ELLIPSIS * after).rstrip()


def excerpt(lines: Sequence[str], span: Span, *, width: int, style: str, context: int = 2) -> Excerpt | None:
    """Return the rows of ``span`` and ``context`` rows around it, at most ``width`` columns wide; None if it is
    outside."""
    place = _within(lines, span)
    if place is None:
        return None
    span = place
    first, last = max(1, span.row - context), min(len(lines), span.end_row + context)
    while first < span.row and not lines[first - 1].strip():
        first += 1
    while last > span.end_row and not lines[last - 1].strip():
        last -= 1
    rows = [row for row in range(first, last + 1) if not _left_out(span, row)]
    gutter = len(str(last))
    several = span.end_row > span.row
    frame = _frame([lines[row - 1] for row in rows], lines[span.row - 1], span, width - gutter - 3 - 2 * several)
    rows = [row for row in rows if span.row <= row <= span.end_row or frame.shows(lines[row - 1])]
    blank = Segment(" " * gutter + " |", "frame")
    out: list[Line] = [[blank]]
    for row in rows:
        text = frame.cut(lines[row - 1])
        inside = several and span.row <= row <= span.end_row
        rail, under = _rail(frame, lines[row - 1], span, row) if inside else ("  " if several else "", "")
        out.append(_numbered(str(row).rjust(gutter), rail, text, style))
        if row == span.row and not several:
            under = _marker(frame, lines[row - 1], span)
        if under:
            out.append([blank, Segment(" " + under, style)])
        if several and _left_out(span, row + 1):
            out.append([Segment(" " * gutter + " | ", "frame"), Segment("| ", style), Segment(_ELLIPSIS, "dim")])
    out.append([blank])
    return Excerpt(out, frozenset(rows), gutter)


def one_line(text: str, column: int, width: int) -> str:
    """Return one line of source without its indent, cut to ``width`` columns around ``column``."""
    bare = text.lstrip()
    column -= len(text) - len(bare)
    span = Span(1, max(1, column), 1, max(2, column + 1))
    return _frame([bare], bare, span, width).cut(bare)


def _within(lines: Sequence[str], span: Span) -> Span | None:
    """Return ``span`` cut to the existing text, at least one character wide, and not ending before a row's start."""
    if not 1 <= span.row <= len(lines):
        return None
    end_row, end_column = max(span.row, span.end_row), span.end_column
    if end_row > len(lines) or (end_row > span.row and end_column <= 1):
        end_row = min(end_row - 1, len(lines))
        end_column = len(lines[end_row - 1]) + 1
    column = max(1, min(span.column, len(lines[span.row - 1]) + 1))
    if end_row == span.row:
        end_column = max(column + 1, min(end_column, len(lines[span.row - 1]) + 1))
    return Span(span.row, column, end_row, end_column)


def _left_out(span: Span, row: int) -> bool:
    return span.end_row - span.row >= ROWS and span.row + 3 < row < span.end_row - 1


def _frame(shown: Sequence[str], text: str, span: Span, width: int) -> _Frame:
    """Return the frame that shows the start of ``span``, and its end too if there is room."""
    width = max(width, 20)
    base = 0 if all(len(line) <= _LONGEST for line in shown) else max(0, span.column - 1 - _LONGEST // 4)
    whole = _Frame(base, 0, width)
    longest = max(whole.column(line, min(len(line), base + _LONGEST) + 1) for line in shown)
    if longest <= width:
        return whole
    start = whole.column(text, span.column)
    end = whole.column(text, span.end_column) if span.row == span.end_row else start + 1
    if end <= width - len(_ELLIPSIS):
        return whole
    room = width - 2 * len(_ELLIPSIS) - (end - start)
    return _Frame(base, max(0, start - len(_ELLIPSIS) - max(4, room // 2)), width)


def _numbered(number: str, rail: str, text: str, style: str) -> Line:
    if not text and not rail.strip():
        return [Segment(f"{number} |", "frame")]
    line = [Segment(f"{number} | ", "frame")]
    return [*line, Segment(rail, style), Segment(text)] if rail else [*line, Segment(text)]


def _marker(frame: _Frame, text: str, span: Span) -> str:
    start, end = frame.place(text, span.column), frame.place(text, span.end_column)
    return " " * start + "^" * max(1, end - start)


def _rail(frame: _Frame, text: str, span: Span, row: int) -> tuple[str, str]:
    """Return the text to the left of a row of a span over several rows, and the marker below it."""
    if row == span.row:
        if not text[: span.column - 1].strip():
            return "/ ", ""
        return "  ", " " + "_" * (frame.place(text, span.column) + 1) + "^"
    if row == span.end_row:
        return "| ", "|" + "_" * max(1, frame.place(text, span.end_column)) + "^"
    return "| ", ""
