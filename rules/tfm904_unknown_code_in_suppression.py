"""TFM904: a comment silences a rule that does not exist, or has an unknown word."""

from __future__ import annotations

from tfmemlint.model.finding import Severity
from tfmemlint.rulekit.suppression_rule import SuppressionRule


class UnknownCodeInSuppression(SuppressionRule):
    """A comment silences a rule that does not exist, or has an unknown word.

    What it does
    ------------
    Finds codes and names in suppression comments that no rule has, such as ``TFM999``, and comments whose word after
    ``tfmemlint:`` means nothing, such as ``# tfmemlint: disable``. It names the nearest one that exists. It also finds
    lists that are not in ``[`` and ``]``, such as ``# tfmemlint: ignore[TFM101``: these silence what they plainly name.

    Why it matters
    --------------
    The comment silences nothing; the code or the word is likely a typo.
    """

    code = "TFM904"
    name = "unknown-code-in-suppression"
    severity = Severity.WARNING
