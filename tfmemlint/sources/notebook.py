"""Jupyter notebooks: the code cells as one Python text, and back, byte for byte if nothing has changed.

The text has an additional line for each cell (`MARK`), which separates the rows of the cells. IPython's own syntax is
kept in comments, or translated if its effect matters; it is restored on writing.
"""

from __future__ import annotations

import json
import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import field, replace

from tfmemlint.model.records import dataclass
from tfmemlint.sources.magics import KEPT
from tfmemlint.sources.notebook_cell import Cell, cell_as_python
from tfmemlint.sources.notebook_json import CellReader, written
from tfmemlint.sources.notebook_layout import laid_out
from tfmemlint.sources.text import MAX_NOTEBOOK_BYTES, Source, Unreadable

MARK = f"pass  {KEPT}cell "
"""The beginning of the line before a cell; the number follows."""
_END = re.compile(r"\n")


@dataclass(slots=True)
class CellIndex:
    """An index of the cells of a notebook by their rows and their numbers.

    Attributes:
        rows: the first row of each cell in the Python text.
        places: the place of each cell among the code cells, by its number; the first, where worksheets repeat one.
        texts: the code of cells that were asked for, by their numbers.
        parts: the lines of each cell of the text, once they are needed.
        ends: the places of the line ends in the file, once they are needed.
    """

    rows: list[int]
    places: dict[int, int]
    texts: dict[int, str] = field(default_factory=dict)
    parts: list[list[str]] | None = None
    ends: list[int] | None = None

    @classmethod
    def of(cls, cells: Sequence[Cell]) -> CellIndex:
        """Return the index of these cells."""
        places: dict[int, int] = {}
        for place, cell in enumerate(cells):
            places.setdefault(cell.number, place)
        return cls([cell.row for cell in cells], places)


@dataclass(frozen=True, slots=True, eq=False)
class Notebook(Source):
    """A notebook: ``text`` is Python, ``raw`` the decoded file, ``cells`` its code cells in ``raw``."""

    raw: str = ""
    cells: tuple[Cell, ...] = field(default=(), repr=False)
    _index: list[CellIndex] = field(default_factory=list, repr=False)

    def encode(self, text: str) -> bytes:
        """Return the bytes of the file with ``text`` in place of its own.

        Raises:
            ValueError: ``text`` has changed other syntax, or the cells can no longer be separated.
        """
        # The class is made anew for its slots, so that `super()` alone would ask that before.
        return super(Notebook, self).encode(self.as_file(text))  # noqa: UP008

    def as_file(self, text: str) -> str:
        """Return the file's JSON with ``text`` in place of its own.

        Raises:
            ValueError: as for `encode`.
        """
        pieces: list[str] = []
        at = 0
        changed: list[tuple[Cell, str]] = []
        for cell, lines in zip(self.cells, self._parts(text), strict=True):
            new = cell.with_lines(lines)
            if new != cell.source:
                if new.startswith("\n") and not cell.source.startswith("\n"):
                    new = new.lstrip("\n")
                changed.append((cell, new))
        if any(cell.source.strip() and not new.strip() for cell, new in changed):
            without = self._without_emptied(changed)
            if without is not None:
                return without
        for cell, new in changed:
            if new != cell.source:
                pieces += [self.raw[at : cell.start], self._written(cell, new)]
                at = cell.end
        return "".join([*pieces, self.raw[at:]])

    def _written(self, cell: Cell, new: str) -> str:
        """Return the source of a cell as JSON, with new code."""
        others = (self.raw[other.start : other.end] for other in self.cells if other.source)
        return written(self.raw, self.raw[cell.start : cell.end], new, others)

    def _without_emptied(self, changed: Sequence[tuple[Cell, str]]) -> str | None:
        """Return the file's JSON without the cells that have lost their code; None if that can't be done."""
        items = list(CellReader(self.raw).items())
        new: dict[int, str] = {}
        texts: dict[int, str] = {}
        emptied: set[int] = set()
        for cell, source in changed:
            index = cell.number - 1
            if index >= len(items) or not items[index].start <= cell.start <= items[index].end:
                return None
            new[index] = source
            item = items[index]
            texts[index] = (
                self.raw[item.start : cell.start] + self._written(cell, source) + self.raw[cell.end : item.end]
            )
            if cell.source.strip() and not source.strip():
                emptied.add(index)
        return laid_out(self.raw, items, new, texts, emptied)

    def _parts(self, text: str) -> list[list[str]]:
        """Return the lines of each cell."""
        parts: list[list[str]] = []
        loose: list[str] = []
        # The text ends in a newline that no cell has.
        for line in text.removesuffix("\n").split("\n"):
            if line.startswith(MARK):
                parts.append([])
                if loose:
                    parts[-1].extend(loose)
                    loose = []
                if len(parts) > len(self.cells) or line != f"{MARK}{self.cells[len(parts) - 1].number}":
                    raise ValueError("the cells of the notebook can't be told apart any more")
            elif parts:
                parts[-1].append(line)
            elif line:
                loose.append(line)
        if len(parts) != len(self.cells):
            raise ValueError("the cells of the notebook can't be told apart any more")
        return parts

    def cell_of(self, row: int) -> tuple[int, int] | None:
        """Return the number of the cell of a row of the text, and the row within it; None outside of cells."""
        index = bisect_right(self._indexed.rows, row) - 1
        if index < 0:
            return (self.cells[0].number, 1) if self.cells else None
        return self.cells[index].number, row - self.cells[index].row + 1

    def cell_text(self, number: int) -> str:
        """Return the code of a cell, as it is in the notebook."""
        index = self._indexed
        place = index.places.get(number)
        if place is None:
            return ""
        if number not in index.texts:
            if index.parts is None:
                index.parts = self._parts(self.text)
            index.texts[number] = self.cells[place].with_lines(index.parts[place])
        return index.texts[number]

    @property
    def _indexed(self) -> CellIndex:
        """The index of the cells: a notebook may have a hundred thousand."""
        if not self._index:
            self._index.append(CellIndex.of(self.cells))
        return self._index[0]

    def _cell(self, number: int) -> Cell:
        return self.cells[self._indexed.places[number]]

    def shift(self, row: int) -> int:
        """Return how many characters of the cell stand in front of a row of the text: an indentation, a prompt."""
        place = self.cell_of(row)
        if place is None or row > len(self.lines):
            return 0
        if not self._cell(place[0]).python.prefix:
            return 0
        lines = self.cell_text(place[0]).split("\n")
        return max(len(lines[place[1] - 1]) - len(self.lines[row - 1]), 0) if place[1] <= len(lines) else 0

    def as_in_cell(self, number: int, content: str) -> str:
        """Return whole lines of Python as they are to be written into a cell."""
        python = self._cell(number).python
        if MARK in content:
            return content
        lines = content.split("\n")
        # Behind the last newline, nothing begins.
        return "\n".join([*map(python.restored, lines[:-1]), python.restored(lines[-1]) if lines[-1] else ""])

    def is_magic(self, row: int) -> bool:
        """Return True if a row of the text replaces a line of other syntax."""
        return KEPT in self.lines[row - 1] if row <= len(self.lines) else False

    def raw_row(self, number: int, row: int) -> int:
        """Return the row in the file of a row of a cell, if each has a row of its own."""
        cell = self._cell(number)
        index = self._indexed
        if index.ends is None:
            index.ends = [match.start() for match in _END.finditer(self.raw)]
        first = bisect_left(index.ends, cell.start) + 1
        several = "\n" in self.raw[cell.start : cell.end]
        return first + (min(row, cell.source.count("\n") + 1) if several else 0)

    def replace_text(self, text: str) -> Source:
        """Return the same notebook with another text, and the same original."""
        rows = [row + 2 for row, line in enumerate(text.split("\n")) if line.startswith(MARK)]
        cells = self.cells
        if len(rows) == len(cells):
            cells = tuple(replace(cell, row=row) for cell, row in zip(cells, rows, strict=True))
        return replace(self, text=text, cells=cells, is_ascii=text.isascii(), _lines=[], _index=[])

    @property
    def problems(self) -> Iterator[tuple[int, str]]:
        """Yield the rows of the text at which a cell stops being Python, each with the reason."""
        for cell in self.cells:
            problem = cell.python.problem
            if problem is not None:
                yield cell.row + problem[0] - 1, problem[1]


def decode_notebook(path: str, data: bytes) -> Notebook:
    """Decode a notebook.

    Raises:
        Unreadable: it is not a notebook.
    """
    if len(data) > MAX_NOTEBOOK_BYTES:
        raise Unreadable(f"larger than {MAX_NOTEBOOK_BYTES // 2**20} MiB")
    if not data.strip():
        raise Unreadable("is empty: no notebook")
    bom = data.startswith(b"\xef\xbb\xbf")
    try:
        raw = (data[3:] if bom else data).decode("utf-8")
    except UnicodeDecodeError as error:
        raise Unreadable(f"is not valid UTF-8: {error.reason}", data[: error.start].count(b"\n") + 1) from None
    try:
        found = list(CellReader(raw).cells())
    except json.JSONDecodeError as error:
        raise Unreadable(f"is no notebook: it is not valid JSON: {error.msg}", error.lineno) from None
    except (ValueError, RecursionError) as error:
        raise Unreadable(f"is no notebook: {error}") from None
    cells: list[Cell] = []
    lines: list[str] = []
    for number, start, end, source in found:
        python = cell_as_python(source)
        lines.append(f"{MARK}{number}")
        cells.append(Cell(number, start, end, source, len(lines) + 1, python))
        lines.extend(python.lines)
    text = "\n".join(lines) + "\n" if lines else ""
    return Notebook(path, text, "utf-8", bom, "\n", text.isascii(), raw=raw, cells=tuple(cells))
