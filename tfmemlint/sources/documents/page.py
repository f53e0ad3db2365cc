"""Saved web pages: their visible text, and the place of each of its characters in the file.

A page is read as the plain text that it shows: without highlighting, entities, line numbers, buttons and scripts; a
heading begins with a number sign and a list item with a dash. The findings in that text are then mapped back to the
rows and columns of the file.
"""

from __future__ import annotations

import dataclasses
import re
from array import array
from bisect import bisect_right

from tfmemlint.model.finding import Finding, Span, Step
from tfmemlint.sources.documents import plain_text
from tfmemlint.sources.documents.blocks import PYTHON, UNKNOWN, Block
from tfmemlint.sources.documents.tags import Reader


@dataclasses.dataclass(frozen=True, slots=True)
class Page:
    """An HTML page.

    Attributes:
        text: its visible text.
        blocks: the code in it, in the rows and columns of ``text``.
        code: the rows of ``text`` that the page shows as code, readable or not.
    """

    text: str
    blocks: tuple[Block, ...]
    code: frozenset[int]
    _rows: tuple[int, ...]
    _starts: array[int]
    _ends: array[int]
    _lines: tuple[int, ...]

    def span(self, span: Span) -> Span:
        """Return the place in the file of a stretch of the text."""
        first = self._index(span.row, span.column)
        last = self._index(span.end_row, span.end_column)
        start = self._starts[first] if first < len(self._starts) else (self._ends[-1] if self._ends else 0)
        end = self._ends[last - 1] if last > first else start
        return Span(*self._place(start), *self._place(max(start, end)))

    def finding(self, finding: Finding) -> Finding:
        """Return a finding in the text as one in the file, without a fix."""
        return dataclasses.replace(
            finding,
            span=self.span(finding.span),
            trace=tuple(
                Step(step.path, self.span(step.span), step.words) if step.path == finding.path else step
                for step in finding.trace
            ),
            anchors={name: self.span(span) for name, span in finding.anchors.items()},
            noqa_row=self.span(Span(finding.noqa_row, 1, finding.noqa_row, 1)).row if finding.noqa_row else 0,
            fixable=False,
            fix=None,
        )

    def _index(self, row: int, column: int) -> int:
        row = min(max(row, 1), len(self._rows))
        return min(self._rows[row - 1] + column - 1, len(self.text))

    def _place(self, offset: int) -> tuple[int, int]:
        row = bisect_right(self._lines, offset)
        return row, offset - self._lines[row - 1] + 1


def read(text: str) -> Page:
    """Read a page; invalid HTML is read up to its error. Never raises."""
    reader = Reader(text)
    reader.read()
    shown = "".join(reader.chars)
    rows = _line_starts(shown)
    return Page(
        shown,
        tuple(_blocks(shown, reader.code)),
        frozenset(row for first, last, _ in reader.code for row in range(first, last + 1)),
        rows,
        reader.starts,
        reader.ends,
        _line_starts(text),
    )


def _line_starts(text: str) -> tuple[int, ...]:
    return (0, *(match.end() for match in re.finditer("\n", text)))


def _blocks(shown: str, code: list[tuple[int, int, str]]) -> list[Block]:
    """Return the code of a page: the code that is marked as another language, and all readable Python."""
    lines = shown.split("\n")
    found: list[Block] = []
    left = list(lines)
    for first, last, language in code:
        body = lines[first - 1 : last]
        if language in (UNKNOWN, PYTHON):
            made = plain_text.whole(body, first)
            if made is None:
                continue
        else:
            made = Block(
                language,
                "".join(f"{line}\n" for line in body),
                tuple(range(first, last + 1)),
                (0,) * len(body),
                fixable=False,
            )
        found.append(made)
        left[first - 1 : last] = [""] * len(body)
    found += plain_text.blocks("\n".join(left))
    return sorted((dataclasses.replace(block, fixable=False) for block in found), key=lambda block: block.rows)
