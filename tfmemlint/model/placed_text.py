"""Texts that name places of a program: each keeps its parts, and can be written anew for readers of another file.

A rule writes a message as an f-string, with `place` for each place. `placed` makes of that a `PlacedText`, which is a
plain text to everybody else: it reads ``line 12`` for a place in the file that it is about, and ``nets.py:12`` for one
in another file.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

_EDGE = "\0"
"""The mark around the two fields of a place while a text is being composed: no Python source and no path has it."""


class Place(NamedTuple):
    """A row of a file, counted from 1."""

    path: str
    row: int


class PlacedText(str):
    """A text with the places that it names.

    Attributes:
        parts: its texts and places, in order.
        path: the file for whose readers it is written.
    """

    parts: tuple[str | Place, ...]
    path: str

    def __new__(cls, parts: Iterable[str | Place], path: str) -> PlacedText:
        """Return the text that the parts are for readers of the file ``path``."""
        kept = tuple(parts)
        made = super().__new__(cls, "".join(part if isinstance(part, str) else _words(part, path) for part in kept))
        made.parts, made.path = kept, path
        return made

    def seen_from(self, path: str) -> PlacedText:
        """Return the text for readers of the file ``path``."""
        return PlacedText(self.parts, path)

    def __reduce__(self) -> tuple[type[PlacedText], tuple[tuple[str | Place, ...], str]]:
        """Return what another process makes the text of."""
        return PlacedText, (self.parts, self.path)


def place(path: str, row: int) -> str:
    """Return a place as a piece of a text that `placed` completes."""
    return f"{_EDGE}{path}{_EDGE}{row}{_EDGE}"


def placed(text: str, path: str) -> str:
    """Return a text that was composed with `place`, for readers of the file ``path``; a text without places, or one
    that is complete, as it is."""
    if _EDGE not in text:
        return text
    pieces = text.split(_EDGE)
    parts: list[str | Place] = []
    for number in range(0, len(pieces), 3):
        parts.append(pieces[number])
        if number + 2 < len(pieces):
            parts.append(Place(pieces[number + 1], int(pieces[number + 2])))
    return PlacedText(filter(None, parts), path)


def seen_from(text: str, path: str) -> str:
    """Return a text for readers of the file ``path``; one that names no places as it is."""
    return text.seen_from(path) if isinstance(text, PlacedText) else text


def _words(place: Place, path: str) -> str:
    return f"line {place.row}" if place.path == path else f"{place.path}:{place.row}"
