"""Reading the tables in ``data/``."""

from __future__ import annotations

import os

_DATA = os.path.join(os.path.dirname(__file__), "data")


def raw(name: str) -> bytes:
    """A table's bytes."""
    with open(os.path.join(_DATA, name), "rb") as file:
        return file.read()


def text(name: str) -> str:
    """A table that is text."""
    return raw(name).decode("ascii")
