"""The JSON of a notebook: where its code cells are, and the text of a cell with other code.

No byte outside of the sources of changed cells is written anew.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Sequence
from json.decoder import scanstring  # type: ignore[attr-defined]
from typing import Any

from tfmemlint.model.patterns import late_pattern
from tfmemlint.sources.line_changes import line_changes
from tfmemlint.sources.notebook_layout import Item

_SPACE = late_pattern(r"[ \t\r\n]*")
_CODE = ("code",)
_LINE = late_pattern(r"[^\n]*\n|[^\n]+")
_ESCAPE = late_pattern(r"\\(?:u[0-9a-fA-F]{4}|.)|\n", re.DOTALL)


class CellReader:
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

    def items(self) -> Iterator[Item]:
        """Yield all cells of a notebook of version 4."""
        for key, start in self._members(self._skip(0)):
            if key == "cells":
                for place in self._items(start):
                    cell, end = self._decode(self.raw, place)
                    source = cell.get("source", "")
                    text = "".join(source) if isinstance(source, list) else str(source)
                    yield Item(place, end, str(cell.get("cell_type", "")), text)

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


def written(raw: str, old: str, new: str, others: Iterable[str]) -> str:
    """Return the source of a cell as JSON, in the style of the old one; lines that stay keep their very characters.

    Args:
        raw: the text of the notebook. old: the cell's source in it.
        new: the cell's new code. others: the sources of the cells that are not empty, as written in the notebook.
    """
    parts = _LINE.findall(new)
    if not old.startswith("["):
        pieces = _string_style(old)
        return f'"{"".join(token[1:-1] for token in _tokens(pieces, parts, raw))}"'
    tokens, first, between, last = _list_style(old)
    if not tokens:
        # An empty list is written as those of other cells are.
        other = next((other for other in others if other.startswith("[")), None)
        _, first, between, last = _list_style(other) if other is not None else ([], "", ", ", "")
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
