"""What a program has printed is no code, and a box about TensorFlow 1 has examples for TensorFlow 1."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.documents.test_documents import found, write

TENSORS = "tf.Tensor(1, shape=(), dtype=int32) tf.Tensor(0, shape=(), dtype=int32)"
BROKEN = "import tensorflow as tf gpus = tf.config.list_physical_devices('GPU')"
SESSION = (
    "config = tf.compat.v1.ConfigProto()",
    "config.gpu_options.allow_growth = True",
    "session = tf.compat.v1.Session(config=config)",
)


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path(".git").mkdir()


def _codes(capsys: pytest.CaptureFixture[str], name: str, *lines: str) -> list[str]:
    write(name, "\n".join(lines) + "\n")
    return [code for _, _, _, code in found(capsys, name)]


def _indented(*lines: str, by: int = 4) -> list[str]:
    return [" " * by + line for line in lines]


@pytest.mark.parametrize(
    "above",
    [
        ["Output:", "", "::"],
        ["The output is::"],
        ["The result of this program is as follows::"],
        ["Run it. You will see the following output::"],
        ["This prints::"],
        ["**Output**::"],
        ["输出：", "", "::"],
        ["上述代码的运行结果如下::"],
        ["結果::"],
    ],
)
def test_a_literal_block_below_a_word_for_output_is_no_code(
    capsys: pytest.CaptureFixture[str], above: list[str]
) -> None:
    assert _codes(capsys, "page.rst", *above, "", *_indented(BROKEN)) == []


@pytest.mark.parametrize(
    "above",
    [
        ["Write::"],
        ["To see the output, run::"],
        ["Results depend on this code::"],
        ["The output of the network is limited by::"],
        ["使用以下代码输出::"],
        ["Output:", "", "It is run with::"],
    ],
)
def test_a_literal_block_below_other_words_is_code(capsys: pytest.CaptureFixture[str], above: list[str]) -> None:
    assert _codes(capsys, "page.rst", *above, "", *_indented(BROKEN)) == ["TFM901"]


@pytest.mark.parametrize("name", ["page.rst", "page.md"])
@pytest.mark.parametrize("marks", [("::", ""), (".. code-block:: python", ""), ("```", "```"), ("```python", "```")])
def test_printed_tensors_are_no_code(capsys: pytest.CaptureFixture[str], name: str, marks: tuple[str, str]) -> None:
    lines = [TENSORS, "def tf__square(x):", "    <tf.Variable 'v:0' shape=() dtype=int32> tf.Tensor(1)"]
    inside = _indented(*lines) if marks[0].endswith(("::", "python")) and not marks[1] else lines
    assert _codes(capsys, name, "Squares:", "", marks[0], "", *inside, "", marks[1]) == []


def test_code_that_has_run_together_beside_a_tensor_is_found(capsys: pytest.CaptureFixture[str]) -> None:
    assert _codes(capsys, "page.md", "```python", BROKEN, "x = tf.constant(1)", "```") == ["TFM901"]


BOXES = {
    "title": [".. admonition:: For TensorFlow 1.x", "", "    The options of a session:", ""],
    "first paragraph": [".. hint::", "", "    In graph mode of the TensorFlow 1.X API, options are passed.", ""],
    "behind the name": [".. hint:: TensorFlow 1.X 的图执行模式下，可以传入选项：", ""],
    "behind another": [".. note::", "    With TF 1.15:", "", *_indented(".. code-block:: python", "", "    x = 1", "")],
}


@pytest.mark.parametrize("box", BOXES.values(), ids=BOXES)
@pytest.mark.parametrize("between", [[], ["    The following code sets it:", ""]])
def test_an_example_in_a_box_about_tensorflow_1_is_for_that(
    capsys: pytest.CaptureFixture[str], box: list[str], between: list[str]
) -> None:
    code = [*_indented(".. code-block:: python", ""), *_indented(*SESSION, by=8)]
    assert _codes(capsys, "page.rst", "Memory", "======", "", *box, *between, *code) == []


@pytest.mark.parametrize(
    "box",
    [
        [".. hint::", "", "    The options of a session:", ""],
        [".. hint::", "", "    TensorFlow 2.x has this for code of TensorFlow 1.x:", ""],
        [".. hint:: Written for TensorFlow 1.x", "", "Here is another:", "", ".. note::", ""],
    ],
)
def test_an_example_in_another_box_is_for_what_is_there_now(capsys: pytest.CaptureFixture[str], box: list[str]) -> None:
    code = [*_indented(".. code-block:: python", ""), *_indented(*SESSION, by=8)]
    assert _codes(capsys, "page.rst", "Memory", "======", "", *box, *code) == ["TFM502"]


def test_an_example_for_tensorflow_1_with_a_name_of_2_is_for_2(capsys: pytest.CaptureFixture[str]) -> None:
    code = _indented(*SESSION, "tf.config.set_logical_device_configuration(gpu, [])", by=8)
    found_here = _codes(capsys, "page.rst", *BOXES["title"], *_indented(".. code-block:: python", ""), *code)
    assert found_here != []
