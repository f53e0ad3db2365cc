"""The environment variables that each release of TensorFlow names: the table `data/env.txt`, read on first use.

Source: ``tools/knowledge/make_env.py``, which reads the wheels. A name that is not in the table occurs in no library
and in no Python file of these releases, so nothing there can read it.
"""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

from tfmemlint.knowledge import tables


class Named(NamedTuple):
    """A variable that some release names.

    Attributes:
        letters: the kinds of occurrence: ``c`` a library passes it to a function that reads the environment, ``p`` a
            Python file passes it to ``os.environ``, ``s`` it is a whole string of a library, ``t`` it is part of
            another text.
        releases: the ranges of releases, as in the table (``2.4-2.15,2.18``).
    """

    letters: str
    releases: str

    @property
    def is_read(self) -> bool:
        """True if some code certainly reads it from the environment."""
        return not set("cp").isdisjoint(self.letters)


@lru_cache(maxsize=1)
def _table() -> tuple[tuple[str, ...], dict[str, tuple[str, str]]]:
    releases: tuple[str, ...] = ()
    rows: dict[str, tuple[str, str]] = {}
    for line in tables.text("env.txt").splitlines():
        if line.startswith("releases "):
            releases = tuple(line.split()[1:])
        elif line and line[0] != "#":
            name, letters, ranges = line.split(" ")
            rows[name] = letters, ranges
    return releases, rows


def releases() -> tuple[str, ...]:
    """Return the releases that the table covers, oldest first."""
    return _table()[0]


def named(name: str) -> Named | None:
    """Return the table's entry for ``name``; None if no release names it."""
    row = _table()[1].get(name)
    return Named(*row) if row is not None else None


def names() -> tuple[str, ...]:
    """Return every name of the table."""
    return tuple(_table()[1])
