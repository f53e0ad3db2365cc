"""The subject of an item or of a result: a file of Python, a file of programs, a document."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tfmemlint.sources.kinds import DOCUMENTS, PYTHON

if TYPE_CHECKING:
    from tfmemlint.engine.item import Item
    from tfmemlint.engine.results import FileResult
    from tfmemlint.engine.subject import Subject


def subject_of_item(item: Item) -> Subject:
    """Return what is to be checked of an item that could be read."""
    assert item.data is not None
    if item.kind in DOCUMENTS:
        from tfmemlint.engine.document_file import DocumentFile

        return DocumentFile(item.path, item.data, item.kind)
    if item.entry is not None:
        from tfmemlint.engine.program_file import ProgramFile

        return ProgramFile(item.path, item.data, (item.entry,))
    from tfmemlint.engine.python_file import PythonFile

    return PythonFile(item.path, item.data)


def subject_of_result(result: FileResult) -> Subject:
    """Return what is to be fixed or explained of a result that has a text."""
    source = result.source
    assert source is not None
    if source.language != PYTHON:
        from tfmemlint.engine.document_file import DocumentFile

        return DocumentFile.of(source)  # type: ignore[arg-type]
    if result.entries:
        from tfmemlint.engine.program_file import ProgramFile

        return ProgramFile.of_program(source, result.entries)
    from tfmemlint.engine.python_file import PythonFile

    return PythonFile.of(source)
