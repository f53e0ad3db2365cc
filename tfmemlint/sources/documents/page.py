"""Saved web pages: what a reader sees of them, and where each character of it stands in the file.

A page is read as the plain text that it shows: highlighting, entities, numbers of lines, buttons and scripts are not
in it; a heading begins with a number sign and an item of a list with a dash, as in a text. What is found in that text
is then carried back to the rows and columns of the file.
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
    """A page of HTML.

    Attributes:
        text: what it shows. blocks: the code in it, in the rows and columns of ``text``.
        code: the rows of ``text`` that the page shows as code, whether or not it can be read.
    """

    text: str
    blocks: tuple[Block, ...]
    code: frozenset[int]
    _rows: tuple[int, ...]
    _starts: array[int]
    _ends: array[int]
    _lines: tuple[int, ...]

    def span(self, span: Span) -> Span:
        """Where a stretch of the text stands in the file."""
        first = self._index(span.row, span.column)
        last = self._index(span.end_row, span.end_column)
        start = self._starts[first] if first < len(self._starts) else (self._ends[-1] if self._ends else 0)
        end = self._ends[last - 1] if last > first else start
        return Span(*self._place(start), *self._place(max(start, end)))

    def finding(self, finding: Finding) -> Finding:
        """A finding in the text as one in the file, where nothing is changed in place."""
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
    """What a page shows; bad HTML is read as far as it goes, and never raises."""
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
    """The code of a page: what is marked as code of another language, and all the Python that can be read."""
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
