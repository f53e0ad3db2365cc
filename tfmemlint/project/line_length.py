"""The longest line that a project wants, as its formatter, its linters or its editors are told."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Mapping
from fnmatch import fnmatchcase
from typing import Any

from tfmemlint.project.roots import outermost
from tfmemlint.sources.config_files.tables import parse_ini, parse_toml
from tfmemlint.sources.regular import TEXT_BYTES, read_regular

FORMATTER_CHARACTERS = 88
"""The default of black and of ruff: https://docs.astral.sh/ruff/settings/#line-length."""
_SENSIBLE_CHARACTERS = range(40, 400)
_DEEPEST = 64
_known: dict[str, int | None] = {}


def line_length_of(path: str) -> int | None:
    """Return the number of characters that a line of the file at ``path`` may have; None if the project does not say.

    The nearest directory that says it counts, up to the root of the repository.
    """
    directory = os.path.dirname(os.path.abspath(path))
    passed: list[str] = []
    found: int | None = None
    for _ in range(_DEEPEST):
        if directory in _known:
            found = _known[directory]
            break
        passed.append(directory)
        found = _said_in(directory)
        above = os.path.dirname(directory)
        if found is not None or above == directory or directory in outermost():
            break
        if os.path.exists(os.path.join(directory, ".git")):
            break
        directory = above
    _known.update(dict.fromkeys(passed, found))
    return found


def reset_cache() -> None:
    """Forget what directories say."""
    _known.clear()


def _said_in(directory: str) -> int | None:
    """Return what the files of one directory say; formatters come first, since they rewrite what is longer."""
    for name, read in _READERS:
        try:
            text = read_regular(os.path.join(directory, name), TEXT_BYTES).decode("utf-8-sig", "replace")
        except OSError:
            continue
        found = read(text)
        if found in _SENSIBLE_CHARACTERS:
            return found
    return None


def _toml(text: str) -> Mapping[str, Any]:
    try:
        return parse_toml(text)
    except ValueError:
        return {}


def _ruff(text: str) -> int | None:
    return _number(_toml(text).get("line-length", FORMATTER_CHARACTERS))


def _pyproject(text: str) -> int | None:
    if re.search(r"ruff|black|yapf|autopep8|flake8|pycodestyle", text) is None:
        return None
    tools = _toml(text).get("tool", {})
    for tool, key, default in (
        ("ruff", "line-length", FORMATTER_CHARACTERS),
        ("black", "line-length", FORMATTER_CHARACTERS),
        ("yapf", "column_limit", None),
        ("autopep8", "max_line_length", None),
        ("flake8", "max-line-length", None),
        ("pycodestyle", "max_line_length", None),
    ):
        table = tools.get(tool) if isinstance(tools, dict) else None
        if isinstance(table, dict):
            found = _number(table.get(key, default))
            if found is not None:
                return found
    return None


def _sections(text: str) -> int | None:
    """Return what ``setup.cfg``, ``tox.ini`` or ``.flake8`` says."""
    import configparser

    parser = configparser.ConfigParser(interpolation=None, strict=False)
    try:
        parse_ini(text, parser)
    except ValueError:
        return None
    for section, keys in (
        ("flake8", ("max-line-length", "max_line_length")),
        ("pycodestyle", ("max-line-length", "max_line_length")),
        ("yapf", ("column_limit",)),
    ):
        for key in keys:
            if parser.has_section(section) and parser.has_option(section, key):
                return _number(parser.get(section, key))
    return None


def _editorconfig(text: str) -> int | None:
    """Return ``max_line_length`` of the last section that is about files of Python."""
    found: int | None = None
    about_python = False
    for line in text.splitlines():
        line = line.strip()
        if line.startswith("[") and line.endswith("]"):
            patterns = _alternatives(line[1:-1])
            about_python = any(fnmatchcase("x.py", pattern.rpartition("/")[2]) for pattern in patterns)
        elif about_python and re.match(r"max_line_length\s*[=:]", line, re.IGNORECASE):
            found = _number(re.split(r"[=:]", line, maxsplit=1)[1].split(";")[0].split("#")[0].strip())
    return found


def _alternatives(pattern: str) -> list[str]:
    """Return the patterns that ``*.{py,pyi}`` stands for."""
    match = re.search(r"\{([^{}]*)\}", pattern)
    if match is None:
        return [pattern]
    return [f"{pattern[: match.start()]}{part}{pattern[match.end() :]}" for part in match[1].split(",")]


def _number(value: object) -> int | None:
    if isinstance(value, bool):
        return None
    text = str(value)
    return int(text) if text.isascii() and text.isdigit() and len(text) < 5 else None


_READERS: tuple[tuple[str, Callable[[str], int | None]], ...] = (
    (".ruff.toml", _ruff),
    ("ruff.toml", _ruff),
    ("pyproject.toml", _pyproject),
    ("setup.cfg", _sections),
    ("tox.ini", _sections),
    (".flake8", _sections),
    (".editorconfig", _editorconfig),
)

__all__ = ["FORMATTER_CHARACTERS", "line_length_of", "reset_cache"]
