"""TOML and INI files as tables: the one door to their parsers, which take a time that is bounded by the text's length.

Both parsers work as long as they are given ordinary files. A key of 100,000 parts takes `tomllib` a minute and all
memory; `configparser` takes a time that grows with the square of the blanks in a row.
"""

from __future__ import annotations

import re
import sys
from typing import TYPE_CHECKING, Any

from tfmemlint.model.patterns import late_pattern

if TYPE_CHECKING:
    import configparser

MAX_KEY_PARTS = 40
"""Parts of a dotted key in TOML; people write up to six."""
MAX_BLANKS = 200
"""Blanks in a row in an INI file."""
_TOML_TOKEN = late_pattern(r"""[\w-]+|"[^"\n]*"|'[^'\n]*'|[ \t]+|.""", re.DOTALL)
_BLANKS = late_pattern(r"[^\S\n]+")


def parse_toml(text: str) -> dict[str, Any]:
    """Return what a TOML file has.

    Raises:
        ValueError: it is not TOML, is nested too deeply, or has keys of more than `MAX_KEY_PARTS` parts.
    """
    import importlib

    if text.count(".") >= MAX_KEY_PARTS and _longest_key(text) > MAX_KEY_PARTS:
        raise ValueError(f"a key has more than {MAX_KEY_PARTS} parts")
    toml: Any = importlib.import_module("tomllib" if sys.version_info >= (3, 11) else "tomli")
    try:
        found: dict[str, Any] = toml.loads(text)
    except RecursionError as error:
        raise ValueError(str(error)) from None
    return found


def _longest_key(text: str) -> int:
    """Return the most parts, with a dot between each two, that follow each other; in comments and strings as well."""
    most = parts = 0
    after_dot = True
    for match in _TOML_TOKEN.finditer(text):
        token = match[0]
        if token == ".":
            # Two dots in a row are no key.
            parts, after_dot = (0 if after_dot else parts), True
        elif token[0] in " \t":
            continue
        elif len(token) > 1 or token.isalnum() or token in "_-":
            parts, after_dot = (parts + 1 if after_dot else 1), False
            most = max(most, parts)
        else:
            parts, after_dot = 0, True
    return most


def parse_ini(text: str, parser: configparser.RawConfigParser) -> None:
    """Have a parser of the standard library read an INI file.

    Raises:
        ValueError: it is not an INI file, or has more than `MAX_BLANKS` blanks in a row.
    """
    import configparser

    if any(len(blanks) > MAX_BLANKS for blanks in _BLANKS.findall(text)):
        raise ValueError(f"it has more than {MAX_BLANKS} blanks in a row")
    try:
        parser.read_string(text)
    except configparser.Error as error:
        raise ValueError(str(error).splitlines()[0]) from None
