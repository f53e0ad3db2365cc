"""Text is read as Python reads it, and written back byte for byte."""

from __future__ import annotations

import ast
import codecs

import pytest

from tfmemlint.model.finding import Span
from tfmemlint.sources import Source, Unreadable, decode


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"x = 1",
        b"x = 1\n",
        b"x = 1\r\ny = 2\r\n",
        b"x = 1\ry = 2\r",
        b"x = 1\r\ny = 2\nz = 3\r\n\n",
        b"x = 1\r\ny = 2\nlast",
        codecs.BOM_UTF8 + b"x = '\xc3\xa9'\r\n",
        b"# -*- coding: latin-1 -*-\nx = '\xe9'\n",
        b"# coding: cp1252\r\nx = '\x80'\r\n",
        "x = '\N{GRINNING FACE}'\n".encode(),
        b"x = '''a\x0cb\x0bc'''\n",
    ],
)
def test_what_is_read_is_written_back(data: bytes) -> None:
    source = decode("x.py", data)
    assert "\r" not in source.text
    assert source.encode(source.text) == data


def test_changed_lines_get_the_usual_end_and_the_others_keep_theirs() -> None:
    source = decode("x.py", b"a = 1\r\nb = 2\nc = 3\r\n")
    assert source.encode("a = 1\nnew = 0\nb = 2\nc = 3\n") == b"a = 1\r\nnew = 0\r\nb = 2\nc = 3\r\n"


def test_new_text_that_the_encoding_lacks_is_refused() -> None:
    source = decode("x.py", b"# coding: latin-1\nx = 1\n")
    with pytest.raises(UnicodeEncodeError):
        source.encode("# coding: latin-1\nx = '\u20ac'\n")


@pytest.mark.parametrize(
    ("data", "row", "words"),
    [
        (b"x = 1\ny = '\xff'\n", 2, "not valid utf-8"),
        (b"# coding: nonsense\n", 1, "unknown encoding"),
        (b"x = 1\ny = \0\n", 2, "null bytes"),
        ("x = 1\n".encode("utf-16"), 1, "UTF-16"),
        (codecs.BOM_UTF8 + b"# coding: latin-1\nx = '\xe9'\n", 0, "byte order mark"),
    ],
)
def test_what_cannot_be_read_says_why_and_where(data: bytes, row: int, words: str) -> None:
    with pytest.raises(Unreadable) as caught:
        decode("x.py", data)
    assert words in str(caught.value)
    assert row in (0, caught.value.row)


def test_places_count_characters() -> None:
    source = Source("x.py", "x = '\u00e9\U0001f600' + f(y)\n")
    call = next(node for node in ast.walk(ast.parse(source.text)) if isinstance(node, ast.Call))
    assert source.span(call) == Span(1, 12, 1, 16)
    assert source.segment(source.span(call)) == "f(y)"


def test_a_place_over_several_lines() -> None:
    source = Source("x.py", "f(\n    1,\n)\n")
    assert source.segment(source.span(ast.parse(source.text).body[0])) == "f(\n    1,\n)"
