"""What all readers of documents have to keep to, and ways to write documents for them."""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Sequence

from hypothesis import strategies as st

from tfmemlint.sources.documents.blocks import Block

Reader = Callable[[str], list[Block]]

PIECES = [
    "```", "```python\n", "````{note}\n", "~~~", "~~~ sh\n", "> ", "- ", "1. ", "\t", "    ", "  ", " ", "::", "::\n\n",
    ".. code-block:: python\n\n    ", ".. note::\n", ".. ", "..\n", "<!-- ", "-->", "<details>\n", "<pre>", ":::",
    ":::{code-block} python\n", "!!! note\n", '=== "a"\n', "{% highlight python %}\n", "{% endhighlight %}\n", "{/* ",
    "*/}", "---\n", "===\n", ">>> ", "... ", "$ ", "In [1]: ", "\x0c", "\x0b", "\u2028", "\xa0", "\0", "\n", "\n\n",
    "[^1]: ", "|a|\n|-|\n", "import tensorflow as tf\n", "x = tf.zeros(1)\n", "```{eval-rst}\n", "```{code-cell}\n",
    ":tags: [a]\n", "```markdown\n", "é😀", "a", "# ", "Example:\n\n", "\\", "\\n", '"""', "{python}", "export A=1\n",
    "Traceback (most recent call last):\n", "<<EOF", "EOF\n", "<!-- tfmemlint: ignore -->\n", ".. tfmemlint: ignore\n",
]  # fmt: skip
texts = st.lists(st.sampled_from(PIECES), max_size=60).map("".join) | st.text(max_size=200)
"""Texts of what readers look for, in any order."""


def text_of(document: str) -> str:
    """A document as it stands in a test: without the test's indentation, where it begins on a line of its own."""
    return textwrap.dedent(document[1:]) if document.startswith("\n") and document[1:2] == " " else document


def told(blocks: Sequence[Block]) -> list[tuple[str, str]]:
    """The language and the text of blocks."""
    return [(block.language, block.text) for block in blocks]


def check(document: str, blocks: Sequence[Block]) -> None:
    """Each line of a block is where the block says, and no row is in two of them."""
    lines = document.split("\n")
    used: set[int] = set()
    for block in blocks:
        *code, last = block.text.split("\n")
        assert last == ""
        assert len(code) == len(block.rows) == len(block.starts) > 0
        assert sorted(set(block.rows)) == list(block.rows)
        assert used.isdisjoint(block.rows)
        used.update(block.rows)
        for row, start, line in zip(block.rows, block.starts, code, strict=True):
            assert start >= 0
            if block.fixable:
                assert lines[row - 1][start:] == line
            else:
                assert line.strip() in lines[row - 1]


def read_with(reader: Reader, document: str) -> list[Block]:
    """The blocks of a document that stands in a test; all of them where they say to be."""
    text = text_of(document)
    found = reader(text)
    check(text, found)
    return found
