"""The search of bytes for many regular expressions at once: only lines that contain a group's word are searched."""

from __future__ import annotations

import pytest

from tfmemlint.facts.line_search import LineSearch


@pytest.mark.parametrize(
    ("group", "data", "found"),
    [
        (("needle", False, r"needle\s+b"), b"a\nneedle b\n", True),
        (("needle", False, r"needle\s+b"), b"a needle b", True),
        (("needle", False, r"needle\s+b"), b"needle\nb", False),
        (("needle", False, r"needle\s+b"), b"needle\nneedle b", True),
        (("needle", False, r"a.*needle"), b"a\nneedle", False),
        (("needle", False, r"(?i)needle"), b"NEEDLE", False),
        (("needle", True, r"(?i)needle"), b"NEEDLE", True),
        (("", False, r"a|b"), b"c\nb", True),
        (("", False, r"a|b"), b"c\nd", False),
    ],
)
def test_a_match_lies_in_a_line_with_the_word(group: tuple[str, bool, str], data: bytes, found: bool) -> None:
    assert LineSearch([group])(data) is found


def test_files_are_put_into_lower_case_each_for_itself() -> None:
    search = LineSearch([("needle", True, r"(?i)needle")])
    assert [search(data) for data in (b"NEEDLE", b"none", b"Needle")] == [True, False, True]
