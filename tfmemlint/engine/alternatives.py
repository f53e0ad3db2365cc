"""Several ways to do the same, which a document shows in one block of code, one below the other: a reader takes one of
them, so that what one way does to another is no mistake."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tfmemlint.model.finding import Finding
    from tfmemlint.sources import Source

_WAY = r"option|method|approach|variant|way|solution|choice|alternative|variante|methode|méthode|método|opción|opção"
_OR = re.compile(
    rf"\s*#[\s#=*-]*(?:(?:or|alternatively|alternative|oder|alternativ|ou|oppure|o bien|или)\b"
    rf"|(?:{_WAY})\s*(?:#?\d+|[a-d])\b|或|方法|方式|または|또는|방법)",
    re.IGNORECASE,
)
_NUMBER = re.compile(r"\s*#[\s#=*-]*\(?[1-9]\d?\s*[.):]")
"""Numbers stand before the steps of one way, too."""
_EXCLUDE_EACH_OTHER = frozenset({"TFM401"})
"""Findings about two settings of which nobody takes both, whatever the numbers before them mean."""


def are_apart(source: Source, finding: Finding) -> bool:
    """Whether a comment between the places that a finding is about says that another way begins there."""
    rows = [finding.span.row, *(step.span.row for step in finding.trace if step.path == source.path)]
    between = source.text.split("\n")[min(rows) : max(rows) - 1]
    numbered = finding.code in _EXCLUDE_EACH_OTHER
    return any(_OR.match(line) or (numbered and _NUMBER.match(line)) for line in between)
