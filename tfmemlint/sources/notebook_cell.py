"""The code of one cell of a notebook: as Python, and back as IPython reads it."""

from __future__ import annotations

import re
from dataclasses import replace

from tfmemlint.model.patterns import late_pattern
from tfmemlint.model.records import dataclass
from tfmemlint.sources.line_changes import line_changes
from tfmemlint.sources.magics import KEPT, Python, as_python

_EMPTY = late_pattern(r"^[ \t]*\r$", re.MULTILINE)
_WINDOWS = "IPython reads it differently with its Windows line ends: change it by hand"


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


def cell_as_python(source: str) -> Python:
    """Return the code of a cell as Python."""
    python = as_python(source.replace("\r\n", "\n"), prompts=True)
    # IPython does not see help behind such a line end, and to IPython 9, which takes the indentation away that all
    # lines share, an empty line with such an end shares nothing.
    if "\r\n" in source and (python.instead or (python.prefix and _EMPTY.search(source) is not None)):
        return replace(python, fixed=python.fixed or _WINDOWS)
    return python


def _before(raw: str, line: str) -> str | None:
    """Return the text before a line of Python in a cell; None if it is another line."""
    raw = raw.removesuffix("\r")
    return raw.removesuffix(line) if line.strip() and raw.endswith(line) else None


def _reads_as(source: str, lines: list[str]) -> bool:
    """Return True if a cell with this code has these lines of Python, apart from other syntax."""
    python = cell_as_python(source)
    if python.problem is not None or python.fixed or len(python.lines) != len(lines := lines or [""]):
        return False
    return all(
        new == line or (KEPT in new and KEPT in line) or not (new.strip() or line.strip())
        for new, line in zip(python.lines, lines, strict=True)
    )
