"""The editor by which a rule rewrites comments that silence findings, in a language in which ``#`` begins comments."""

from __future__ import annotations

from typing import ClassVar

from tfmemlint.fixes.withheld import Withheld
from tfmemlint.model.finding import Applicability, Edit, Span
from tfmemlint.sources.suppressions import NOQA, Suppression, read_suppressions


class CommentEditor:
    """One rewrite of the comments of one text."""

    Withheld: ClassVar[type[Withheld]] = Withheld

    def __init__(self, text: str, *, python: bool) -> None:
        self.text = text
        self.python = python
        self.applicability = Applicability.SAFE
        self.message = ""
        self.needs: set[str] = set()
        self.edits: tuple[Edit, ...] | None = None
        self._lines = text.split("\n")

    def safe(self, message: str) -> None:
        """Mark the rewrite as safe. ``message`` says what it does, as a sentence without a full stop."""
        self.applicability, self.message = Applicability.SAFE, message

    def drop_code(self, span: Span) -> None:
        """Take a code out of its comment, and the comment away if it names no other.

        Raises:
            Withheld: no comment names a code there.
        """
        comments = read_suppressions(self.text, python=self.python).comments
        comment = next((comment for comment in comments if any(place == span for _, place in comment.codes)), None)
        if comment is None:
            raise Withheld("the comment is not where it was")
        if len(comment.codes) == 1:
            self._drop(comment)
            return
        places = [place for _, place in comment.codes]
        number = places.index(span)
        if number:
            self._cut(span.row, places[number - 1].end_column, span.end_column)
        else:
            self._cut(span.row, span.column, places[1].column)

    def _drop(self, comment: Suppression) -> None:
        end = comment.span.end_column if comment.word == NOQA and not comment.reason else comment.end
        self._cut(comment.row, comment.span.column, end)
        line = self._lines[comment.row - 1]
        before, after = line[: comment.span.column - 1].rstrip(), line[comment.span.column - 1 :].lstrip()
        if before or after:
            self._lines[comment.row - 1] = f"{before}  {after}".rstrip() if before else after
        else:
            del self._lines[comment.row - 1]

    def _cut(self, row: int, start: int, end: int) -> None:
        line = self._lines[row - 1]
        self._lines[row - 1] = line[: start - 1] + line[end - 1 :]

    def finish(self) -> str:
        """Return the new text."""
        return "\n".join(self._lines)
