"""The prefilter on files: which words of TensorFlow's are in a file of a kind."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING

from tfmemlint.facts.prefilter import ABOUT, MATTERS, NAMES_GPU
from tfmemlint.rulekit.triggers import scan, scan_document, search_of_any_file
from tfmemlint.sources import Unreadable, decode
from tfmemlint.sources.kinds import DOCUMENTS
from tfmemlint.sources.text import NOTEBOOK

if TYPE_CHECKING:
    from tfmemlint.engine.context import RunContext
    from tfmemlint.engine.item import Item

MAX_RAW_NOTEBOOK_BYTES = 2 * 2**20
"""Bytes of a notebook beyond which only its code is searched: most of such a notebook is outputs, pictures in lines of
millions of characters."""


def scan_file(path: str, kind: str) -> Callable[[bytes], int]:
    """Return the search for files of this kind: its answer is in bits (`tfmemlint.facts.prefilter`)."""
    if kind in DOCUMENTS:
        return scan_document
    return partial(_scan_notebook, path) if path.endswith(NOTEBOOK) else scan


def _scan_notebook(path: str, data: bytes) -> int:
    if len(data) > MAX_RAW_NOTEBOOK_BYTES:
        with contextlib.suppress(Unreadable):
            return scan(decode(path, data).text.encode("utf-8", "surrogatepass"))
    # The quotes in a notebook's code are escaped in its JSON.
    return scan(data.replace(b'\\"', b'"'))


def wanted_by_rules(context: RunContext) -> Callable[[Item], bool]:
    """Return whether the selected rules may report something in a file: what ``check`` and ``fix`` read closely.

    A file that the user names is also read if it may not be valid Python.
    """
    wanted_in: dict[int, tuple[bool, Callable[[bytes], bool] | None]] = {}

    def asked_for(own: RunContext) -> tuple[bool, Callable[[bytes], bool] | None]:
        """Return whether every TensorFlow file is read, and the search for further files, by the selection."""
        key = id(own.selection)
        if key not in wanted_in:
            wanted_in[key] = own.reads_every_tensorflow_file, search_of_any_file(own.named_codes)
        return wanted_in[key]

    def is_wanted(item: Item) -> bool:
        data, words = item.data or b"", item.words
        any_tensorflow_file, matches_in_any_file = asked_for(context.at(item.path))
        if words & MATTERS or (any_tensorflow_file and words & ABOUT):
            return True
        if item.kind in DOCUMENTS:
            return item.named and b"\0" in data
        return bool(
            (words & NAMES_GPU and context.launches_of(item.path))
            or (matches_in_any_file is not None and matches_in_any_file(data))
            or (item.named and not _is_valid(item.path, data))
        )

    return is_wanted


def _is_valid(path: str, data: bytes) -> bool:
    """True if a file without any of the words is valid Python: one that the user names is not passed over otherwise."""
    import ast

    try:
        ast.parse(decode(path, data).text)
    except (Unreadable, SyntaxError, ValueError, RecursionError, MemoryError):
        return False
    return True
