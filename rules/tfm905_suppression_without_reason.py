"""TFM905: a comment silences a finding and does not say why."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from tfmemlint.model.finding import Finding, Severity
from tfmemlint.rulekit.rule import Rule

if TYPE_CHECKING:
    from tfmemlint.interpreter.program import Program
    from tfmemlint.knowledge.releases import Target
    from tfmemlint.rulekit.correction import Correction


class SuppressionWithoutReason(Rule):
    """A comment silences a finding and does not say why.

    What it does
    ------------
    Finds ``# tfmemlint: ignore[TFM101]``, ``# tfmemlint: file-ignore[TFM101]`` and ``# noqa: TFM101`` without a text
    after them. A project that requires reasons selects this rule: ``extend-select = ["TFM905"]``.

    Why it matters
    --------------
    Nobody can tell later whether the reason still holds.
    """

    code = "TFM905"
    name = "suppression-without-reason"
    severity = Severity.ADVICE
    triggers = (r"(?i:(?:noqa|tfmemlint:)[^\n]*TFM\d)", "tfmemlint:")
    any_file = True

    def check(self, program: Program) -> Iterator[Finding]:
        """Yield nothing: the engine reports this finding."""
        yield from ()

    def correction(self, finding: Finding, text: str, target: Target) -> Correction:
        """Return what to write instead."""
        from tfmemlint.rulekit.correction import of_text

        return of_text(finding, text, target)
