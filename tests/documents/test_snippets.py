"""A program of a document is changed, and nothing around it."""

from __future__ import annotations

import ast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tfmemlint.sources import kinds
from tfmemlint.sources.documents.document import Document, decode_document
from tfmemlint.sources.documents.snippet import Snippet

FRONTS = st.sampled_from(["", "  ", "> ", ">   "])
CODE = st.lists(
    st.sampled_from(
        ["x = 1", "y = x", "for i in range(3):\n    print(i)", "", "# why", "s = '''a\n  b'''", "!ls", "%env A=1"]
    ),
    min_size=1,
    max_size=5,
)
PROSE = st.lists(st.sampled_from(["Text.", "", "## Title", "- item", "`tf.config`"]), max_size=3)


def block(front: str, code: list[str]) -> list[str]:
    lines = ["```python", *"\n".join(code).split("\n"), "```"]
    return [(front + line) if line else front.rstrip() for line in lines]


@st.composite
def documents(draw: st.DrawFn) -> str:
    """A document of prose and blocks."""
    lines: list[str] = []
    for _ in range(draw(st.integers(1, 3))):
        # A heading ends a list or a quote, so that each block begins in one of its own.
        lines += [*draw(PROSE), "", "# Part", "", *block(draw(FRONTS), draw(CODE)), ""]
    return "\n".join(lines)


def read(text: str) -> Document:
    return decode_document("page.md", text.encode(), kinds.MARKDOWN)


@given(documents())
def test_what_is_not_changed_stays(text: str) -> None:
    document = read(text)
    for snippet in document.snippets():
        assert snippet.as_file(snippet.text) == text
    assert document.encode(document.text) == text.encode()


@given(documents(), st.integers(0, 5))
def test_a_line_that_is_added_is_all_that_changes(text: str, seed: int) -> None:
    for snippet in read(text).snippets():
        lines = snippet.text.split("\n")
        rows = [row for row, line in enumerate(lines) if line.startswith(("x =", "y ="))]
        if not rows:
            continue
        row = rows[seed % len(rows)]
        lines.insert(row, "added = 1")
        changed = snippet.as_file("\n".join(lines)).split("\n")
        at = next(number for number, line in enumerate(changed) if line.endswith("added = 1"))
        assert "\n".join(changed[:at] + changed[at + 1 :]) == text
        assert changed[at].removesuffix("added = 1") == text.split("\n")[row].removesuffix(lines[row + 1])


@given(documents())
def test_each_program_is_python_in_the_rows_of_the_document(text: str) -> None:
    for snippet in read(text).snippets():
        ast.parse(snippet.text)
        last = max(row for block in snippet.blocks for row in block.rows)
        assert last <= len(snippet.lines) <= len(text.split("\n"))
        assert not "".join(snippet.lines[last:]).strip()


def only(text: str) -> Snippet:
    (snippet,) = read(text).snippets()
    return snippet


def test_what_would_change_the_rest_is_refused() -> None:
    snippet = only("```python\n!pip install x\ny = tf.zeros(2)\n```\n")
    with pytest.raises(ValueError, match="not Python would change"):
        snippet.as_file(snippet.text.replace("!pip install x", "!pip install z"))
    with pytest.raises(ValueError, match="told apart"):
        snippet.as_file("y = 1\n")


def test_the_imports_that_a_program_needs_are_none_of_it() -> None:
    snippet = only("Text.\n\nMore.\n\n```python\ny = tf.zeros(2)\nos.getcwd()\n```\n")
    assert [line for line in snippet.text.split("\n") if "import" in line] == ["import tensorflow as tf", "import os"]
    assert "import" not in snippet.as_file(snippet.text.replace("y =", "z ="))


def test_what_goes_in_front_of_the_imports_goes_into_the_block() -> None:
    snippet = only("Text.\n\nMore.\n\n```python\ny = tf.zeros(2)\n```\n")
    made = snippet.as_file(snippet.text.replace("import tensorflow", "import pynvml\nimport tensorflow"))
    assert made == "Text.\n\nMore.\n\n```python\nimport pynvml\ny = tf.zeros(2)\n```\n"
