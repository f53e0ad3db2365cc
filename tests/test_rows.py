"""Rows of programs of several files."""

from __future__ import annotations

import pytest

from tfmemlint.model.finding import Span
from tfmemlint.sources import Source
from tfmemlint.sources.line_map import Rows


@pytest.fixture
def rows() -> Rows:
    """A program of three files of three, two and no lines."""
    found = Rows(Source("main.py", "a\nb\nc\n"))
    for name, text in (("core/one.py", "d\ne\n"), ("core/none.py", ""), ("two.py", "f\n  g\n")):
        source = found.below(Source(name, text))
        assert source.text.strip() == text.strip()
        assert source.text.endswith(text)
    return found


def _row(rows: Rows, path: str, line: int) -> int:
    return next(row for row in range(1, 100) if rows.place(row) == (path, line))


def test_each_row_is_one_line_of_one_file(rows: Rows) -> None:
    assert [rows.place(row) for row in (1, 2, 3)] == [("main.py", 1), ("main.py", 2), ("main.py", 3)]
    assert rows.text(_row(rows, "core/one.py", 2)) == "e"
    assert rows.segment(Span(_row(rows, "two.py", 2), 3, _row(rows, "two.py", 2), 4)) == "g"
    assert rows.segment(Span(2, 1, 2, 2)) == "b"


def test_a_person_reads_of_another_file_its_name_too(rows: Rows) -> None:
    one = _row(rows, "core/one.py", 2)
    assert (rows.shown(2), rows.line(2)) == ("2", "line 2")
    assert (rows.shown(one), rows.line(one)) == ("core/one.py:2", "core/one.py:2")
    assert rows.words(f"line 2 (x) and line {one}, as core/one.py:{one} says") == (
        "line 2 (x) and core/one.py:2, as core/one.py:2 says"
    )
    assert rows.words("line 2 of 5 lines") == "line 2 of 5 lines"


def test_rows_that_are_no_lines_of_a_program_stay_what_they_are(rows: Rows) -> None:
    one = _row(rows, "core/one.py", 1)
    assert rows.words(f"other.py:{one}") == f"other.py:{one}"
    said = f'File "core/one.py", line {one}\nFile "/elsewhere.py", line {one}'
    assert rows.output(said) == f'File "core/one.py", line 1\nFile "/elsewhere.py", line {one}'
    alone = Rows(Source("main.py", "a\n"))
    assert alone.words("line 400, x.py:20") == "line 400, x.py:20"
