"""The Python in plain texts."""

from __future__ import annotations

import textwrap

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.processor_time import assert_linear
from tfmemlint.sources.documents.blocks import Block
from tfmemlint.sources.documents.plain_text import blocks


def only(text: str) -> Block:
    (block,) = blocks(textwrap.dedent(text))
    return block


def test_a_stretch_of_code_between_paragraphs() -> None:
    block = only(
        """\
        First list the cards, then go through them:

        import tensorflow as tf

        gpus = tf.config.list_physical_devices('GPU')
        for gpu in gpus:
            tf.config.experimental.set_memory_growth(
                gpu,
                True)
        That is all (for now).
        """
    )
    assert block.rows == tuple(range(3, 10))
    assert block.text.splitlines()[0] == "import tensorflow as tf"
    assert block.starts == (0,) * 7
    assert block.fixable


def test_code_that_is_indented_begins_behind_the_indent() -> None:
    block = only(
        "So:\n\n    import tensorflow as tf\n    if tf.config.list_physical_devices('GPU'):\n        print(tf)\n"
    )
    assert block.text == "import tensorflow as tf\nif tf.config.list_physical_devices('GPU'):\n    print(tf)\n"
    assert block.starts == (4, 4, 4)


def test_round_quotes_are_read_as_straight_ones_and_kept() -> None:
    block = only("gpus = tf.config.list_physical_devices(\u2018GPU\u2019)\n")
    assert block.text == "gpus = tf.config.list_physical_devices('GPU')\n"
    assert not block.fixable


def test_numbers_of_lines_are_left_aside() -> None:
    (block,) = blocks(" 1  import tensorflow as tf\n 2  def f(x):\n 3      return tf.constant(x)\n 4  f(1)\n")
    assert block.text == "import tensorflow as tf\ndef f(x):\n    return tf.constant(x)\nf(1)\n"
    assert block.starts == (4, 4, 4, 4)


def test_a_session_is_read_without_prompts_and_output() -> None:
    block = only(
        ">>> import tensorflow as tf\n>>> for i in range(2):\n...     tf.constant(i)\n<tf.Tensor>\n>>> tf.abs(1)\n"
    )
    assert block.text == "import tensorflow as tf\nfor i in range(2):\n    tf.constant(i)\ntf.abs(1)\n"
    assert block.rows == (1, 2, 3, 5)
    assert block.starts == (4, 4, 4, 4)


def test_a_line_that_is_broken_parts_what_stands_around_it() -> None:
    found = blocks("import tensorflow as tf\nx = tf.abs(1)\ny = tf.abs(2 z = 3\nz = tf.abs(3)\nprint(tf.abs(z))\n")
    assert [block.rows for block in found] == [(1, 2), (4, 5)]


@pytest.mark.parametrize(
    "text",
    [
        "TensorFlow takes all the memory of a card (unless it is told otherwise).\n",
        "For example:\nif tf.config is there, then use it with care:\n",
        "import tensorflow as tf and then use it\n",
        "tf.config.set_memory_limit(gpu, 1)\n",
        "TF_FORCE_GPU_ALLOW_GROWTH=true\nCUDA_VISIBLE_DEVICES=0\n",
        "# include_directories(tensorflow)\nadd_subdirectory(x)\nadd_subdirectory(y)\n",
        "x = 1\ny = 2\n",
        "",
    ],
)
def test_what_is_no_program_about_tensorflow_is_none(text: str) -> None:
    assert blocks(text) == []


LINES = st.sampled_from(
    [
        *(
            "import tensorflow as tf",
            "x = tf.abs(1)",
            "for a in b:",
            "    tf.abs(a)",
            ")",
            "f(",
            "'''",
            ">>> tf.abs(1)",
        ),
        *(
            "... 1",
            "1 x = tf.abs(2)",
            "2 y = 3",
            "3 z = 4",
            "",
            "A sentence of several words, that goes on.",
            "# tf.abs",
        ),
        *("\u2018GPU\u2019", "\t\tx", "   else:", "try:", "except ValueError:", "@tf.function", "def f(): pass", "\\"),
    ]
)


@settings(max_examples=300, deadline=None)
@given(st.lists(LINES, max_size=25))
def test_whatever_the_text_blocks_are_parts_of_it(lines: list[str]) -> None:
    last = 0
    for block in blocks("\n".join(lines)):
        code = block.text.removesuffix("\n").split("\n")
        assert len(code) == len(block.rows) == len(block.starts)
        compile(block.text, "", "exec", flags=0x2000)
        for row, start, line in zip(block.rows, block.starts, code, strict=True):
            assert row > last
            last = row
            written = lines[row - 1].replace("\u2018", "'").replace("\u2019", "'")
            assert written[start:] == line or not line


def test_the_cost_of_a_session_of_lines_that_are_none_grows_with_their_number() -> None:
    line = ">>> tf.zeros(\n"
    assert blocks(line * 5_000) == []
    assert_linear(lambda: blocks(line * 5_000), lambda: blocks(line * 10_000))


def test_of_a_session_the_statements_stay_that_can_be_read() -> None:
    assert only(">>> import tensorflow as tf\n>>> tf.zeros(\n>>> a b\n").rows == (1,)
