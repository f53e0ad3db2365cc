"""Comments that explain the numbers in new code: which share of which memory a limit is."""

from __future__ import annotations

import re

import libcst as cst

from tfmemlint.fixes.trivia import Line, own_line


class SizeNotes:
    """The comments that no line of new code has yet, each with the number that it explains."""

    def __init__(self) -> None:
        self._pending: list[tuple[str, str]] = []

    def add(self, number: str, comment: str) -> None:
        """Remember a comment for the line that gets the number."""
        self._pending.append((number, comment))

    def take(self, text: str) -> list[str]:
        """Return the comments about numbers in new code, each once; they are not pending any more."""
        found = [note for note in self._pending if _has_number(text, note[0])]
        self._pending = [note for note in self._pending if note not in found]
        return list(dict.fromkeys(comment for _, comment in found))

    def above(self, lines: str) -> str:
        """Return new statements below the comments about their numbers."""
        return "".join(f"{comment}\n" for comment in self.take(lines)) + lines

    def above_each(self, lines: list[Line]) -> list[Line]:
        """Return several new statements, each below the comments about its own numbers; a single one as it is."""
        return [self._below_own(line) for line in lines] if len(lines) > 1 else lines

    def _below_own(self, line: Line) -> Line:
        comments = self.take(cst.Module([]).code_for_node(line))
        return line.with_changes(leading_lines=[*line.leading_lines, *map(own_line, comments)]) if comments else line


def _has_number(text: str, number: str) -> bool:
    return re.search(rf"(?<![\w.]){re.escape(number)}(?![\w.])", text) is not None
