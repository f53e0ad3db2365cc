"""The documents that are open in the editor: texts by their paths, notebooks as the files that they would be."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from lsprotocol import types
from pygls.uris import from_fs_path, to_fs_path
from pygls.workspace import Workspace

from tfmemlint.project.listing import called

_PYTHON = ("python", "ipython")


@dataclass(frozen=True, slots=True)
class Document:
    """A text or a notebook that is open.

    Attributes:
        uri: its name in the protocol.
        path: its file as it is shown in messages; None if it has none yet.
        data: its content: for a notebook, that of the file.
        language: the editor's name of its language; "" for a notebook.
        cells: of a notebook, the names of the documents that its cells are, each None for a cell that is no code.
    """

    uri: str
    path: str | None
    data: bytes
    language: str = ""
    cells: tuple[str | None, ...] = ()


@dataclass(slots=True)
class Documents:
    """All open documents, by their names in the protocol.

    Attributes:
        workspace: the editor's texts.
        generation: counts their changes.
    """

    workspace: Workspace
    generation: int = 0
    _made: dict[str, tuple[int, Document]] = field(default_factory=dict)
    _changed: dict[str, int] = field(default_factory=dict)

    def note_change(self, uri: str) -> None:
        """Note that a document has another text, or is open or closed now."""
        self.generation += 1
        self._changed[uri] = self.generation

    def uris(self) -> list[str]:
        """Return the names of the texts and the notebooks that are open; the cells of notebooks are not among them."""
        cells = {cell.document for notebook in self.workspace.notebook_documents.values() for cell in notebook.cells}
        return [*(uri for uri in self.workspace.text_documents if uri not in cells), *self.workspace.notebook_documents]

    def get(self, uri: str) -> Document | None:
        """Return the document of this name; None if it is not open."""
        changed = self._changed.get(uri, 0)
        made = self._made.get(uri)
        if made is not None and made[0] == changed:
            return made[1]
        if uri in self.workspace.notebook_documents:
            document = self._notebook(uri)
        elif uri in self.workspace.text_documents:
            text = self.workspace.text_documents[uri]
            document = Document(uri, _path_of(uri), _encoded(text.source), text.language_id or "")
        else:
            return None
        self._made[uri] = changed, document
        return document

    def open_texts(self) -> dict[str, bytes]:
        """Return the contents of all open documents that have a file, by their absolute paths."""
        documents = filter(None, map(self.get, self.uris()))
        return {os.path.abspath(document.path): document.data for document in documents if document.path is not None}

    def owner_of(self, uri: str) -> str:
        """Return the name of the notebook that a cell is in; any other name as it is."""
        for notebook_uri, notebook in self.workspace.notebook_documents.items():
            if any(cell.document == uri for cell in notebook.cells):
                return str(notebook_uri)
        return uri

    def _notebook(self, uri: str) -> Document:
        cells, names = [], []
        for cell in self.workspace.notebook_documents[uri].cells:
            text = self.workspace.text_documents.get(cell.document)
            is_code = cell.kind == types.NotebookCellKind.Code and text is not None
            is_code = is_code and text is not None and (text.language_id or "python") in _PYTHON
            source = text.source if text is not None else ""
            cells.append({"cell_type": "code" if is_code else "markdown", "source": source})
            names.append(cell.document if is_code else None)
        data = json.dumps({"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 5})
        path = _path_of(uri) or "untitled.ipynb"
        return Document(uri, path if path.endswith(".ipynb") else f"{path}.ipynb", data.encode(), cells=tuple(names))


def _path_of(uri: str) -> str | None:
    path = to_fs_path(uri) if uri.startswith("file:") else None
    return called(path) if path else None


def uri_of(path: str, open_uris: Mapping[str, str]) -> str:
    """Return the name of a file in the protocol: the one that the editor uses, if the file is open.

    Args:
        path: the file.
        open_uris: the names of open documents by their absolute paths.
    """
    place = os.path.abspath(path)
    return open_uris.get(place) or from_fs_path(place) or place


def uris_by_path(documents: Documents) -> dict[str, str]:
    """Return the names of the open documents, by their absolute paths."""
    return {os.path.abspath(document.path): document.uri for document in _with_path(documents) if document.path}


def _with_path(documents: Documents) -> Iterator[Document]:
    for uri in documents.uris():
        document = documents.get(uri)
        if document is not None and document.path is not None:
            yield document


def _encoded(text: str) -> bytes:
    from tfmemlint.api.request import encode_python

    return encode_python(text)
