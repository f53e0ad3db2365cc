"""Asking a person about each fix, with the change that it makes."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from typing import IO

from tfmemlint.model.finding import Applicability, Finding
from tfmemlint.reporters.cells import in_cells
from tfmemlint.reporters.diff import print_diff, unified_diff
from tfmemlint.sources import Source

DECLINED = "declined"
QUESTION = "Make this change? [y]es, [n]o, [a]ll that follow, [q]uit: "
_HELP = "y: make it. n: leave it. a: make it and all that follow. q: leave it and all that follow; what was made stays."


@dataclass(slots=True)
class Asker:
    """Asks on a terminal.

    Attributes:
        given: where answers come from. shown: where changes and questions go. color: None for as the terminal has it.
        always: what is answered to all that follows; None to ask.
    """

    given: IO[str]
    shown: IO[str]
    color: bool | None = None
    always: bool | None = None

    def __call__(self, path: str, finding: Finding, old: str, new: str) -> bool:
        """Whether to make a change to the file at ``path``, from ``old`` to ``new``; no answer is a no."""
        if self.always is not None:
            return self.always
        fix = finding.fix
        unsafe = " (unsafe)" if fix is not None and fix.applicability is Applicability.UNSAFE else ""
        words = f"{fix.message}{unsafe}" if fix is not None else ""
        cell = "" if finding.cell is None else f":cell {finding.cell}"
        print(f"{path}{cell}:{finding.span.row}: {finding.code} {finding.message}\n{words}", file=self.shown)
        print_diff(unified_diff(path, old, new), self.shown, color=self.color)
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


def as_shown(finding: Finding, old: Source, new: Source) -> tuple[str, Finding, str, str]:
    """A change as people see it: the file, the finding in its cell if that is a notebook, and what the file holds
    before and after."""
    (placed,), _ = in_cells([finding], {finding.path: old})
    return old.path, placed, old.as_file(old.text), old.as_file(new.text)


def terminal() -> Asker | None:
    """Asks the person at the terminal; None where there is none."""
    if not (sys.stdin.isatty() and sys.stderr.isatty()):
        return None
    return Asker(sys.stdin, sys.stderr)
