"""TFM904: a comment silences a rule that does not exist, or has an unknown word."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from tfmemlint.model.finding import Finding, Severity
from tfmemlint.rulekit.rule import Rule

if TYPE_CHECKING:
    from tfmemlint.interpreter.program import Program
    from tfmemlint.knowledge.releases import Target
    from tfmemlint.rulekit.correction import Correction


class UnknownCodeInSuppression(Rule):
    """A comment silences a rule that does not exist, or has an unknown word.

    What it does
    ------------
    Finds codes and names in suppression comments that no rule has, such as ``TFM999``, and comments whose word after
    ``tfmemlint:`` means nothing, such as ``# tfmemlint: disable``. It names the nearest one that exists.

    Why it matters
    --------------
    The comment silences nothing; the code or the word is likely a typo.
    """

    code = "TFM904"
    name = "unknown-code-in-suppression"
    severity = Severity.WARNING
    triggers = (r"(?i:(?:noqa|tfmemlint:)[^\n]*TFM\d)", "tfmemlint:")
    any_file = True

    def check(self, program: Program) -> Iterator[Finding]:
        """Yield nothing: the engine reports this finding."""
        yield from ()

    def correction(self, finding: Finding, text: str, target: Target) -> Correction:
        """Return what to write instead."""
        from tfmemlint.rulekit.correction import of_text

        return of_text(finding, text, target)
