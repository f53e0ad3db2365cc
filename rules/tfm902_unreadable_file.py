"""TFM902: a file cannot be read."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from tfmemlint.model.finding import Finding, Severity
from tfmemlint.rulekit.rule import Rule

if TYPE_CHECKING:
    from tfmemlint.interpreter.program import Program
    from tfmemlint.knowledge.releases import Target
    from tfmemlint.rulekit.correction import Correction


class UnreadableFile(Rule):
    """A file cannot be read.

    What it does
    ------------
    Reports files that cannot be opened or decoded: no permission, binary content, null bytes, bytes that are not in the
    encoding that the file declares.

    Why it matters
    --------------
    tfmemlint cannot check such a file, and silence would look like success. The run continues with the other files.
    """

    code = "TFM902"
    name = "unreadable-file"
    severity = Severity.ERROR
    triggers = ()
    any_tensorflow_file = True

    def check(self, program: Program) -> Iterator[Finding]:
        """Yield nothing: the engine reports this finding."""
        yield from ()

    def correction(self, finding: Finding, text: str, target: Target) -> Correction:
        """Return what to write instead."""
        from tfmemlint.rulekit.correction import of_text

        return of_text(finding, text, target)
