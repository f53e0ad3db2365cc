"""Code in reStructuredText, and what looks like it."""

from __future__ import annotations

import pytest
from hypothesis import given, settings

from tests.sources.documents import check, read_with, texts, told
from tfmemlint.sources.documents.blocks import Block
from tfmemlint.sources.documents.restructured import blocks


def read(document: str) -> list[Block]:
    """The blocks of a document that stands in a test; all of them where they say to be."""
    return read_with(blocks, document)


def only(document: str) -> Block:
    (block,) = read(document)
    return block


@pytest.mark.parametrize(
    "document",
    [
        "",
        "Call ``tf.config.list_physical_devices()`` first.\n",
        ".. A comment\n   import tensorflow as tf\n",
        "..\n   import tensorflow as tf\n",
        ".. code-block python\n\n   import tensorflow as tf\n",
        ".. parsed-literal::\n\n   import tensorflow as *tf*\n",
        ".. literalinclude:: a.py\n   :language: python\n",
        ".. include:: a.rst\n",
        ".. math::\n\n   tf = 1\n",
        ".. raw:: html\n\n   <pre>import tensorflow as tf</pre>\n",
        ".. testoutput::\n\n   tf.Tensor(1)\n",
        ".. highlight:: python\n",
        ".. |tf| replace:: tensorflow::\n\n   x\n",
        ".. _target: https://tensorflow.org/a::\n",
        "Title\n::::::\n\n    A quotation of tf.zeros(1)\n",
        "A paragraph:\n\n    A quotation: tf.zeros(1)\n",
        "Two colons:: in a sentence\n",
        ".. code-block:: python\n",
        ".. code-block:: python\n   :caption: tf.zeros(1)\n\nText\n",
        "::\n",
        "Text::\n",
        ".. note:: Text\n",
        "C++ has tensorflow::ops:: and more\n",
    ],
)
def test_no_code(document: str) -> None:
    assert read(document) == []


@pytest.mark.parametrize(
    ("document", "language"),
    [
        (".. code-block:: diff\n\n   -import tensorflow\n", "diff"),
        (".. code-block:: none\n\n   tf.zeros(1)\n", "none"),
        (".. code-block::\n\n   x = 1\n", ""),
        ("Text::\n\n   import of tensorflow\n", ""),
        ("Text::\n\n   tensorflow>=2.4\n", ""),
        ("Text::\n\n   x = 1\n", ""),
        (".. highlight:: none\n\nText::\n\n   tf.zeros(1)\n", "none"),
        (".. highlight:: c++\n\nText::\n\n   tf.zeros(1);\n", "c++"),
        ("Text::\n\n> quoted\n> lines\n", ""),
    ],
)
def test_code_in_which_no_python_is_looked_for(document: str, language: str) -> None:
    assert only(document).language == language


@pytest.mark.parametrize(
    "directive",
    [
        "code-block:: python", "code:: python3", "sourcecode:: py", "Code-Block:: Python", "code-block:: ipython3",
        "testcode::", "testsetup::", "ipython::", "jupyter-execute::", "plot::", "code ::  python",
    ],
)  # fmt: skip
def test_directives_of_python(directive: str) -> None:
    block = only(f".. {directive}\n   :option: a\n   :flag:\n\n   if x:\n       y\n\n   z\n\nText\n")
    assert (block.language, block.text, block.rows) == ("python", "if x:\n    y\n\nz\n", (5, 6, 7, 8))
    assert block.starts == (3, 3, 0, 3)


@pytest.mark.parametrize(
    ("document", "rows", "starts"),
    [
        ("Text::\n\n    tf.f(\n      x)\n", (3, 4), (4, 4)),
        ("Text ::\n\n tf.f(\n   x)\n\nMore\n", (3, 4), (1, 1)),
        ("Text\n\n::\n\n    tf.f(\n      x)\n", (5, 6), (4, 4)),
        ("- Text::\n\n    tf.f(\n      x)\n\n- More\n", (3, 4), (4, 4)),
        ("1. Text\n   goes on::\n\n     tf.f(\n       x)\n", (4, 5), (5, 5)),
        ("* - .. code-block:: python\n\n         tf.f(\n           x)\n", (3, 4), (9, 9)),
        ("- .. code-block:: python\n\n     tf.f(\n       x)\n", (3, 4), (5, 5)),
        (".. note::\n\n   Text::\n\n      tf.f(\n        x)\n", (5, 6), (6, 6)),
        (".. tabs::\n   .. tab:: A\n\n      .. code:: py\n\n          tf.f(\n            x)\n", (6, 7), (10, 10)),
        (".. code-block:: python\n   :linenos:\n\n     tf.f(\n       x)\n", (4, 5), (5, 5)),
        (".. code-block:: python\n    tf.f(\n      x)\n", (2, 3), (4, 4)),
        (".. code-block:: python\n\n\n\ttf.f(\n\t  x)\n", (4, 5), (1, 1)),
        (":param x: a\n\n    Text::\n\n        tf.f(\n          x)\n", (5, 6), (8, 8)),
        ("term\n    Text::\n\n        tf.f(\n          x)\n", (4, 5), (8, 8)),
        ("..\n\n   .. code:: python\n\n      tf.f(\n        x)\n", (5, 6), (6, 6)),
        (".. highlight:: python\n   :linenothreshold: 5\n\nText::\n\n  tf.f(\n    x)\n", (6, 7), (2, 2)),
    ],
)  # fmt: skip
def test_where_code_stands(document: str, rows: tuple[int, ...], starts: tuple[int, ...]) -> None:
    block = only(document)
    assert (block.language, block.text, block.rows, block.starts) == ("python", "tf.f(\n  x)\n", rows, starts)


def test_a_comment_ends_where_the_text_goes_on() -> None:
    assert told(read(".. comment\n\n   x::\n\n      y\n\nText::\n\n   $ z\n")) == [("shell", "z\n")]


def test_commands() -> None:
    assert told(read(".. code-block:: console\n\n   $ pip install x\n   Collecting x\n")) == [
        ("shell", "pip install x\n")
    ]
    assert told(read(".. code-block:: bash\n\n   pip install x\n")) == [("shell", "pip install x\n")]
    assert told(read(".. prompt:: bash $\n\n   pip install x\n")) == [("shell", "pip install x\n")]
    assert told(read("Run::\n\n   pip install x\n")) == [("shell", "pip install x\n")]
    assert told(read("Run::\n\n$ pip install x\n$ y\n")) == [("shell", "pip install x\ny\n")]


def test_what_is_highlighted_as_something_else() -> None:
    document = """
        .. highlight:: bash

        Text::

            pip install x

        .. highlight:: python

        ::

            x

        .. code-block::

            y
        """
    assert told(read(document)) == [("shell", "pip install x\n"), ("python", "x\n"), ("python", "y\n")]


def test_examples_of_an_interpreter() -> None:
    document = """
        Text:

        >>> import tensorflow as tf
        >>> tf.zeros(1)
        <tf.Tensor>

        >>> x

        More

          >>> if a:
          ...     b
        """
    first, second = read(document)
    assert first.text == "import tensorflow as tf\ntf.zeros(1)\nx\n"
    assert (first.rows, first.starts) == ((3, 4, 7), (4, 4, 4))
    assert (second.text, second.rows, second.starts) == ("if a:\n    b\n", (11, 12), (6, 6))


def test_what_ipython_takes_for_itself_is_left_out() -> None:
    document = """
        .. ipython:: python
           :okexcept:

           x = 1
           @savefig a.png
           plot(x)

        .. ipython::

           In [1]: y
           Out[1]: 2
        """
    first, second = read(document)
    assert (first.text, first.rows, first.chain) == ("x = 1\nplot(x)\n", (4, 6), "ipython")
    assert (second.text, second.chain) == ("y\n", "ipython")


def test_what_is_run_is_one_program() -> None:
    document = """
        .. jupyter-execute::

           a

        .. code-block:: python

           b

        .. jupyter-execute::
           :hide-code:

           c

        .. jupyter-kernel:: python3
           :id: second

        .. jupyter-execute::

           d

        .. testcode::

           e

        .. doctest::

           >>> f

        .. testcode:: other

           g
        """
    chains = [block.chain for block in read(document)]
    assert chains == ["jupyter 0", "", "jupyter 0", "jupyter 1", "tests default", "tests default", "tests other"]


@pytest.mark.parametrize(
    ("above", "codes"),
    [
        (".. tfmemlint: ignore[TFM101]\n\n", ("TFM101",)),
        ("..\n   tfmemlint: ignore[TFM101]\n   It shows what goes wrong.\n\n", ("TFM101",)),
        (".. tfmemlint: ignore\n\n", ("*",)),
        (".. tfmemlint: ignore[TFM101]\n\n.. tfmemlint: ignore[TFM102]\n\n", ("TFM101", "TFM102")),
        (".. tfmemlint: ignore[TFM101]\n\nText\n\n", ()),
        (".. tfmemlint: ignore[TFM101]\n\n.. note:: Text\n\n", ()),
        (".. tfmemlint: ignore[TFM101]\n\n::\n\n   x\n\n", ()),
        ("tfmemlint: ignore\n\n", ()),
    ],
)
def test_comments_that_silence_a_block(above: str, codes: tuple[str, ...]) -> None:
    assert read(f"{above}.. code-block:: python\n\n   x\n")[-1].silenced == codes


def test_a_comment_above_the_paragraph_of_a_literal_block() -> None:
    assert only(".. tfmemlint: ignore[TFM101]\n\nThis is\nwrong::\n\n   tf.f()\n").silenced == ("TFM101",)


@given(texts)
@settings(max_examples=400, deadline=None)
def test_lines_are_where_blocks_say(text: str) -> None:
    check(text, blocks(text))


@pytest.mark.parametrize(
    "piece",
    [
        "a::\n",
        "a::\n\n",
        ".. a\n",
        "..\n\n",
        ".. note::\n\n",
        ">>> a\n\n",
        "- ",
        "::\n\n  a\n\n",
        "a::\n\n> b\n",
        "\n",
        "1. ",
    ],
)
def test_no_text_takes_long(piece: str) -> None:
    """Time goes up with the length alone: this would take minutes otherwise."""
    text = piece * 10000
    check(text, blocks(text))


def test_options_may_go_on_in_the_next_line() -> None:
    block = only(".. code-block:: python\n   :emphasize-lines: 1,\n      2\n   :linenos:\n\n   x = 1\n")
    assert block.rows == (6,)


def test_code_directly_below_a_directive_is_no_option() -> None:
    assert only(".. code-block:: python\n   x = 1\n   y = 2\n").rows == (2, 3)
