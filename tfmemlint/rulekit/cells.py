"""The cells of a program that is run piece by piece, and the effects of running one of them again."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from tfmemlint.interpreter.program import Call
from tfmemlint.model.finding import Span
from tfmemlint.model.patterns import late_pattern
from tfmemlint.model.records import dataclass

if TYPE_CHECKING:
    from tfmemlint.interpreter.program import Program
    from tfmemlint.sources import Source

_MARKER = late_pattern(r"#[ \t]*%%(?![\w%])(?P<title>.*)")
"""The line that begins a cell in Spyder, VS Code, PyCharm and Jupytext's percent format."""
_COLAB = late_pattern(r'"colab(?:_type)?"[ \t]*:|\bfrom google\.colab\b|\bimport google\.colab\b')
"""Only Colab writes this into the metadata of a notebook and of its cells; and its package is there alone."""
_IN_COLAB = late_pattern(r"\bgoogle\.colab\b")
_LOCAL_KERNEL = late_pattern(
    r'"kernelspec"\s*:\s*\{(?:[^{}]*,)?\s*(?:"display_name"\s*:\s*"[^"\n]*(?:conda|venv|virtualenv|\benv\b)'
    r'|"name"\s*:\s*"(?!(?:python[23]?|ir|julia[^"]*)")[^"\n]+")'
)
"""The kernel of an environment of somebody's own; Colab calls its kernels ``python3``."""
_START = "import tensorflow as _tensorflow\n_tensorflow.constant(0)\n"
"""Replaces the work between two runs of a cell: it starts the runtime if nothing else has."""


@dataclass(frozen=True, slots=True)
class Cell:
    """A cell of code, by its rows (from 1) in the text that contains it; the cell includes row ``last``."""

    first: int
    last: int


@dataclass(frozen=True, slots=True)
class Again:
    """A call that succeeds in a cell's first run and fails in its second. ``span`` is its place in the text, or the
    call in the cell that leads to it."""

    call: Call
    span: Span


def cells_of(source: Source) -> tuple[Cell, ...]:
    """Return the cells of a notebook, of a document whose blocks are one program, or of a script with ``# %%`` lines;
    an empty tuple if it has no cells."""
    from tfmemlint.sources.documents.snippet import Snippet
    from tfmemlint.sources.notebook import Notebook

    if isinstance(source, Snippet):
        return tuple(Cell(block.rows[0], block.rows[-1]) for block in source.blocks if block.chain)
    if not isinstance(source, Notebook):
        return percent_cells(source.text)
    if not source.cells:
        return ()
    ends = [cell.row - 2 for cell in source.cells[1:]] + [len(source.lines)]
    return tuple(Cell(cell.row, end) for cell, end in zip(source.cells, ends, strict=True) if end >= cell.row)


def is_for_colab(source: Source) -> bool:
    """Return True for a notebook that was written in Google Colab, or is for it: such a machine has one GPU at most.

    One that was run last with the kernel of an environment that Colab has not, and does not ask for Colab's package, is
    for another machine, although it came through Colab.
    """
    from tfmemlint.sources.notebook import Notebook

    if not isinstance(source, Notebook) or _COLAB.search(source.raw) is None:
        return False
    return _IN_COLAB.search(source.raw) is not None or _LOCAL_KERNEL.search(source.raw) is None


def percent_cells(text: str) -> tuple[Cell, ...]:
    """Return the cells of a script with ``# %%`` lines, without Markdown cells; an empty tuple if it has no such
    line."""
    lines = text.split("\n")
    begins = [(row, match["title"]) for row, line in enumerate(lines, 1) if (match := _MARKER.match(line)) is not None]
    if not begins:
        return ()
    cells = [Cell(1, begins[0][0] - 1)] if begins[0][0] > 1 else []
    ends = [row - 1 for row, _ in begins[1:]] + [len(lines)]
    for (row, title), end in zip(begins, ends, strict=True):
        if "[markdown]" not in title and "[raw]" not in title and end > row:
            cells.append(Cell(row + 1, end))
    return tuple(cells)


def fails_again(program: Program, cell: Cell) -> Iterator[Again]:
    """Yield the calls that certainly fail if a cell is run again after the whole program, and that did not fail in it.
    This interprets the program once more, followed by the start of the runtime and the cell's lines."""
    from tfmemlint.interpreter import analyze
    from tfmemlint.sources import Source

    lines = program.source.text.split("\n")
    text = "\n".join(lines[cell.first - 1 : cell.last])
    head = program.source.text.rstrip() + "\n" + _START
    shift = head.count("\n") + 1 - cell.first
    failed = {call.span for call in program.calls() if _fails(call)}
    for call in analyze(Source(program.source.path, f"{head}{text}\n"), program.target).calls():
        if not _fails(call) or call.state.entry_unknown:
            continue
        place = call.frames[0].span if call.frames else call.span
        if place.row < cell.first + shift:
            continue
        own = _moved(call.span, shift) if call.span.row >= cell.first + shift else call.span
        if own not in failed:
            yield Again(call, _moved(place, shift))


def _fails(call: Call) -> bool:
    outcome = call.effect
    return (
        outcome is not None
        and outcome.kind in ("late", "refused")
        and outcome.certain
        and bool(outcome.exception)
        and call.handler_for(outcome.exception) is None
    )


def _moved(span: Span, rows: int) -> Span:
    return Span(span.row - rows, span.column, span.end_row - rows, span.end_column)
