"""The graph of the imports between the files of a project, as rewrites ask for it: who imports a file?"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator

from tfmemlint.project.reaching import Graph, graph
from tfmemlint.project.roots import LARGEST_PROJECT, project_root
from tfmemlint.sources.regular import Unreadable, read_bytes
from tfmemlint.sources.walking import walk


class TooLarge(Exception):
    """The project has more files than anybody looks through."""


_kept: dict[str, tuple[frozenset[str], Graph | None]] | None = None
"""The files and the graphs of projects, by the roots of these, as long as nothing is written; None where it may be.

To read a project of thousands of files takes a second, and each repair that is tried asks several times."""


@contextlib.contextmanager
def nothing_is_written() -> Iterator[None]:
    """Read each project once within this block, which changes no file."""
    global _kept
    before = _kept
    _kept = {} if before is None else before
    try:
        yield
    finally:
        _kept = before


def graph_around(path: str) -> Graph:
    """Return the graph of the project that a file belongs to, the file included.

    Raises:
        TooLarge: the project is too large to tell.
    """
    own = os.path.normpath(os.path.relpath(path))
    root = os.path.relpath(project_root(path))
    files, made = (_kept or {}).get(root) or (frozenset(map(os.path.normpath, walk([root]).files)), None)
    if len(files) > LARGEST_PROJECT:
        raise TooLarge
    if own not in files:
        # It is one that a walk leaves out.
        return graph(files | {own}, _bytes)
    if made is None:
        made = graph(files, _bytes)
    if _kept is not None:
        _kept[root] = (files, made)
    return made


def _bytes(path: str) -> bytes | None:
    try:
        return read_bytes(path)
    except Unreadable:
        return None
