"""TFM905: a comment silences a finding and does not say why."""

from __future__ import annotations

from tfmemlint.model.finding import Severity
from tfmemlint.rulekit.suppression_rule import SuppressionRule


class SuppressionWithoutReason(SuppressionRule):
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
