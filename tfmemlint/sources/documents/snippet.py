"""One program in a document, or one block of another language."""

from __future__ import annotations

import ast
from collections.abc import Iterable
from dataclasses import field, replace
from functools import lru_cache

from tfmemlint.model.records import dataclass
from tfmemlint.sources.documents.blocks import PYTHON, UNKNOWN, Block
from tfmemlint.sources.line_changes import line_changes
from tfmemlint.sources.magics import KEPT, Python
from tfmemlint.sources.text import Source

MARK = f"pass  {KEPT}row "
"""The end of the line before a block of Python; the number of its row follows."""
_LOST = "the blocks of this document can't be told apart any more"


@dataclass(frozen=True, slots=True)
class RowsChange:
    """Lines to put in the place of others: those from ``first`` to before ``last``, counted from 0."""

    first: int
    last: int
    lines: list[str]


@lru_cache(maxsize=1)
def _lines_of(text: str) -> tuple[str, ...]:
    """Return the lines of a document: each of its programs asks for them."""
    return tuple(text.split("\n"))


def _lines_above(text: str, row: int) -> int:
    """Return the number of empty lines at the beginning of a text: a program stands in its rows of the document, and
    of a thousand programs most have thousands of lines above them.

    Args:
        row: the first row that is not empty if nothing was put above: to compare takes less time than to count.
    """
    expected = row - 1 if text.startswith("\n" * (row - 1)) else 0
    rest = text[expected:]
    return expected + len(rest) - len(rest.lstrip("\n"))


def with_changes(text: str, changes: Iterable[RowsChange]) -> str:
    """Return a text with other lines in some places, no two of which overlap."""
    lines = text.split("\n")
    made: list[str] = []
    done = 0
    for change in sorted(changes, key=lambda change: change.first):
        made += [*lines[done : change.first], *change.lines]
        done = change.last
    return "\n".join([*made, *lines[done:]])


@dataclass(frozen=True, slots=True, eq=False)
class Snippet(Source):
    """One program in a document, or one block of another language, in the rows of the document.

    Attributes:
        written: its language.
        whole: the document's text.
        blocks: its blocks; several if they are one program.
        origin: the text that the blocks were read from, if ``text`` differs from it by now.
        marks: for each block of Python, the marked row before it; 0 without one.
        python: for each block of Python, the translation of IPython's own syntax.
    """

    written: str = UNKNOWN
    whole: str = field(default="", repr=False)
    blocks: tuple[Block, ...] = ()
    origin: str | None = field(default=None, repr=False)
    marks: tuple[int, ...] = ()
    python: tuple[Python, ...] = field(default=(), repr=False)
    _shifts: dict[int, int] = field(default_factory=dict, repr=False)

    @property
    def language(self) -> str:
        """The language of the text."""
        return self.written

    @property
    def shifts(self) -> dict[int, int]:
        """By row, the number of characters of the document before the code."""
        if not self._shifts:
            for block in self.blocks:
                self._shifts.update(zip(block.rows, block.starts, strict=True))
        return self._shifts

    def silences(self, row: int, code: str) -> bool:
        """Return True if a comment of the document silences ``code`` in a row."""
        for block in self.blocks:
            if block.silenced and (len(self.blocks) == 1 or block.rows[0] <= row <= block.rows[-1]):
                return any(silenced == "*" or code.startswith(silenced) for silenced in block.silenced)
        return False

    def replace_text(self, text: str) -> Source:
        """Return the same program with another text."""
        origin = self.text if self.origin is None else self.origin
        return replace(self, text=text, is_ascii=text.isascii(), _lines=[], origin=origin)

    def as_file(self, text: str) -> str:
        """Return the document's text with ``text`` in place of this program.

        Raises:
            ValueError: the program can no longer be separated from the rest, or must not change.
        """
        return with_changes(self.whole, self.changed_rows(text))

    def check_can_be(self, text: str) -> None:
        """Raise the error of `as_file`, without a copy of the document."""
        self.changed_rows(text)

    def changed_rows(self, text: str) -> list[RowsChange]:
        """Return what to change in the document to have ``text`` in place of this program, block by block.

        Raises:
            ValueError: as in `as_file`.
        """
        found = []
        lines = _lines_of(self.whole)
        old, new = self._parts(self.text if self.origin is None else self.origin), self._parts(text)
        for number, block in enumerate(self.blocks):
            if new[number] == old[number]:
                continue
            if not block.fixable:
                raise ValueError("it can't be changed without what stands around it: change it by hand")
            python = self.python[number] if self.python else Python([])
            if python.fixed:
                raise ValueError(python.fixed)
            first, last = block.rows[0] - 1, block.rows[-1]
            put = _rewritten if last - first == len(block.rows) else _in_place
            found.append(RowsChange(first, last, put(list(lines[first:last]), block, old[number], new[number], python)))
        return found

    @property
    def _first_row(self) -> int:
        return (self.marks and self.marks[0]) or self.blocks[0].rows[0]

    def _parts(self, text: str) -> list[list[str]]:
        """Return the lines of each block in the text, without trailing empty ones.

        Raises:
            ValueError: the blocks can no longer be separated.
        """
        marks = [mark for mark in self.marks if mark]
        above = _lines_above(text, self._first_row)
        # The lines above a single block are the document's: there are as many as it has, and none is looked at.
        documents = 0 if self.marks else min(above, self.blocks[0].rows[0] - 1)
        # Before a first mark, empty lines are no part of the program.
        parts = [[] if marks and self.marks[0] else [""] * (above - documents)]
        for line in text[above:].rstrip("\n").split("\n"):
            if MARK in line:
                if len(parts) > len(marks) or not line.endswith(f"{MARK}{marks[len(parts) - 1]}"):
                    raise ValueError(_LOST)
                parts.append([])
            else:
                parts[-1].append(line)
        if len(parts) != len(marks) + 1:
            raise ValueError(_LOST)
        head = parts[0]
        if marks and self.marks[0]:
            # What was put in front of the first mark belongs behind it.
            parts[1][:0] = self._added(head)
            parts = parts[1:]
        elif not self.marks:
            missing = self.blocks[0].rows[0] - 1 - documents
            if any(line.strip() for line in head[:missing]):
                raise ValueError(_LOST)
            parts[0] = head[missing:]
        if len(parts) != len(self.blocks):
            # A block directly below another one has no row to be marked in.
            raise ValueError(_LOST)
        for part in parts:
            while part and not part[-1].strip():
                part.pop()
        return parts

    def _added(self, head: list[str]) -> list[str]:
        """Return the lines before the first mark that were added."""
        origin = self.text if self.origin is None else self.origin
        above, rows = _lines_above(origin, self._first_row), self.marks[0] - 1
        first = origin[above:].split("\n", rows - above)[: rows - above] if above < rows else []
        known = {line for line in first if line}
        return _squeezed([line for line in head if line not in known])


def _squeezed(lines: list[str]) -> list[str]:
    """Return lines without leading empty ones, and with at most two empty ones in a row."""
    made: list[str] = []
    for line in lines:
        if line.strip() or (made and any(line.strip() for line in made[-2:])):
            made.append(line)
    return made


def _in_place(raw: list[str], block: Block, old: list[str], new: list[str], python: Python) -> list[str]:
    """Return the rows of a block with other text between its lines: each line is changed in place.

    Raises:
        ValueError: the new code has more or fewer lines.
    """
    first = block.rows[0]
    mine = {row - first: start for row, start in zip(block.rows, block.starts, strict=True)}
    if len(new) != len(old) or any(line.strip() and number not in mine for number, line in enumerate(new)):
        raise ValueError("there is output between the lines of this example: change it by hand")
    made = list(raw)
    for number, (before, after) in enumerate(zip(old, new, strict=True)):
        if before != after:
            made[number] = raw[number][: mine[number]] + python.restored(after)
    return made


def _rewritten(raw: list[str], block: Block, old: list[str], new: list[str], python: Python) -> list[str]:
    """Return the rows of a block with new code; unchanged lines stay as they are, new ones get the prefix of their
    neighbours."""
    fronts = [line[:start] for line, start in zip(raw, block.starts, strict=True)]
    full = [front for front, line in zip(fronts, block.text.split("\n"), strict=False) if line.strip()]
    for number, line in enumerate(block.text.split("\n")[: len(fronts)]):
        if not line.strip() and full:
            # An empty line need not have all of what the others have in front.
            fronts[number] = max(set(full), key=full.count)
    made: list[str] = []
    prompts = _prompts(new) if block.language == PYTHON and _is_prompt(fronts[0]) else None
    for kind, start, end, other, until in line_changes(old, new):
        if kind == "equal" and prompts is None:
            made += raw[start:end]
            continue
        for number in range(other, until):
            # New lines take after the one that they replace, or else the one above.
            near = start + min(number - other, end - start - 1) if end > start else max(start - 1, 0)
            front = fronts[min(near, len(fronts) - 1)]
            if prompts is not None:
                front = front[: len(front) - 4] + prompts[number]
            line = front + python.restored(new[number])
            made.append(line if new[number].strip() else line.rstrip())
    return made + raw[len(old) :]


def _is_prompt(front: str) -> bool:
    return front.endswith((">>> ", "... "))


def _prompts(lines: list[str]) -> list[str]:
    """Return the prompt of each line of an interactive session."""
    starts = {node.lineno - 1 for node in ast.parse("\n".join(lines)).body}
    return [">>> " if number in starts else "... " for number in range(len(lines))]
