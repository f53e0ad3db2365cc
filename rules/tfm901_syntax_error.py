"""TFM901: a file is not valid Python, or not valid YAML."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from tfmemlint.model.finding import Finding, Severity
from tfmemlint.model.text_defect import TextDefect
from tfmemlint.rulekit.rule import Rule

if TYPE_CHECKING:
    from tfmemlint.interpreter.program import Program
    from tfmemlint.knowledge.releases import Target
    from tfmemlint.rulekit.correction import Correction


class InvalidSyntax(Rule):
    """A file is not valid Python, or not valid YAML.

    What it does
    ------------
    Tells where Python 3 cannot read a file: Python 2 code, several statements run together on one line, text
    damaged by masking, nesting too deep to be read. Files that a directory holds are read only where their bytes
    mention what the rules are about; files that are named on the command line are read always.

    The same for YAML files in which a variable about GPUs is mentioned, but for templates, which are no YAML yet.

    Why it matters
    --------------
    Nothing can be said about such a file, and silence would look like praise.
    """

    code = "TFM901"
    name = "syntax-error"
    severity = Severity.ERROR
    text_defects = (TextDefect.BROKEN_CODE,)
    triggers = ()
    any_tensorflow_file = True

    def check(self, program: Program) -> Iterator[Finding]:
        """Found by the run itself, not in a program."""
        yield from ()

    def correction(self, finding: Finding, text: str, target: Target) -> Correction:
        """Return what to write instead."""
        from tfmemlint.rulekit.correction import of_text

        return of_text(finding, text, target)
