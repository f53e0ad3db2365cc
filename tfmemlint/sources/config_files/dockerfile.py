"""The instructions of a Dockerfile, each put together from the lines that it continues on.

Source: Docker's "Dockerfile reference": parser directives, comments and empty lines within an instruction,
here-documents.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import replace

from tfmemlint.model.records import dataclass

_ESCAPE = re.compile(r"#[ \t]*escape[ \t]*=[ \t]*([\\`])[ \t]*$", re.IGNORECASE)
_DIRECTIVE = re.compile(r"#[ \t]*\w+[ \t]*=")
INSTRUCTION = re.compile(r"[ \t]*([A-Za-z]+)(?:[ \t]+|$)")
"""The name of an instruction, and the blanks after it."""
_HEREDOC = re.compile(r"\d*<<(-?)(?:([^\s<'\"]+)|'([^'<]+)'|\"([^\"<]+)\")")
"""A word that begins a here-document. Source: BuildKit's ``ParseHeredoc``."""

FLAG = re.compile(r"--[a-z][\w-]*(?:=\S*)?[ \t]*")
"""An option of an instruction, such as ``--mount=type=cache,target=/root/.cache``."""


@dataclass(frozen=True, slots=True)
class Line:
    """One instruction, joined from its continuation lines.

    Attributes:
        text: the instruction.
        offsets: the offset in the file of each character of ``text``.
        heredocs: the bodies of its here-documents.
    """

    text: str
    offsets: list[int]
    heredocs: tuple[tuple[int, int], ...] = ()


class Instructions:
    """Iterate over the instructions of ``shown``, in order. ``escape`` is the character that continues a line."""

    def __init__(self, shown: str) -> None:
        self.shown = shown
        self.escape = "\\"

    def __iter__(self) -> Iterator[Line]:
        text, end = self.shown, len(self.shown)
        at = 0
        directives = True
        while at < end:
            stop = _line_end(text, at)
            row = text[at:stop].rstrip("\r")
            if directives:
                found = _ESCAPE.match(row)
                self.escape = found[1] if found is not None else self.escape
                directives = _DIRECTIVE.match(row) is not None
            if not row.strip() or row.lstrip().startswith("#"):
                at = stop + 1
                continue
            parts: list[str] = []
            offsets: list[int] = []
            while True:
                stop = _line_end(text, at)
                row = text[at:stop].rstrip("\r")
                comment = bool(parts) and row.lstrip().startswith("#")
                body = row.rstrip(" \t")
                more = not comment and body.endswith(self.escape)
                if not comment and (row.strip() or not parts):
                    kept = body[:-1] if more else row
                    parts.append(kept)
                    offsets.extend(range(at, at + len(kept)))
                at = stop + 1
                if at >= end or not (more or comment or (parts and not row.strip())):
                    break
            line = Line("".join(parts), offsets)
            name = INSTRUCTION.match(line.text)
            if name is not None and name[1].upper() in ("RUN", "COPY", "ADD") and "<<" in line.text:
                at, bodies = self._heredocs(line.text, at)
                line = replace(line, heredocs=bodies)
            yield line

    def _heredocs(self, line: str, at: int) -> tuple[int, tuple[tuple[int, int], ...]]:
        bodies = []
        for start, end in words_of(line, 0, self.escape):
            found = _HEREDOC.fullmatch(line, start, end)
            if found is None:
                continue
            tabs, name = found[1], found[2] or found[3] or found[4]
            begun = at
            while at < len(self.shown):
                stop = _line_end(self.shown, at)
                row = self.shown[at:stop].rstrip("\r")
                ended = (row.lstrip("\t") if tabs else row) == name
                if ended:
                    bodies.append((begun, at))
                at = stop + 1
                if ended:
                    break
        return at, tuple(bodies)


def _line_end(text: str, at: int) -> int:
    stop = text.find("\n", at)
    return stop if stop >= 0 else len(text)


def words_of(text: str, at: int, escape: str) -> list[tuple[int, int]]:
    """Return the places of the words of an instruction: quotes and escapes keep blanks in them. Source: BuildKit's
    ``parseWords``."""
    found: list[tuple[int, int]] = []
    end = len(text)
    while at < end:
        if text[at] in " \t":
            at += 1
            continue
        start = at
        mark = ""
        while at < end and (mark or text[at] not in " \t"):
            char = text[at]
            if char == escape and mark != "'":
                at += 2
                continue
            if char in "\"'" and mark in ("", char):
                mark = "" if mark else char
            at += 1
        at = min(at, end)
        found.append((start, at))
    return found


def unquoted(word: str) -> str:
    word = word.strip()
    return word[1:-1] if len(word) > 1 and word[0] in "\"'" and word[-1] == word[0] else word


def strings_of(text: str) -> list[str] | None:
    """Return the strings of a JSON array; None if the text is not one."""
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return found if isinstance(found, list) and found and all(isinstance(item, str) for item in found) else None
