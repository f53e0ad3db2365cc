"""The files of a run, as the front end gives them to a command."""

from __future__ import annotations

from dataclasses import field
from typing import TYPE_CHECKING

from tfmemlint.model.records import dataclass
from tfmemlint.sources.kinds import PYTHON

if TYPE_CHECKING:
    from tfmemlint.project.entries import Entry
    from tfmemlint.sources import Unreadable


@dataclass(slots=True)
class Item:
    """One file to work on.

    Attributes:
        path: the file, as the user sees it.
        data: its bytes; None if it could not be read.
        error: why it could not be read.
        kind: what the file is (`tfmemlint.sources.kinds`).
        named: the user named this very file.
        given: the user named it, or a directory that it is in; False if it was found as the start of a program.
        words: what the prefilter says of it (`tfmemlint.facts.prefilter`).
        entry: the program of several files that starts there.
    """

    path: str
    data: bytes | None
    error: Unreadable | None = None
    kind: str = PYTHON
    named: bool = False
    given: bool = True
    words: int = 0
    entry: Entry | None = None


@dataclass(slots=True)
class Items:
    """The files of a run.

    Attributes:
        wanted: those to work on.
        left_out: the paths of those that the prefilter leaves out.
        given: the paths of all files, those that could not be read among them.
    """

    wanted: list[Item] = field(default_factory=list)
    left_out: list[str] = field(default_factory=list)
    given: list[str] = field(default_factory=list)
