"""Find where the names of a file are used: in it, and in the files of the project that lead to it by imports."""

from __future__ import annotations

import re
from pathlib import Path

import libcst as cst

from tfmemlint.fixes.hoist_out_of_function import importers_of, readers_of
from tfmemlint.fixes.order.files import CodeFile

_IMPORT = re.compile(r"^[ \t]*(?:from[ \t]+[\w.]+[ \t]+)?import\b(?:[^\n(\\]*\([^)]*\)|[^\n]*)", re.MULTILINE)
_STAR = re.compile(r"^[ \t]*from[ \t]+[\w.]+[ \t]+import[ \t]*\*", re.MULTILINE)


def is_called_once(file: CodeFile, function: cst.FunctionDef) -> bool:
    """True if nothing but one place of the project mentions a function, or the class whose ``__init__`` it is."""
    owner = next((node for node in file.tree.ancestors(function) if isinstance(node, cst.ClassDef)), None)
    name = function.name.value
    if name == "__init__" and owner is not None:
        name = owner.name.value
    elif name.startswith("__"):
        return False
    mention = re.compile(rf"\b{re.escape(name)}\b")
    texts = [file.source.text, *filter(None, map(_text, sorted(readers_of(file.path))))]
    # The definition is one mention.
    return sum(len(mention.findall(_IMPORT.sub("", text))) for text in texts) == 2


def other_user(file: CodeFile, name: str) -> str:
    """Return a file of the project that may use a name of another file's top level; "" if there is none."""
    module = Path(file.path).parent.name if Path(file.path).name == "__init__.py" else Path(file.path).stem
    whole = re.compile(rf"\b{re.escape(name)}\b")
    for path in sorted(importers_of(file.path)):
        text = _text(path)
        if text is None or whole.search(text) or (_STAR.search(text) and module in text):
            return path
    return ""


def _text(path: str) -> str | None:
    try:
        return Path(path).read_text(encoding="utf-8", errors="replace")
    except OSError:
        return None
