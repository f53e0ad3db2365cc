"""The changes that the fixer would make, as a unified diff."""

from __future__ import annotations

import difflib
import os
import stat
from collections.abc import Mapping
from typing import IO

from tfmemlint.reporters.paint import Line, Segment, colourful, painter, printable, without_commands, write

_STYLES = {"+": "added", "-": "removed", "@": "mark", "\\": "dim"}


def unified_diff(path: str, old: str, new: str) -> str:
    r"""Return the difference between two texts with ``\n`` line ends, as ``git apply -p0`` takes it; "" if none."""
    name = _quoted(path)
    lines = difflib.unified_diff(_lines(old), _lines(new), name, name)
    return "".join(line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n" for line in lines)


def _quoted(path: str) -> str:
    r"""Return a path as ``git diff`` writes it: in quotes, with escapes, where its characters would break the line."""
    if path.isprintable() and not set(path) & {'"', "\\"}:
        return path
    return f'"{"".join(map(_escaped, path))}"'


def _escaped(char: str) -> str:
    if char in '"\\':
        return f"\\{char}"
    if char.isprintable():
        return char
    # A byte of a name that is no UTF-8 is a surrogate in Python.
    errors = "surrogateescape" if "\udc80" <= char <= "\udcff" else "surrogatepass"
    return "".join(f"\\{byte:03o}" for byte in char.encode("utf-8", errors))


def _lines(text: str) -> list[str]:
    """The lines with their ends; only ``\n`` ends one, for a form feed or U+2028 within a line is part of it."""
    parts = text.split("\n")
    return [f"{part}\n" for part in parts[:-1]] + ([parts[-1]] if parts[-1] else [])


def print_diff(diff: str, stream: IO[str], *, color: bool | None = None) -> None:
    """Print the result of `unified_diff`: untouched, so that it can be applied, or coloured and safe on a terminal.

    In the log of a CI system that obeys what it reads there, no line commands it.
    """
    if not colourful(stream, color) and not stream.isatty():
        write(stream, "\n".join(map(without_commands, diff.split("\n"))) if _is_obeyed(stream, os.environ) else diff)
        return
    lines: list[Line] = []
    for line in diff.split("\n")[:-1]:
        style = "label" if line.startswith(("--- ", "+++ ")) else _STYLES.get(line[:1], "")
        lines.append([Segment(printable(line.replace("\t", "    ")), style)])
    painter(stream, color)(lines)


def _is_obeyed(stream: IO[str], environment: Mapping[str, str]) -> bool:
    """Return True where lines of ``stream`` may reach a log that a CI system takes commands from: not from a file."""
    if not environment.keys() & {"GITHUB_ACTIONS", "TF_BUILD", "TEAMCITY_VERSION"}:
        return False
    try:
        return not stat.S_ISREG(os.fstat(stream.fileno()).st_mode)
    except (OSError, ValueError):  # it is closed, or has no descriptor
        return True
