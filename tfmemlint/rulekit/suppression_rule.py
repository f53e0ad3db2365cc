"""The base of rules about the comments that silence findings."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, ClassVar

from tfmemlint.rulekit.rule import Rule

if TYPE_CHECKING:
    from tfmemlint.interpreter.program import Program
    from tfmemlint.knowledge.releases import Target
    from tfmemlint.model.finding import Finding
    from tfmemlint.rulekit.correction import Correction


class SuppressionRule(Rule):
    """A rule about the comments that silence findings: the engine reports what it finds, once all rules have run."""

    triggers: ClassVar[tuple[str, ...]] = (r"(?i:(?:noqa|tfmemlint:)[^\n]*TFM\d)", "tfmemlint:")
    any_file = True

    def check(self, program: Program) -> Iterator[Finding]:
        """Yield nothing: the engine reports these findings."""
        yield from ()

    def correction(self, finding: Finding, text: str, target: Target) -> Correction:
        """Return what to write instead."""
        from tfmemlint.rulekit.correction import of_text

        return of_text(finding, text, target)
