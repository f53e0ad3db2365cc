"""Code in the docstrings of Python, and what looks like it."""

from __future__ import annotations

import ast

import pytest
from hypothesis import given, settings

from tests.sources.documents import check, read_with, text_of, texts, told
from tfmemlint.sources.documents.blocks import Block
from tfmemlint.sources.documents.docstrings import blocks


def read(document: str) -> list[Block]:
    """The blocks of a text that stands in a test; all of them where they say to be."""
    found = read_with(blocks, document)
    text = text_of(document)
    assert blocks(text, ast.parse(text)) == found
    return found


def only(document: str) -> Block:
    (block,) = read(document)
    return block


@pytest.mark.parametrize(
    "document",
    [
        "",
        "x = '''\n>>> tf.zeros(1)\n'''\n",
        "def f():\n    x = 1\n    '''\n    >>> tf.zeros(1)\n    '''\n",
        "# >>> tf.zeros(1)\n",
        "def f():\n    f'''\n    >>> tf.zeros({1})\n    '''\n",
        "def f():\n    b'''\n    >>> tf.zeros(1)\n    '''\n",
        "def f():\n    '''Text\\n    >>> tf.zeros(1)\n    '''\n",
        "def f():\n    '''Text\\n\\n>>> tf.zeros(1)'''\n",
        "def f():\n    '''\n    >>> tf.zeros('\\\\n')\n    '''\n",
        "def f():\n    ('a'\n     '>>> tf.zeros(1)\\n')\n",
        "def f():\n    '''Text.\n\n    Args:\n        x: tf.Tensor\n        y: tf.Tensor (optional)\n    '''\n",
        "def f():\n    '''Text.\n\n    Returns:\n      tf.Tensor(x)\n    '''\n",
        "def f():\n    '''Text with `tf.zeros(1)`.\n\n    Example:\n        how to do it.\n    '''\n",
        "def f(:\n    '''\n    >>> x\n    '''\n",
        "class A:\n    x = 1\n    '''\n    >>> tf.zeros(1)\n    '''\n",
    ],
)
def test_no_code(document: str) -> None:
    found = blocks(document)
    check(document, found)
    assert found == []


@pytest.mark.parametrize("prefix", ["", "r", "R", "u"])
@pytest.mark.parametrize("quote", ['"""', "'''"])
@pytest.mark.parametrize("above", ["", "class A:\n    ", "def f(a,\n      b):\n    ", "async def f():\n    "])
def test_docstrings_of_all_kinds(prefix: str, quote: str, above: str) -> None:
    block = only(f"{above}{prefix}{quote}Text.\n\n    >>> tf.f(\n    ...   x)\n    1\n    {quote}\n")
    row = above.count("\n") + 3
    assert (block.language, block.text, block.rows, block.starts) == ("python", "tf.f(\n  x)\n", (row, row + 1), (8, 8))
    assert block.fixable


def test_the_rows_of_the_quotes() -> None:
    block = only("def f():\n    '''>>> tf.f()'''\n")
    assert (block.text, block.rows, block.starts, block.fixable) == ("tf.f()\n", (2,), (11,), False)
    first, second = read("def f():\n    '''>>> a\n\n    Text\n\n    >>> b'''\n")
    assert (first.fixable, second.fixable) == (True, False)


def test_columns_are_characters() -> None:
    block = only("class É: 'é >>> x'; y = '''\n'''\n\ndef f(): '''>>> é()'''\n")
    assert (block.text, block.starts) == ("é()\n", (16,))


def test_other_lines_may_have_escapes() -> None:
    assert told(read("def f():\n    '''A \\\\ b.\n\n    >>> a\n\n    Text\n\n    >>> '\\\\n'\n    '''\n")) == [
        ("python", "a\n")
    ]


def test_every_way_to_write_an_example() -> None:
    document = '''
        def f():
            """Text.

            ```python
            a
            ```

            .. code-block:: python

                b

            Like this::

                tf.c()

            Example:
                x = tf.d()

            Usage:

              tf.e(x)

            For instance:

                import tensorflow as tf

            Example:
                >>> g

            Example:
                Text.

                ~~~
                tf.h()
                ~~~

            Returns:
                x
            """
        '''
    code = ["a", "b", "tf.c()", "x = tf.d()", "tf.e(x)", "import tensorflow as tf", "g", "tf.h()"]
    assert told(read(document)) == [("python", f"{line}\n") for line in code]


def test_comments_that_silence_a_block() -> None:
    assert only("'''\n<!-- tfmemlint: ignore[TFM101] -->\n```python\nx\n```\n'''\n").silenced == ("TFM101",)
    assert only("'''\n.. tfmemlint: ignore\n\n>>> x\n'''\n").silenced == ("*",)


def test_a_fence_without_an_end_ends_with_the_docstring() -> None:
    assert told(
        read("def f():\n    '''\n    ```python\n    a\n    '''\n\ndef g():\n    '''\n    >>> b\n    '''\n")
    ) == [
        ("python", "a\n"),
        ("python", "b\n"),
    ]


@given(texts)
@settings(max_examples=300, deadline=None)
def test_lines_are_where_blocks_say(text: str) -> None:
    check(text, blocks(text))
    inner = text.replace('"""', "'''")
    for document in (f'def f():\n    r"""{inner}\n    """\n', f'"""{inner}"""\n'):
        check(document, blocks(document))
