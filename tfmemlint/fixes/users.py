"""Find where the names of a file are used: in it, and in the files of the project that lead to it by imports."""

from __future__ import annotations

import os
import re
from pathlib import Path

from tfmemlint.fixes.hoist_out_of_function import importers_of, readers_of
from tfmemlint.fixes.withheld import Withheld
from tfmemlint.project.roots import LARGEST_PROJECT, project_root
from tfmemlint.sources import walk
from tfmemlint.sources.regular import Unreadable, read_bytes

_IMPORT = re.compile(r"^[ \t]*(?:from[ \t]+[\w.]+[ \t]+)?import\b(?:[^\n(\\]*\([^)]*\)|[^\n]*)", re.MULTILINE)
_STAR = re.compile(r"^[ \t]*from[ \t]+[\w.]+[ \t]+import[ \t]*\*", re.MULTILINE)


def mentions(path: str, text: str, name: str) -> int:
    """Return how often the project mentions a name of the file at ``path``, whose text this is, outside of imports."""
    mention = re.compile(rf"\b{re.escape(name)}\b")
    texts = [text, *filter(None, map(_text, sorted(readers_of(path))))]
    return sum(len(mention.findall(_IMPORT.sub("", each))) for each in texts)


def users_of(path: str, name: str) -> list[str]:
    """Return the files of the project that lead to another one and mention a name, in imports or elsewhere."""
    mention = re.compile(rf"\b{re.escape(name)}\b")
    return [each for each in sorted(readers_of(path)) if mention.search(_text(each) or name)]


def others_that_mention(path: str, name: str) -> list[str]:
    """Return the other files of the project that mention a name, whether or not they lead to the file at ``path``.

    An object may be given to them, whose method they call.

    Raises:
        Withheld: the project is too large to tell.
    """
    if not Path(path).exists():
        return []
    files = walk([os.path.relpath(project_root(path))]).files
    if len(files) > LARGEST_PROJECT:
        raise Withheld("the project is too large to see who calls this function")
    mention = re.compile(rf"\b{re.escape(name)}\b")
    own = os.path.normpath(os.path.relpath(path))
    others = [each for each in sorted(map(str, files)) if os.path.normpath(each) != own]
    return [each for each in others if (text := _text(each)) is None or mention.search(text)]


def is_used_by_tests(conftest: str, name: str) -> bool:
    """Return True if a file below the folder of a ``conftest.py`` mentions a fixture of it: these need no import.

    Raises:
        Withheld: there are too many files to tell.
    """
    if not Path(conftest).exists():
        return False
    files = walk([os.path.relpath(Path(conftest).parent)]).files
    if len(files) > LARGEST_PROJECT:
        raise Withheld("the project is too large to see who uses this fixture")
    mention = re.compile(rf"\b{re.escape(name)}\b")
    own = os.path.normpath(os.path.relpath(conftest))
    return any(mention.search(_text(each) or "") for each in files if os.path.normpath(each) != own)


def other_user(path: str, name: str) -> str:
    """Return a file of the project that may use a name of another file's top level; "" if there is none."""
    module = Path(path).parent.name if Path(path).name == "__init__.py" else Path(path).stem
    whole = re.compile(rf"\b{re.escape(name)}\b")
    for importer in sorted(importers_of(path)):
        text = _text(importer)
        if text is None or whole.search(text) or (_STAR.search(text) and module in text):
            return importer
    return ""


def _text(path: str) -> str | None:
    try:
        return read_bytes(path).decode("utf-8", "replace")
    except Unreadable:
        return None
