"""One thing that is wrong in a text."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from tfmemlint.model.finding import Finding, Severity, Span
from tfmemlint.model.intent import Intent


@dataclass(frozen=True, slots=True)
class Mention:
    """A name or a value in a text that is none of TensorFlow's.

    Attributes:
        code: of the rule that knows what is wrong. span: where it stands, in the text that was looked through.
        message, outcome, advice, notes, intent: as in `Finding`.
        details: as in `Finding`: ``name`` is the canonical name, ``instead`` what to write in its place.
    """

    code: str
    span: Span
    message: str
    outcome: str = ""
    advice: str = ""
    intent: Intent | None = None
    notes: tuple[str, ...] = ()
    details: Mapping[str, object] = field(default_factory=dict)

    def as_finding(self, path: str, name: str) -> Finding:
        """The same as a finding of the rule with this name."""
        return Finding(
            self.code,
            name,
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
