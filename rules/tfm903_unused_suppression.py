"""TFM903: a comment silences a rule that finds nothing there."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, cast

from tfmemlint.model.finding import Finding, Severity
from tfmemlint.rulekit.rule import Rule

if TYPE_CHECKING:
    from tfmemlint.fixes.comment_editor import CommentEditor
    from tfmemlint.fixes.editor import Editor
    from tfmemlint.interpreter.program import Program
    from tfmemlint.knowledge.releases import Target
    from tfmemlint.rulekit.correction import Correction


class UnusedSuppression(Rule):
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
    triggers = (r"(?i:(?:noqa|tfmemlint:)[^\n]*TFM\d)", "tfmemlint:")
    any_file = True

    def check(self, program: Program) -> Iterator[Finding]:
        """Yield nothing: the engine reports this finding."""
        yield from ()

    def fix(self, finding: Finding, editor: Editor) -> None:
        """Take the code out of the comment, or the comment away."""
        editor.safe("Remove it from the comment")
        cast("CommentEditor", editor).drop_code(finding.span)

    def correction(self, finding: Finding, text: str, target: Target) -> Correction:
        """Return what to write instead."""
        from tfmemlint.rulekit.correction import of_text

        return of_text(finding, text, target)
