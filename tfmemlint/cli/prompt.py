"""Ask a person about each fix, and show the change that it makes."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import IO

from tfmemlint.model.finding import Applicability, Finding
from tfmemlint.model.records import dataclass
from tfmemlint.reporters.cells import in_cells
from tfmemlint.reporters.diff import print_diff, unified_diff
from tfmemlint.reporters.paint import printable
from tfmemlint.sources import Source

DECLINED = "declined"
QUESTION = "Make this change? [y]es, [n]o, [a]ll that follow, [q]uit: "
_HELP = "y: make it. n: leave it. a: make it and all that follow. q: leave it and all that follow; what was made stays."


@dataclass(slots=True)
class Asker:
    """Asks on a terminal.

    Attributes:
        given: where answers come from.
        shown: where changes and questions go.
        color: None to follow the terminal.
        always: the answer to all questions that follow; None to ask.
    """

    given: IO[str]
    shown: IO[str]
    color: bool | None = None
    always: bool | None = None

    def __call__(self, finding: Finding, changes: Sequence[tuple[Source, Source]]) -> bool:
        """Return the answer whether to make ``changes``, each of one file; no answer is a no."""
        if self.always is not None:
            return self.always
        own = next((change for change in changes if change[0].path == finding.path), None)
        if own is not None:
            (finding,), _ = in_cells([finding], {finding.path: own[0]})
        fix = finding.fix
        unsafe = " (unsafe)" if fix is not None and fix.applicability is Applicability.UNSAFE else ""
        words = f"{fix.message}{unsafe}" if fix is not None else ""
        cell = "" if finding.cell is None else f":cell {finding.cell}"
        place = f"{printable(finding.path)}{cell}:{finding.span.row}"
        print(f"{place}: {finding.code} {printable(finding.message)}\n{printable(words)}", file=self.shown)
        for old, new in changes:
            text = unified_diff(old.path, old.as_file(old.text), new.as_file(new.text))
            print_diff(text, self.shown, color=self.color)
        return self._answer()

    def _answer(self) -> bool:
        while True:
            self.shown.write(QUESTION)
            self.shown.flush()
            line = self.given.readline()
            answer = line.strip().lower()
            if not line or answer in ("q", "quit"):
                if not line:
                    self.shown.write("\n")
                self.always = False
                return False
            if answer in ("y", "yes"):
                return True
            if answer in ("n", "no"):
                return False
            if answer in ("a", "all"):
                self.always = True
                return True
            print(_HELP, file=self.shown)


def terminal() -> Asker | None:
    """Return what asks the person at the terminal; None if there is no terminal."""
    if not (sys.stdin.isatty() and sys.stderr.isatty()):
        return None
    return Asker(sys.stdin, sys.stderr)
