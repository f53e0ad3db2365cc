"""Read the tables in ``data/``."""

from __future__ import annotations

import os

_DATA = os.path.join(os.path.dirname(__file__), "data")


def raw(name: str) -> bytes:
    """Return a table's bytes."""
    with open(os.path.join(_DATA, name), "rb") as file:
        return file.read()


def text(name: str) -> str:
    """Return a text table's text."""
    return raw(name).decode("ascii")
