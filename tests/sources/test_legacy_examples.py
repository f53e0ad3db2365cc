"""Examples that a document gives for TensorFlow 1."""

from __future__ import annotations

import pytest

from tfmemlint.sources.documents import markdown, restructured

CODE = "```python\nconfig = tf.ConfigProto()\n```\n"
DIRECTIVE = ".. code-block:: python\n   :linenos:\n\n   config = tf.ConfigProto()\n"


@pytest.mark.parametrize(
    "words",
    [
        "With TensorFlow 2:",
        "From TensorFlow 1 to TensorFlow 2:",
        "For TF1 and TF2 alike:",
        "This takes TensorFlow 10 seconds:",
        "See https://example.org/tensorflow/1:",
        "Use `tf.compat.v1`:",
        "In version 1:",
        "For TensorFlow 1:\n\nNow for something else:",
        "# TensorFlow 1\n\n# TensorFlow 2",
        "# TensorFlow 1\n\n## In TensorFlow 2",
        "# TensorFlow 1\n\nWith TF 2.x:",
        "# TensorFlow 1\n\nText\n\n# Other",
        "```sh\n# TensorFlow 1\n```",
        "For TensorFlow 1:\n\n```python\nother\n```",
        "TensorFlow 1\n============\n\nOther\n=====",
    ],
)
def test_not_said(words: str) -> None:
    assert [block.legacy for block in markdown.blocks(f"{words}\n\n{CODE}")][-1] is False


@pytest.mark.parametrize(
    "words",
    [
        "For TensorFlow 1:",
        "For **TensorFlow v1**:",
        "TensorFlow v1 Example:",
        "TF1",
        "In TF 1.x, this is\ndone so:",
        "with tensorflow==1.15",
        "\u5728TensorFlow1.x\u4e2d",
        "# TensorFlow-Keras 1.x",
        "# TensorFlow 1\n\n## Memory\n\nLike this:",
        "# TensorFlow 2\n\n# TensorFlow 1\n\nText",
        "TensorFlow 1\n============\n\nMemory\n------",
        "For TensorFlow 1:\n\n<!-- a comment -->",
        '=== "TensorFlow 1"',
    ],
)
def test_said_above(words: str) -> None:
    assert [block.legacy for block in markdown.blocks(f"{words}\n\n{CODE}")] == [True]
    if not words.startswith(("#", "===")):
        assert [block.legacy for block in restructured.blocks(f"{words}\n\n{DIRECTIVE}")] == [True]
    if "#" not in words and "==" not in words:
        assert [block.legacy for block in restructured.blocks(f"- a\n\n  {words}::\n\n      tf.x()\n")] == [True]


def test_said_within() -> None:
    assert [block.legacy for block in markdown.blocks("```python\n# TensorFlow 1.x\nx\n```\n")] == [True]
    assert [block.legacy for block in markdown.blocks("```python\n# TF1\nx\n# TF2\ny\n```\n")] == [False]


def test_each_example_by_what_is_above_it() -> None:
    document = f"For TF1:\n\n{CODE}\nFor TF2:\n\n{CODE}\n### TF 1.x\n{CODE}"
    assert [block.legacy for block in markdown.blocks(document)] == [True, False, True]
