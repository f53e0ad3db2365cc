"""A defect in a text."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from typing import TYPE_CHECKING

from tfmemlint.model.finding import Finding, Severity, Span
from tfmemlint.model.intent import Intent
from tfmemlint.model.records import dataclass
from tfmemlint.model.text_defect import TextDefect

if TYPE_CHECKING:
    from tfmemlint.rulekit.rule import Rule


@dataclass(frozen=True, slots=True)
class Mention:
    """A name or a value in a text that TensorFlow does not know.

    Attributes:
        defect: the kind of defect.
        span: the place in the text that was searched.
        message, outcome, advice, notes, intent: as in `Finding`.
        details: as in `Finding`: ``name`` is the canonical name, ``instead`` its replacement.
    """

    defect: TextDefect
    span: Span
    message: str
    outcome: str = ""
    advice: str = ""
    intent: Intent | None = None
    notes: tuple[str, ...] = ()
    details: Mapping[str, object] = field(default_factory=dict)

    def as_finding(self, path: str, rule: Rule) -> Finding:
        """Return the finding of the rule that reports the defect."""
        return Finding(
            rule.code,
            rule.name,
            Severity.WARNING,
            path,
            self.span,
            self.message,
            intent=self.intent,
            outcome=self.outcome,
            advice=self.advice,
            notes=self.notes,
            details=self.details,
            noqa_row=self.span.row,
        )
