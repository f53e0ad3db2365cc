"""Edits are the difference between two texts, and lead from one to the other."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tfmemlint.fixes.edits import apply, difference, overlap
from tfmemlint.model.finding import Edit, Span

TEXTS = st.text(alphabet="ab\n\x0c", max_size=30)


def test_equal_texts_have_no_edits() -> None:
    assert difference("a\nb", "a\nb") == ()


@given(TEXTS, TEXTS)
def test_edits_lead_from_one_text_to_the_other(old: str, new: str) -> None:
    assert apply(old, difference(old, new)) == new


def test_only_the_lines_that_differ_are_replaced() -> None:
    assert difference("a\nb\nc\n", "a\nx\nc\n") == (Edit(Span(2, 1, 3, 1), "x\n"),)


def test_edits_that_overlap_are_refused() -> None:
    one, other = Edit(Span(1, 1, 3, 1), "x\n"), Edit(Span(2, 1, 2, 2), "y")
    assert overlap(one, other) and overlap(other, one)
    with pytest.raises(ValueError, match="overlap"):
        apply("a\nb\nc\n", [one, other])


def test_edits_side_by_side_do_not_overlap() -> None:
    assert not overlap(Edit(Span(1, 1, 2, 1), "x\n"), Edit(Span(2, 1, 3, 1), "y\n"))
