"""The rows and columns of a text, for what is read from parts of it."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable

from tfmemlint.model.finding import Span


class Places:
    """Rows and columns of a text, or of a text joined from its parts.

    ``offsets`` are the offsets in the file of the characters of a joined text.
    """

    def __init__(self, text: str, offsets: list[int] | None = None) -> None:
        self.text = text
        self._offsets = offsets
        self._starts = [0]
        for found in re.finditer("\n", text):
            self._starts.append(found.end())

    def of_part(self, offsets: list[int]) -> Places:
        """Return the places of a text that was joined from characters of this one, at these offsets."""
        part = Places.__new__(Places)
        part.text, part._starts, part._offsets = self.text, self._starts, offsets
        return part

    def of_lines(self, lines: Iterable[tuple[str, Places]]) -> Places:
        """Return the places of a text that was joined from parts of this one, each followed by a newline."""
        offsets: list[int] = []
        for text, places in lines:
            own = places._offsets
            offsets += range(len(text)) if own is None else own[: len(text)]
            offsets.append(offsets[-1] if offsets else 0)
        return self.of_part(offsets)

    def shifted(self, by: int, length: int) -> Places:
        """Return the places of ``length`` characters of the text, from ``by`` on."""
        offsets = self._offsets
        return self.of_part(list(range(by, by + length)) if offsets is None else offsets[by : by + length])

    def span(self, start: int, end: int) -> Span:
        """Return the place of the characters from ``start`` up to ``end``."""
        offsets = self._offsets
        if offsets is not None:
            first = offsets[min(start, len(offsets) - 1)] if offsets else 0
            last = offsets[min(end, len(offsets)) - 1] + 1 if offsets and end > start else first
            start, end = first, max(first, last)
        row, column = self.place(start)
        end_row, end_column = self.place(end)
        return Span(row, column, end_row, end_column)

    def place(self, offset: int) -> tuple[int, int]:
        """Return the row and the column of a character of the file."""
        row = bisect_right(self._starts, offset)
        return row, offset - self._starts[row - 1] + 1

    def offset(self, row: int, column: int) -> int:
        """Return the offset in the file of the character at a row and a column."""
        return self._starts[row - 1] + column - 1
