"""TFM903: a comment silences a rule that finds nothing there."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from tfmemlint.model.finding import Finding, Severity
from tfmemlint.rulekit.suppression_rule import SuppressionRule

if TYPE_CHECKING:
    from tfmemlint.fixes.comment_editor import CommentEditor
    from tfmemlint.fixes.editor import Editor


class UnusedSuppression(SuppressionRule):
    """A comment silences a rule that finds nothing there.

    What it does
    ------------
    Finds codes in ``# noqa: TFM101``, ``# tfmemlint: ignore[TFM101]`` and ``# tfmemlint: file-ignore[TFM101]`` that
    silence nothing. All rules are run for this, also those that are not selected.

    Why it matters
    --------------
    The reason for the comment is gone, and the comment would hide a new defect.
    """

    code = "TFM903"
    name = "unused-suppression"
    severity = Severity.ADVICE
    fixable = "always"
    fixes_comments = True

    def fix(self, finding: Finding, editor: Editor) -> None:
        """Take the code out of the comment, or the comment away."""
        editor.safe("Remove it from the comment")
        cast("CommentEditor", editor).drop_code(finding.span)
