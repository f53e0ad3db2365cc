"""The exception of a rewrite that must not be made, with the reason."""

from __future__ import annotations

from tfmemlint.model.finding import Finding
from tfmemlint.model.placed_text import place, placed


class Withheld(Exception):
    """The fix is withheld. The text says why, as a clause without a full stop."""


def already_set(finding: Finding) -> str:
    """Return why a call that comes after another one with another value can't be moved."""
    at = place(str(finding.details["before_path"]), int(str(finding.details["before"])))
    return placed(f"{at} has set another value already; it can be set once only", finding.path)


def failure_words(error: Exception) -> str:
    """Return why an error of a rewriter leaves a finding without a fix."""
    # What Python's parser takes, its compiler may refuse, and LibCST's parser: two parameters of one name, a carriage
    # return alone. (LibCST's error is no SyntaxError, and LibCST may not have been imported.)
    if isinstance(error, SyntaxError) or type(error).__name__ == "ParserSyntaxError":
        return "the new code would not parse"
    return f"the rewriter failed: {type(error).__name__}: {error}"
