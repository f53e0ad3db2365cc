"""Jupyter notebooks: the code cells as one Python text, and back, byte for byte if nothing has changed.

The text has an additional line for each cell (`MARK`), which separates the rows of the cells. IPython's own syntax is
kept in comments, or translated if its effect matters; it is restored on writing.
"""

from __future__ import annotations

import json
import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from json.decoder import scanstring  # type: ignore[attr-defined]
from typing import Any

from tfmemlint.sources.line_changes import line_changes
from tfmemlint.sources.magics import KEPT, Python, as_python
from tfmemlint.sources.text import MAX_NOTEBOOK_BYTES, Source, Unreadable

MARK = f"pass  {KEPT}cell "
"""The beginning of the line before a cell; the number follows."""
_SPACE = re.compile(r"[ \t\r\n]*")
_CODE = ("code",)
_EMPTY = re.compile(r"^[ \t]*\r$", re.MULTILINE)
_WINDOWS = "IPython reads it differently with its Windows line ends: change it by hand"
_END = re.compile(r"\n")
_LINE = re.compile(r"[^\n]*\n|[^\n]+")
_ESCAPE = re.compile(r"\\(?:u[0-9a-fA-F]{4}|.)|\n", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Cell:
    """One code cell.

    Attributes:
        number: its place among all cells, from 1.
        start, end: the place of its source in the file's text.
        source: its code.
        row: its first row in the Python text.
        python: its code as Python, as it was read.
    """

    number: int
    start: int
    end: int
    source: str
    row: int
    python: Python

    def with_lines(self, lines: list[str]) -> str:
        """Return the code with other lines of Python; unchanged lines stay as they are.

        Raises:
            ValueError: other syntax was changed, or IPython would not read those lines from it.
        """
        old = self.python.lines
        if lines == old:
            return self.source
        if self.python.fixed:
            raise ValueError(f"cell {self.number}: {self.python.fixed}")
        raw = self.source.split("\n")
        usual = "\r" if self.source.count("\r\n") * 2 > self.source.count("\n") else ""
        made: list[str] = []
        try:
            for kind, start, end, other, until in line_changes(old, lines):
                if kind == "equal":
                    # The last line of a cell has no end; wherever it comes now, it gets that of the others.
                    made += [
                        line if number < len(raw) else line + usual
                        for number, line in enumerate(raw[start:end], start + 1)
                    ]
                    continue
                for number, line in enumerate(lines[other:until], start):
                    # A line that takes the place of another one has what that had before and behind it.
                    behind = ("\r" if raw[number].endswith("\r") else "") if number < min(end, len(raw) - 1) else usual
                    before = _before(raw[number], old[number]) if number < end else None
                    made.append(self.python.restored(line, before) + behind)
        except ValueError as error:
            raise ValueError(f"{error} in cell {self.number}") from None
        new = "\n".join(made).removesuffix("\r")
        if new.startswith("%%") and "\n" not in new.strip():
            # IPython refuses a cell magic whose cell is empty.
            raise ValueError(f"cell {self.number} would hold nothing but {new.split()[0]}")
        if not _reads_as(new, lines):
            raise ValueError(f"IPython would not read the new lines of cell {self.number} as they are meant")
        return new


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
        return super(Notebook, self).encode(self.as_file(text))

    def as_file(self, text: str) -> str:
        """Return the file's JSON with ``text`` in place of its own.

        Raises:
            ValueError: as for `encode`.
        """
        pieces: list[str] = []
        at = 0
        for cell, lines in zip(self.cells, self._parts(text), strict=True):
            new = cell.with_lines(lines)
            if new != cell.source:
                pieces += [self.raw[at : cell.start], _written(self.raw, cell, new, self.cells)]
                at = cell.end
        return "".join([*pieces, self.raw[at:]])

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
        found = list(_Reader(raw).cells())
    except json.JSONDecodeError as error:
        raise Unreadable(f"is no notebook: it is not valid JSON: {error.msg}", error.lineno) from None
    except (ValueError, RecursionError) as error:
        raise Unreadable(f"is no notebook: {error}") from None
    cells: list[Cell] = []
    lines: list[str] = []
    for number, start, end, source in found:
        python = _as_python(source)
        lines.append(f"{MARK}{number}")
        cells.append(Cell(number, start, end, source, len(lines) + 1, python))
        lines.extend(python.lines)
    text = "\n".join(lines) + "\n" if lines else ""
    return Notebook(path, text, "utf-8", bom, "\n", text.isascii(), raw=raw, cells=tuple(cells))


class _Reader:
    """Find the code cells in the JSON of a notebook. The JSON decoder skips everything else."""

    def __init__(self, raw: str) -> None:
        self.raw = raw
        self._decode = json.JSONDecoder(strict=False).raw_decode

    def cells(self) -> Iterator[tuple[int, int, int, str]]:
        """Yield the number of each code cell, the place of its source, and the source.

        Raises:
            ValueError: it is not a notebook.
            json.JSONDecodeError: it is not JSON.
        """
        # Of several members of one name, JSON has the last.
        found: dict[str, list[tuple[int, int, int, str]]] = {}
        language = "python"
        at = self._skip(0)
        for key, start in self._members(at):
            if key == "cells":
                found[key] = list(self._listed(start, "source"))
            elif key == "worksheets":
                found[key] = [
                    cell
                    for sheet in self._items(start)
                    for inner, place in self._members(sheet)
                    if inner == "cells"
                    for cell in self._listed(place, "input")
                ]
            elif key == "metadata":
                language = _language(self._decode(self.raw, start)[0])
        if not found:
            raise ValueError("it has no cells")
        if language not in ("python", "ipython", ""):
            return
        yield from (cell for cells in found.values() for cell in cells)

    def _listed(self, at: int, name: str) -> Iterator[tuple[int, int, int, str]]:
        for number, start in enumerate(self._items(at), 1):
            kind, place, source = "", None, ""
            for key, value in self._members(start):
                if key == "cell_type":
                    kind = self._decode(self.raw, value)[0]
                elif key == name:
                    given, end = self._decode(self.raw, value)
                    if isinstance(given, list) and all(isinstance(line, str) for line in given):
                        given = "".join(given)
                    if isinstance(given, str):
                        place, source = (value, end), given
            if kind in _CODE and place is not None:
                yield number, *place, source

    def _members(self, at: int) -> Iterator[tuple[str, int]]:
        """Yield the keys of an object, each with the place of its value."""
        at = self._expect(at, "{")
        if self.raw[at : at + 1] == "}":
            return
        while True:
            if self.raw[at : at + 1] != '"':
                raise json.JSONDecodeError("Expecting property name enclosed in double quotes", self.raw, at)
            key, at = scanstring(self.raw, at + 1, False)
            at = self._expect(self._skip(at), ":")
            yield key, at
            at = self._skip(self._decode(self.raw, at)[1])
            if self.raw[at : at + 1] == "}":
                return
            at = self._expect(at, ",")

    def _items(self, at: int) -> Iterator[int]:
        """Yield the places of the items of a list."""
        at = self._expect(at, "[")
        if self.raw[at : at + 1] == "]":
            return
        while True:
            yield at
            at = self._skip(self._decode(self.raw, at)[1])
            if self.raw[at : at + 1] == "]":
                return
            at = self._expect(at, ",")

    def _skip(self, at: int) -> int:
        match = _SPACE.match(self.raw, at)
        assert match is not None
        return match.end()

    def _expect(self, at: int, character: str) -> int:
        if self.raw[at : at + 1] != character:
            raise json.JSONDecodeError(f"Expecting {character!r}", self.raw, at)
        return self._skip(at + 1)


def _language(metadata: Any) -> str:
    """Return the language of a notebook, "" if it states none."""
    if not isinstance(metadata, dict):
        return ""
    for part, key in (("kernelspec", "language"), ("language_info", "name")):
        value = metadata.get(part)
        named = value.get(key) if isinstance(value, dict) else None
        if isinstance(named, str):
            return named.lower()
    return ""


def _before(raw: str, line: str) -> str | None:
    """Return the text before a line of Python in a cell; None if it is another line."""
    raw = raw.removesuffix("\r")
    return raw.removesuffix(line) if line.strip() and raw.endswith(line) else None


def _as_python(source: str) -> Python:
    python = as_python(source.replace("\r\n", "\n"), prompts=True)
    # IPython does not see help behind such a line end, and to IPython 9, which takes the indentation away that all
    # lines share, an empty line with such an end shares nothing.
    if "\r\n" in source and (python.instead or (python.prefix and _EMPTY.search(source) is not None)):
        return replace(python, fixed=python.fixed or _WINDOWS)
    return python


def _reads_as(source: str, lines: list[str]) -> bool:
    """Return True if a cell with this code has these lines of Python, apart from other syntax."""
    python = _as_python(source)
    if python.problem is not None or python.fixed or len(python.lines) != len(lines := lines or [""]):
        return False
    return all(
        new == line or (KEPT in new and KEPT in line) or not (new.strip() or line.strip())
        for new, line in zip(python.lines, lines, strict=True)
    )


def _written(raw: str, cell: Cell, new: str, cells: Sequence[Cell]) -> str:
    """Return the source of a cell as JSON, in the style of the old one; lines that stay keep their very characters."""
    old = raw[cell.start : cell.end]
    parts = _LINE.findall(new)
    if not old.startswith("["):
        pieces = _string_style(old)
        return f'"{"".join(token[1:-1] for token in _tokens(pieces, parts, raw))}"'
    tokens, first, between, last = _list_style(old)
    if not tokens:
        # An empty list is written as those of other cells are.
        others = [
            _list_style(raw[other.start : other.end]) for other in cells if other.source and raw[other.start] == "["
        ]
        _, first, between, last = others[0] if others else ([], "", ", ", "")
    if not parts:
        return "[]"
    return f"[{first}{between.join(_tokens(tokens, parts, raw))}{last}]"


def _tokens(old: Sequence[str], parts: Sequence[str], raw: str) -> Iterator[str]:
    """Yield the parts of a source as JSON strings: unchanged ones as they were written."""
    values = [scanstring(token, 1, False)[0] for token in old]
    plain = raw.isascii()
    for kind, start, end, other, until in line_changes(values, parts):
        if kind == "equal":
            yield from old[start:end]
        else:
            yield from (_quoted(part, raw, plain=plain) for part in parts[other:until])


def _string_style(old: str) -> list[str]:
    """Return the lines of a string, each as a JSON string of its own."""
    pieces: list[str] = []
    start = 1
    for match in _ESCAPE.finditer(old, 1, len(old) - 1):
        if match[0].lower() in ("\n", "\\n", "\\u000a"):
            pieces.append(f'"{old[start : match.end()]}"')
            start = match.end()
    return [*pieces, f'"{old[start:-1]}"'] if start < len(old) - 1 else pieces


def _list_style(old: str) -> tuple[list[str], str, str, str]:
    """Return the items of a list of strings as written, and the text before, between and after them."""
    tokens: list[str] = []
    gaps: list[str] = []
    at = 1
    while True:
        start = old.find('"', at)
        if start < 0:
            gaps.append(old[at:-1])
            break
        gaps.append(old[at:start])
        _, at = scanstring(old, start + 1, False)
        tokens.append(old[start:at])
    if len(gaps) == 1:
        return tokens, "", ", ", ""
    return tokens, gaps[0], gaps[1] if len(gaps) > 2 else f",{gaps[0]}", gaps[-1]


def _quoted(text: str, raw: str, *, plain: bool) -> str:
    written = json.dumps(text, ensure_ascii=plain)
    if "\\u003c" in raw or "\\u003e" in raw:
        # Colab writes these so.
        for character in "<>":
            written = written.replace(character, f"\\u{ord(character):04x}")
    return written
