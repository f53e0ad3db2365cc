"""The tokens of Python source, whatever becomes of its syntax further down."""

from __future__ import annotations

import io
import tokenize
from collections.abc import Iterator
from typing import NamedTuple


class Token(NamedTuple):
    """One token: its type (of `tokenize`), its text, and the row (from 1) and column (from 0) that it begins at."""

    type: int
    text: str
    row: int
    column: int


def python_tokens(text: str) -> Iterator[Token]:
    """Yield the tokens of ``text`` up to the first place where it is no Python.

    Empty lines at both ends are skipped in one step: an example of a document stands in the rows that it has there,
    so that a thousand examples would otherwise cost a thousand times the lines of the document.
    """
    body = text.lstrip("\n")
    skipped = len(text) - len(body)
    try:
        for token in tokenize.generate_tokens(io.StringIO(body.rstrip("\n") + "\n").readline):
            yield Token(token.type, token.string, token.start[0] + skipped, token.start[1])
    except (tokenize.TokenError, SyntaxError):
        return
