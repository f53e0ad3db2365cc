"""Decode a file as the text that is checked: Python as it is, a notebook as the Python in its cells."""

from __future__ import annotations

import os

from tfmemlint.sources.text import NOTEBOOK, Source, decode_python, read_bytes

_last: list[tuple[str, bytes, Source]] = []
"""The notebook that was decoded last: one run asks for each several times in a row, and a large one takes seconds."""


def decode(path: str, data: bytes) -> Source:
    """Decode a file of Python, or a notebook (as a `Notebook`).

    Raises:
        Unreadable: it is binary, too large, or not in the encoding that it declares.
    """
    if path.endswith(NOTEBOOK):
        from tfmemlint.sources.notebook import decode_notebook  # most runs meet none

        if not _last or _last[0][:2] != (path, data):
            _last[:] = [(path, data, decode_notebook(path, data))]
        return _last[0][2]
    return decode_python(path, data)


def read(path: str | os.PathLike[str], shown: str | None = None) -> Source:
    """Return a file as a Python text.

    Raises:
        Unreadable: it can't be opened, is binary, or is not in the encoding that it declares.
    """
    return decode(shown if shown is not None else str(path), read_bytes(path))
