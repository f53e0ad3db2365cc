"""One row for every line of a program of several files.

Plans and proofs refer to rows. The files of a program are read as if one followed the other, the main file first: each
begins with as many empty lines as there are lines above it. So a row identifies a line of any file. Only code that
shows rows to people needs this map: `Rows` returns the file and the line of a row, in a notebook the cell as well.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from dataclasses import field, replace
from pathlib import Path

from tfmemlint.model.finding import Span
from tfmemlint.model.records import dataclass
from tfmemlint.sources import Source
from tfmemlint.sources.notebook import Notebook

_IN_FILE = re.compile(r"(?<![^\s:])(?P<path>[^\s:]+\.\w+):(?P<row>\d+)\b")
_IN_LINE = re.compile(r"\bline (?P<row>\d+)\b(?! of cell)")
_IN_PYTHON = re.compile(r'File "(?P<path>[^"\n]+)", line (?P<row>\d+)\b')


_SPARE = 10
"""Rows below the main file, for lines that are added at its end to call one of its functions."""


@dataclass(slots=True)
class Rows:
    """The rows of a program's files.

    Attributes:
        main: the main file, which keeps its rows.
        files: the other files, in the order of their rows.
        firsts: the number of rows above each of these.
    """

    main: Source
    files: list[Source] = field(default_factory=list)
    firsts: list[int] = field(default_factory=list)
    _height: int = 0

    def __post_init__(self) -> None:
        self._height = len(self.main.lines) + _SPARE

    @property
    def renames(self) -> bool:
        """True if people know some rows by other names: those of other files, and of the cells of a notebook."""
        return bool(self.files) or isinstance(self.main, Notebook)

    def below(self, source: Source) -> Source:
        """Return ``source`` moved below all files so far."""
        first = self._height
        self.files.append(source)
        self.firsts.append(first)
        self._height += len(source.lines)
        return replace(source, text="\n" * first + source.text, ends="\n", _lines=[])

    def file_of(self, row: int) -> tuple[Source, int]:
        """Return the file of a row, and the number of rows above the file."""
        number = bisect_right(self.firsts, row - 1) - 1
        return (self.files[number], self.firsts[number]) if number >= 0 else (self.main, 0)

    def place(self, row: int) -> tuple[str, int]:
        """Return the path of the file, and the line in it."""
        source, above = self.file_of(row)
        return source.path, min(row - above, max(len(source.lines), 1))

    def cell(self, row: int) -> tuple[int, int] | None:
        """Return the number of the notebook's cell that a row is in, and the line in the cell; None elsewhere."""
        return self.main.cell_of(self.place(row)[1]) if isinstance(self.main, Notebook) and self._is_main(row) else None

    def _is_main(self, row: int) -> bool:
        return self.file_of(row)[0] is self.main

    def shown(self, row: int) -> str:
        """Return a row for people: ``12``, ``core/model.py:12``, ``cell 3:1``."""
        cell = self.cell(row)
        if cell is not None:
            return f"cell {cell[0]}:{cell[1]}"
        path, line = self.place(row)
        return str(line) if path == self.main.path else f"{path}:{line}"

    def line(self, row: int) -> str:
        """Return a row as part of a sentence: ``line 12``, ``core/model.py:12``, ``line 1 of cell 3``."""
        cell = self.cell(row)
        if cell is not None:
            return f"line {cell[1]} of cell {cell[0]}"
        path, line = self.place(row)
        return f"line {line}" if path == self.main.path else f"{path}:{line}"

    def text(self, row: int) -> str:
        """Return the text of a row."""
        source, above = self.file_of(row)
        lines = source.lines
        return lines[row - above - 1] if row - above <= len(lines) else ""

    def segment(self, span: Span) -> str:
        """Return the text of a place."""
        source, above = self.file_of(span.row)
        return source.segment(Span(span.row - above, span.column, span.end_row - above, span.end_column))

    def words(self, text: str) -> str:
        """Return a sentence with the rows of the program replaced by files and lines for people."""
        if not self.renames:
            return text

        def in_file(match: re.Match[str]) -> str:
            path, line = self.place(int(match["row"]))
            return f"{path}:{line}" if path == match["path"] else match[0]

        text = _IN_FILE.sub(in_file, text)
        return _IN_LINE.sub(lambda match: self.line(int(match["row"])), text)

    def output(self, text: str) -> str:
        """Return output of Python about the program, with the real lines of the files."""
        if not self.files:
            return text
        own = {str(Path(source.path).resolve()) for source in self.files}

        def in_file(match: re.Match[str]) -> str:
            if str(Path(match["path"]).resolve()) not in own:
                return match[0]
            return f'File "{match["path"]}", line {self.place(int(match["row"]))[1]}'

        return _IN_PYTHON.sub(in_file, text)
