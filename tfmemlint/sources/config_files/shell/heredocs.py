"""The here-documents of a shell: where they begin, and where they end.

Source: POSIX, Shell Command Language, 2.7.4 (Here-Document).
"""

from __future__ import annotations

import re
from bisect import bisect_left

BEGIN = re.compile(
    r"(?<!<)<<(?P<tabs>-?)[ \t]*(?:\\?(?P<plain>[A-Za-z_]\w*)|'(?P<single>[^'\n]*)'|\"(?P<double>[^\"\n]*)\")"
)
"""What begins one."""


def begun(found: re.Match[str]) -> tuple[str, bool]:
    """How the here-document ends that `BEGIN` has found, and whether tabs may stand in front of that."""
    return found["plain"] or found["single"] or found["double"] or "", bool(found["tabs"])


class Ends:
    """The lines of a text that here-documents may end with. They are looked up rather than looked for: a text may hold
    as many here-documents as lines."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._starts: dict[bool, dict[str, list[int]]] = {}

    def behind(self, at: int, delimiter: str, tabs: bool) -> int | None:
        """Behind the line that ends the here-document which begins at ``at``; None where there is no such line.

        Args:
            tabs: they may stand in front of it.
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
        """Where each line begins, by what it holds."""
        found: dict[str, list[int]] = {}
        at = 0
        for line in self._text.split("\n"):
            bare = line.rstrip("\r")
            found.setdefault(bare.lstrip("\t") if tabs else bare, []).append(at)
            at += len(line) + 1
        return found
