"""TFM900: tfmemlint itself failed on a file."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from tfmemlint.model.finding import Finding, Severity
from tfmemlint.rulekit.rule import Rule

if TYPE_CHECKING:
    from tfmemlint.interpreter.program import Program
    from tfmemlint.knowledge.releases import Target
    from tfmemlint.rulekit.correction import Correction


class InternalError(Rule):
    """tfmemlint itself failed on a file.

    What it does
    ------------
    Reports that a rule failed on a file. The other rules and the run continue; the run ends with exit code 2.

    Why it matters
    --------------
    This is a bug in tfmemlint, never in the checked code. Please report it with the file, or with the part of it that
    the message names.
    """

    code = "TFM900"
    name = "internal-error"
    severity = Severity.ERROR
    triggers = ()

    def check(self, program: Program) -> Iterator[Finding]:
        """Yield nothing: the engine reports this finding."""
        yield from ()

    def correction(self, finding: Finding, text: str, target: Target) -> Correction:
        """Return what to write instead."""
        from tfmemlint.rulekit.correction import of_text

        return of_text(finding, text, target)
