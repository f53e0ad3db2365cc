"""Files that nobody named and that are not valid Python: which of them are worth a finding."""

from __future__ import annotations

import dataclasses
import re
from typing import TYPE_CHECKING

from tfmemlint.engine.results import CELL_NOT_PYTHON, NOT_PARSED, NOT_PYTHON, NOT_READ, PYTHON_2, FileResult
from tfmemlint.engine.trouble import says_python_2
from tfmemlint.knowledge.configuring import ABOUT_MEMORY
from tfmemlint.model.codes import SYNTAX_ERROR
from tfmemlint.sources.kinds import PYTHON
from tfmemlint.sources.notebook import Notebook

if TYPE_CHECKING:
    from tfmemlint.engine.context import RunContext
    from tfmemlint.model.finding import Finding
    from tfmemlint.sources import Source

_ABOUT_MEMORY = re.compile(ABOUT_MEMORY)
_OTHER_LIBRARY = re.compile(r"^\s{0,40}(?:import|from)\s{1,9}(?:torch|jax|mxnet|paddle|chainer)\b", re.MULTILINE)


def without_what_does_not_matter(result: FileResult, context: RunContext) -> FileResult:
    """Return a result with a note in place of the finding that a file, or a cell, is not valid Python, where that says
    nothing of how GPU memory is configured: it is Python 2, which no TensorFlow from 2.2 on runs in, or it is about
    something else. The findings stay where the user asks for them."""
    source = result.source
    if source is None or source.language != PYTHON or SYNTAX_ERROR in context.named_codes:
        return result
    kept: list[Finding] = []
    notes: list[str] = []
    for finding in result.findings:
        note = _note(finding, source) if finding.code == SYNTAX_ERROR else ""
        if note:
            notes.append(note)
        else:
            kept.append(finding)
    if not notes:
        return result
    # That the file was not checked says as well why the program which starts in it was not followed.
    said = [note for note in result.notes if note != NOT_PARSED or NOT_READ.isdisjoint(notes)]
    return dataclasses.replace(result, findings=kept, notes=(*said, *dict.fromkeys(notes)))


def _note(finding: Finding, source: Source) -> str:
    """Return what is said in place of a finding; "" if it matters."""
    cell = source.cell_of(finding.span.row) if isinstance(source, Notebook) else None
    if isinstance(source, Notebook) and cell is not None:
        text = source.cell_text(cell[0])
        matters = _ABOUT_MEMORY.search(text) is not None and not says_python_2(finding.message, "", [])
        return "" if matters else CELL_NOT_PYTHON
    if PYTHON_2 in finding.notes:
        return PYTHON_2
    if _OTHER_LIBRARY.search(source.text) and "tensorflow" not in source.text and "keras" not in source.text:
        # ``CUDA_VISIBLE_DEVICES`` there is another library's.
        return NOT_PYTHON
    return "" if _ABOUT_MEMORY.search(source.text) else NOT_PYTHON
