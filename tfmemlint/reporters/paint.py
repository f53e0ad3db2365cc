"""Text with styles, and the two ways to print it: plain, or in colour on a terminal.

rich is imported only for colour; output to a pipe, a file or a log is written without it.
"""

from __future__ import annotations

import os
import unicodedata
from collections.abc import Callable, Iterable
from typing import IO, NamedTuple

from tfmemlint.model.patterns import late_pattern

COMMAND = late_pattern(r"##(?=[A-Za-z]{0,20}\[)")
"""The beginning of a command that a CI system obeys anywhere in a line of a log: ``##[error]``, ``##vso[...]``."""

STYLES = {
    "error": "bold red",
    "warning": "bold yellow",
    "advice": "bold blue",
    "mark": "cyan",
    "path": "bold",
    "frame": "blue",
    "label": "bold",
    "dim": "dim",
    "good": "bold green",
    "quoted": "",
    "added": "green",
    "removed": "red",
}
"""The styles in colour: only the eight colours that every terminal has."""

TAB = 4
"""Columns that a tab takes in an excerpt."""


class Segment(NamedTuple):
    """A piece of text, the name of its style (a key of `STYLES`, or ""), and the target of a click on it."""

    text: str
    style: str = ""
    link: str = ""


Line = list[Segment]


def printable(text: str) -> str:
    r"""Return ``text`` on one line; control characters, and what CI systems obey in a log, are written ``\x1b``."""
    return without_commands(_visible(text))


def without_commands(line: str) -> str:
    r"""Return a line that commands no CI system which reads it in a log; what would is written as ``\x23``.

    GitHub's runner obeys ``::error ...::`` at the start of a line, after blanks too, and ``##[error]`` anywhere in it;
    Azure Pipelines obeys ``##vso[...]``, and TeamCity ``##teamcity[...]``, anywhere.
    Source: https://github.com/actions/runner/blob/main/src/Runner.Common/ActionCommand.cs
    """
    if "##" in line:
        line = COMMAND.sub(r"#\\x23", line)
    if "::" in line and (begun := line.lstrip()).startswith("::"):
        line = f"{line[: -len(begun)]}\\x3a{begun[1:]}"
    return line


def in_html(text: str) -> str:
    """Return ``text`` as HTML in which nothing of it is a tag, and no character turns the text around it."""
    from html import escape

    return escape("\n".join(map(_visible, text.split("\n"))))


def _visible(text: str) -> str:
    return text if text.isprintable() else "".join(map(_shown, text))


def _shown(char: str) -> str:
    if char.isprintable():
        return char
    category = unicodedata.category(char)
    if category in ("Cc", "Cs", "Zl", "Zp") or (category == "Cf" and char not in "\u00ad\u200c\u200d"):
        return char.encode("unicode_escape").decode()
    return char


def cells(text: str) -> list[tuple[str, int]]:
    """Return each character of a line of source as it is shown, with the columns that it takes."""
    if text.isascii() and text.isprintable():
        return [(char, 1) for char in text]
    return [_cell(char) for char in text]


def _cell(char: str) -> tuple[str, int]:
    if char == "\t":
        return " " * TAB, TAB
    shown = _shown(char)
    if shown != char:
        return shown, len(shown)
    if unicodedata.category(char) in ("Mn", "Me", "Cf"):
        return char, 0
    return char, 2 if unicodedata.east_asian_width(char) in "WF" else 1


def colourful(stream: IO[str], color: bool | None) -> bool:
    """Return True to print in colour: ``color`` if given, else as NO_COLOR and FORCE_COLOR say, else on a terminal."""
    if color is not None:
        return color
    if os.environ.get("NO_COLOR"):
        return False
    if os.environ.get("FORCE_COLOR", "0") not in ("", "0"):
        return True
    return stream.isatty() and os.environ.get("TERM") != "dumb"


def columns(stream: IO[str]) -> int | None:
    """Return the width of the terminal ``stream``, or None if it is not a terminal."""
    if not stream.isatty():
        return None
    import shutil

    return max(40, shutil.get_terminal_size().columns)


def write(stream: IO[str], text: str) -> None:
    """Write ``text``; characters that the stream's encoding lacks are escaped, so that a report never fails on them."""
    try:
        stream.write(text)
    except UnicodeEncodeError:
        stream.write(_sayable(text, stream))


def painter(stream: IO[str], color: bool | None) -> Callable[[Iterable[Line]], None]:
    """Return a function that prints lines to ``stream``, in colour or plain."""
    if not colourful(stream, color):
        return lambda lines: write(stream, "".join(f"{_joined(line)}\n" for line in lines))
    return _in_colour(stream)


def _joined(line: Line) -> str:
    return without_commands("".join(part.text for part in line))


def _in_colour(stream: IO[str]) -> Callable[[Iterable[Line]], None]:
    from rich.console import Console
    from rich.style import Style
    from rich.text import Text

    console = Console(
        file=stream,
        force_terminal=True,
        color_system="standard",
        no_color=False,
        highlight=False,
        markup=False,
        emoji=False,
        soft_wrap=True,
    )
    linked = stream.isatty()  # a log that shows colours does not follow links: it prints their escapes

    def paint(lines: Iterable[Line]) -> None:
        for line in lines:
            if (plain := "".join(part.text for part in line)) != (joined := without_commands(plain)):
                line = [Segment(joined)]
            text = Text(end="")
            for part in line:
                style = Style.parse(STYLES.get(part.style, ""))
                if part.link and linked:
                    style += Style(link=part.link)
                text.append(_sayable(part.text, stream), style)
            console.print(text)

    return paint


def _sayable(text: str, stream: IO[str]) -> str:
    encoding: str = getattr(stream, "encoding", None) or "utf-8"
    return text.encode(encoding, "backslashreplace").decode(encoding)
