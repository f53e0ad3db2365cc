"""No regular expression of the tool takes the square of a text's length, or worse."""

from __future__ import annotations

import pytest

from tests.processor_time import assert_linear, at_most
from tests.safety.patterns import Use, attacks, uses

LENGTH = 8_000
"""Characters: what takes their square takes several times `tests.processor_time.reference_seconds`."""
NEVER_ENDS = 10.0
"""Processor seconds after which a pattern that has not ended with one text is given up."""
NOT_FOR_LONG_TEXTS = {
    "tfmemlint.rulekit.rule._BLOCK": "reads the docstrings of rules",
    "tfmemlint.sources.documents.python_lines._STATEMENT": "gets the first 1,000 characters of a line",
    "tfmemlint.text_checks.broken._JOINT": "gets the first 1,000 characters of a line",
    "tfmemlint.text_checks.broken._STATEMENT": "a part of that",
}


def slow_text(use: Use) -> str:
    """Return the beginning of a text on which a pattern takes more than twice as long as on half of it."""
    for half, whole in zip(attacks(use.pattern, LENGTH // 2), attacks(use.pattern, LENGTH), strict=True):
        try:
            with at_most(NEVER_ENDS):
                use.on(half)
            assert_linear(lambda: use.on(half), lambda: use.on(whole))  # noqa: B023
        except AssertionError as too_long:
            return f"{use.name}.{use.method} on {whole[:40]!r}: {too_long}"
    return ""


@pytest.mark.slow
def test_no_regular_expression_takes_the_square_of_a_texts_length() -> None:
    tried = [use for use in uses() if use.name not in NOT_FOR_LONG_TEXTS]
    assert len(tried) > 300
    assert [words for words in map(slow_text, tried) if words] == []


@pytest.mark.slow
def test_what_takes_the_square_is_noticed() -> None:
    import re

    assert slow_text(Use("blanks", re.compile(r"(?:[ab]|\s)+#"), "search"))
    assert not slow_text(Use("blanks", re.compile(r"(?<![ab\s])(?:[ab]|\s)+#"), "search"))


@pytest.mark.slow
def test_what_never_ends_is_noticed() -> None:
    import re

    assert "it has not ended" in slow_text(Use("numbers", re.compile(r"v(?:\.?(?:x|\d+))*"), "fullmatch"))
