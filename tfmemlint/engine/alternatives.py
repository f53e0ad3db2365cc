"""Alternatives that a document shows one below the other in one block of code.

A reader takes one of them: what one alternative does to another is no mistake.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tfmemlint.model.finding import Finding
    from tfmemlint.rulekit.rule import Rule
    from tfmemlint.sources import Source

_WAY = r"option|method|approach|variant|way|solution|choice|alternative|variante|methode|méthode|método|opción|opção"
_OR = re.compile(
    rf"\s*#[\s#=*-]*(?:(?:or|alternatively|alternative|oder|alternativ|ou|oppure|o bien|или)\b"
    rf"|(?:{_WAY})\s*(?:#?\d+|[a-d])\b|或|方法|方式|または|또는|방법)",
    re.IGNORECASE,
)
_NUMBER = re.compile(r"\s*#[\s#=*-]*\(?[1-9]\d?\s*[.):]")
"""Steps of one alternative have numbers, too."""


def are_apart(source: Source, finding: Finding, rule: Rule | None) -> bool:
    """True if a comment between the places of a finding of ``rule`` says that another alternative starts there."""
    rows = [finding.span.row, *(step.span.row for step in finding.trace if step.path == source.path)]
    between = source.lines[min(rows) : max(rows) - 1]
    numbered = rule is not None and rule.between_alternatives
    return any(_OR.match(line) or (numbered and _NUMBER.match(line)) for line in between)
