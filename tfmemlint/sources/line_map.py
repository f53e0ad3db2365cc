"""One row for every line of a program of several files.

Plans and proofs are made of rows. So that a row says which line it is whatever file that is in, the files of a program
are read as if they stood one below the other, the file that is run first: each begins with as many empty lines as there
are lines above it. Nothing that tells of a program need know of this; whoever reads of it does: `Rows` says which file
and which line a row is.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from dataclasses import dataclass, field, replace
from pathlib import Path

from tfmemlint.model.finding import Span
from tfmemlint.sources import Source

_IN_FILE = re.compile(r"(?P<path>[^\s:]+\.\w+):(?P<row>\d+)\b")
_IN_LINE = re.compile(r"\bline (?P<row>\d+)\b")
_IN_PYTHON = re.compile(r'File "(?P<path>[^"\n]+)", line (?P<row>\d+)\b')


_SPARE = 10
"""Rows below the file that is run, for what is added at its end to call one of its functions."""


@dataclass(slots=True)
class Rows:
    """The rows of a program's files.

    Attributes:
        main: the file that is run, whose rows are its own. files: the others, as they were read, in the order of their
            rows. firsts: how many rows stand above each of these.
    """

    main: Source
    files: list[Source] = field(default_factory=list)
    firsts: list[int] = field(default_factory=list)
    _height: int = 0

    def __post_init__(self) -> None:
        self._height = len(self.main.lines) + _SPARE

    def below(self, source: Source) -> Source:
        """``source`` as it stands below all files so far."""
        first = self._height
        self.files.append(source)
        self.firsts.append(first)
        self._height += len(source.lines)
        return replace(source, text="\n" * first + source.text, ends="\n", _lines=[])

    def file_of(self, row: int) -> tuple[Source, int]:
        """The file that a row is in, and how many rows stand above that."""
        number = bisect_right(self.firsts, row - 1) - 1
        return (self.files[number], self.firsts[number]) if number >= 0 else (self.main, 0)

    def place(self, row: int) -> tuple[str, int]:
        """The file's path, and the line in it."""
        source, above = self.file_of(row)
        return source.path, min(row - above, max(len(source.lines), 1))

    def shown(self, row: int) -> str:
        """A row as a person reads it: ``12``, ``core/model.py:12``."""
        path, line = self.place(row)
        return str(line) if path == self.main.path else f"{path}:{line}"

    def line(self, row: int) -> str:
        """The same as it stands in a sentence: ``line 12``, ``core/model.py:12``."""
        path, line = self.place(row)
        return f"line {line}" if path == self.main.path else f"{path}:{line}"

    def text(self, row: int) -> str:
        """The text of a row."""
        source, above = self.file_of(row)
        lines = source.lines
        return lines[row - above - 1] if row - above <= len(lines) else ""

    def segment(self, span: Span) -> str:
        """The text of a place."""
        source, above = self.file_of(span.row)
        return source.segment(Span(span.row - above, span.column, span.end_row - above, span.end_column))

    def words(self, text: str) -> str:
        """A sentence whose rows are those of the program, as a person reads it."""
        if not self.files:
            return text

        def in_file(match: re.Match[str]) -> str:
            path, line = self.place(int(match["row"]))
            return f"{path}:{line}" if path == match["path"] else match[0]

        text = _IN_FILE.sub(in_file, text)
        return _IN_LINE.sub(lambda match: self.line(int(match["row"])), text)

    def output(self, text: str) -> str:
        """What Python has printed about the program, with the lines that its files really have."""
        if not self.files:
            return text
        own = {str(Path(source.path).resolve()) for source in self.files}

        def in_file(match: re.Match[str]) -> str:
            if str(Path(match["path"]).resolve()) not in own:
                return match[0]
            return f'File "{match["path"]}", line {self.place(int(match["row"]))[1]}'

        return _IN_PYTHON.sub(in_file, text)
