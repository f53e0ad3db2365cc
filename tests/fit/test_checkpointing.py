"""Where a model is divided into segments that are computed again."""

from __future__ import annotations

import pytest

from tfmemlint.fit.child.checkpointing import _ends


@pytest.mark.parametrize("number", [1, 2, 5, 16, 17, 100, 177])
def test_segments_are_about_the_square_root_of_the_layers(number: int) -> None:
    ends = _ends([{1: 10}] * number)
    assert ends[-1] == number
    assert ends == sorted(set(ends))
    lengths = [end - begin for begin, end in zip([0, *ends[:-1]], ends, strict=True)]
    assert max(lengths) <= 2 * number**0.5 + 1


def test_a_segment_ends_where_little_passes() -> None:
    passing = [{1: 100, 2: 100}] * 16
    passing[4] = {1: 100}
    assert _ends(passing)[0] == 5
