"""The names under which options of argparse are read."""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence


def destination_of(words: Sequence[str], keywords: Mapping[str, ast.expr] | Mapping[str | None, ast.expr]) -> str:
    """Return the name under which an option is read.

    Args:
        words: its names as declared, one at least. keywords: the other arguments of its declaration.
    """
    given = dict(keywords).get("dest")
    if isinstance(given, ast.Constant) and isinstance(given.value, str):
        return given.value
    return full_name(words).lstrip("-").replace("-", "_")


def full_name(words: Sequence[str]) -> str:
    """Return the first long name of an option; its first one if it has no long one."""
    return next((word for word in words if word.startswith("--")), words[0])
