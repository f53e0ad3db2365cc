"""The here-documents of a shell: their first and last lines.

Source: POSIX, Shell Command Language, 2.7.4 (Here-Document).
"""

from __future__ import annotations

import re
from bisect import bisect_left

BEGIN = re.compile(
    r"(?<!<)<<(?P<tabs>-?)[ \t]*(?:\\?(?P<plain>[A-Za-z_]\w*)|'(?P<single>[^'\n]*)'|\"(?P<double>[^\"\n]*)\")"
)
"""The operator and the delimiter that begin one."""


def begun(found: re.Match[str]) -> tuple[str, bool]:
    """Return the delimiter of the here-document that `BEGIN` has matched, and True if tabs may precede it."""
    return found["plain"] or found["single"] or found["double"] or "", bool(found["tabs"])


class Ends:
    """The lines of a text that may end a here-document. They are indexed, not searched: a text may hold as many
    here-documents as lines."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._starts: dict[bool, dict[str, list[int]]] = {}

    def behind(self, at: int, delimiter: str, tabs: bool) -> int | None:
        """Return the offset after the line that ends the here-document at ``at``; None if there is no such line.

        Args:
            tabs: True if tabs may precede the delimiter.
        """
        if tabs not in self._starts:
            self._starts[tabs] = self._lines(tabs)
        starts = self._starts[tabs].get(delimiter, [])
        number = bisect_left(starts, at)
        if number == len(starts):
            return None
        stop = self._text.find("\n", starts[number])
        return stop + 1 if stop >= 0 else len(self._text)

    def _lines(self, tabs: bool) -> dict[str, list[int]]:
        """The offsets of lines, by their content."""
        found: dict[str, list[int]] = {}
        at = 0
        for line in self._text.split("\n"):
            bare = line.rstrip("\r")
            found.setdefault(bare.lstrip("\t") if tabs else bare, []).append(at)
            at += len(line) + 1
        return found
