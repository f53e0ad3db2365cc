"""A document of many examples costs what its length says: each program is as long as the document above it."""

from __future__ import annotations

from collections.abc import Callable

from tests.processor_time import assert_linear
from tfmemlint.sources.documents.document import Document, decode_document
from tfmemlint.sources.kinds import MARKDOWN

EXAMPLE = "\n\n".join(("## Example {0}", "Some words.", "```python\nimport tensorflow as tf\n\nx = tf.ones({0})\n```"))


def read(count: int) -> Document:
    """Return a document with so many examples."""
    text = "\n\n".join(map(EXAMPLE.format, range(count)))
    return decode_document("README.md", text.encode(), MARKDOWN)


def test_to_put_back_a_changed_example_does_not_cost_the_document() -> None:
    def change(document: Document) -> Callable[[], None]:
        snippets = list(document.snippets())

        def work() -> None:
            for snippet in snippets:
                (found,) = snippet.changed_rows(snippet.text.replace("ones", "zeros"))
                assert found.lines[-1].startswith("x = tf.zeros(")

        return work

    assert_linear(change(read(400)), change(read(800)))


def test_a_program_ends_with_its_last_block() -> None:
    first, *_ = read(100).snippets()
    assert len(first.lines) < 15
