"""Decode a file as the text that is checked: Python as it is, a notebook as the Python in its cells."""

from __future__ import annotations

import os

from tfmemlint.sources.text import NOTEBOOK, Source, decode_python, read_bytes


def decode(path: str, data: bytes) -> Source:
    """Decode a file of Python, or a notebook (as a `Notebook`).

    Raises:
        Unreadable: it is binary, too large, or not in the encoding that it declares.
    """
    if path.endswith(NOTEBOOK):
        from tfmemlint.sources.notebook import decode_notebook  # most runs meet none

        return decode_notebook(path, data)
    return decode_python(path, data)


def read(path: str | os.PathLike[str], shown: str | None = None) -> Source:
    """A file as a Python text.

    Raises:
        Unreadable: it can't be opened, is binary, or is not in the encoding that it declares.
    """
    return decode(shown if shown is not None else str(path), read_bytes(path))
