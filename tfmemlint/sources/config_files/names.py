"""The names of environment variables."""

from __future__ import annotations

import re

from tfmemlint.sources.config_files.templates import HIDDEN

NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
"""The name of a variable, by the rules of shells."""
_NO_NAME = re.compile(rf"[\s=\"'${HIDDEN}]")


def is_name(text: str) -> bool:
    """True if a variable may have this name: by the rules of shells, or with letters that only look like theirs."""
    return NAME.fullmatch(text) is not None or (bool(text) and not text.isascii() and _NO_NAME.search(text) is None)
