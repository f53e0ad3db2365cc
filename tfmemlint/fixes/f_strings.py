"""Fit expressions into f-strings, which before Python 3.12 may hold neither the string's quote nor a backslash."""

from __future__ import annotations

import libcst as cst

from tfmemlint.fixes.concrete_tree import ConcreteTree
from tfmemlint.fixes.withheld import Withheld


def fit_quotes(tree: ConcreteTree, node: cst.CSTNode, text: str) -> str:
    """Return ``text`` as it can replace ``node``: with other quotes if ``node`` is part of an f-string.

    Raises:
        Withheld: no quotes fit.
    """
    outer = [ancestor.quote for ancestor in tree.ancestors(node) if isinstance(ancestor, cst.FormattedString)]
    for quote in outer:
        mark = quote[0]
        if mark in text:
            other = "'" if mark == '"' else '"'
            if other in text or any(other in quote for quote in outer):
                raise Withheld("the new code does not fit into the f-string")
            text = text.replace(mark, other)
        if "\\" in text or "\n" in text or "#" in text:
            raise Withheld("the new code does not fit into the f-string")
    return text
