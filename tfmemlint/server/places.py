"""Places of findings in the protocol's words: names of documents, lines from 0, columns in the editor's units."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field

from lsprotocol import types
from pygls.workspace import PositionCodec

from tfmemlint.api.results import Place
from tfmemlint.server.documents import Document, uri_of
from tfmemlint.sources import Unreadable, decode, read_bytes
from tfmemlint.sources.notebook import Notebook


@dataclass(slots=True)
class Places:
    """Translates places of one answer.

    Attributes:
        codec: counts columns as the editor does.
        documents: the open documents, by their absolute paths.
    """

    codec: PositionCodec
    documents: Mapping[str, Document]
    _lines: dict[tuple[str, int | None], list[str]] = field(default_factory=dict)

    def location(self, place: Place, own: Document) -> types.Location:
        """Return a place; one in a text without a file is in the document ``own``."""
        uri = self.uri(place, own)
        lines = self._lines_of(place, own)
        return types.Location(
            uri,
            types.Range(
                self._position(place.row, place.column, lines), self._position(place.end_row, place.end_column, lines)
            ),
        )

    def uri(self, place: Place, own: Document) -> str:
        """Return the name of the document that a place is in."""
        document = self._document(place.path, own)
        if document is None:
            return uri_of(place.path, {})
        if place.cell is not None and 1 <= place.cell <= len(document.cells):
            return document.cells[place.cell - 1] or document.uri
        return document.uri

    def _document(self, path: str, own: Document) -> Document | None:
        if own.path is None or path == own.path:
            return own
        return self.documents.get(os.path.abspath(path))

    def _position(self, row: int, column: int, lines: list[str]) -> types.Position:
        line = lines[row - 1] if 1 <= row <= len(lines) else ""
        return types.Position(max(row - 1, 0), self.codec.client_num_units(line[: column - 1]))

    def _lines_of(self, place: Place, own: Document) -> list[str]:
        key = place.path, place.cell
        if key not in self._lines:
            document = self._document(place.path, own)
            try:
                data = document.data if document is not None else read_bytes(place.path)
                source = decode(place.path if own.path is not None else "text.py", data)
                text = source.text
                if place.cell is not None and isinstance(source, Notebook):
                    text = source.cell_text(place.cell)
                self._lines[key] = text.split("\n")
            except Unreadable:
                self._lines[key] = []
        return self._lines[key]
