"""The judge itself: an untrue claim must not pass."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.fixture_files import blank_markers, strip_markers
from tests.truth.harness import judge, read_case, settings
from tfmemlint.verify.edge import Edge

pytestmark = pytest.mark.slow

LATE = """\
import tensorflow as tf

tf.constant(1)
for gpu in tf.config.list_physical_devices("GPU"):
    tf.config.experimental.set_memory_growth(gpu, True)  # expect: TFM101
"""
EARLY = """\
import tensorflow as tf

for gpu in tf.config.list_physical_devices("GPU"):
    tf.config.experimental.set_memory_growth(gpu, True)
tf.constant(1)
"""
TOO_LATE = "RuntimeError: Physical devices cannot be modified after being initialized"


def _judged(folder: Path, edge: Edge, header: str, code: str = LATE, fixed: str | None = EARLY) -> list[str]:
    path = folder / "bad_sample.py"
    path.write_text(header + code, encoding="utf-8")
    if fixed is not None:
        (folder / "bad_sample.fixed.py").write_text(fixed, encoding="utf-8")
    return judge(read_case(path), edge)


def test_true_claims_pass(tmp_path: Path, edge: Edge) -> None:
    header = f"# gpus: 1, 2\n# raises: {TOO_LATE}\n# lacks: allow_growth=True\n# fixed: allow_growth=True\n"
    assert _judged(tmp_path, edge, header) == []


@pytest.mark.parametrize(
    ("header", "said"),
    [
        ("# raises: RuntimeError: Virtual devices cannot be modified\n", "should raise 'RuntimeError: Virtual devices"),
        ("# raises: ValueError: Physical devices\n", "should raise 'ValueError: Physical devices'"),
        ("", "isn't said to raise, but it raised 'RuntimeError: Physical devices cannot be modified"),
        (f"# raises: {TOO_LATE}\n# lacks: visible=0\n", "should lack 'visible=0'"),
        (f"# raises: {TOO_LATE}\n# fixed: limits=[[4096.0]]\n", "the fixed side should have 'limits=[[4096.0]]'"),
        (f"# raises: {TOO_LATE}\n# gpus: 0\n", "with 0 GPU(s) the failing side should raise"),
    ],
)
def test_an_untrue_claim_is_a_problem(tmp_path: Path, edge: Edge, header: str, said: str) -> None:
    problems = _judged(tmp_path, edge, header)
    assert len(problems) == 1
    assert said in problems[0]


def test_a_fixed_side_that_raises_is_a_problem(tmp_path: Path, edge: Edge) -> None:
    problems = _judged(tmp_path, edge, f"# raises: {TOO_LATE}\n# fixed: runs\n", fixed=LATE)
    assert problems == [f"with 1 GPU(s) the fixed side should run, but it raised {TOO_LATE!r} (line 5)"]


def test_a_fixed_side_that_no_longer_runs_without_a_gpu_is_a_problem(tmp_path: Path, edge: Edge) -> None:
    fixed = 'import tensorflow as tf\n\ngpu = tf.config.list_physical_devices("GPU")[0]\n'
    problems = _judged(tmp_path, edge, f"# raises: {TOO_LATE}\n", fixed=fixed)
    assert problems == ["without a GPU the original runs but the fixed side raises IndexError: list index out of range"]


def test_a_promised_fixed_side_that_does_not_exist_is_a_problem(tmp_path: Path, edge: Edge) -> None:
    problems = _judged(tmp_path, edge, f"# raises: {TOO_LATE}\n# fixed: runs\n", fixed=None)
    assert problems == ["the header says what the fixed side does, but there is no bad_sample.fixed.py"]


def test_what_fails_only_when_the_runtime_starts_counts_as_raised(tmp_path: Path, edge: Edge) -> None:
    one_of_two = EARLY.replace('("GPU")', '("GPU")[:1]').replace("tf.constant(1)\n", "")
    header = "# gpus: 2\n# raises: ValueError: Memory growth cannot differ between GPU devices\n"
    assert _judged(tmp_path, edge, header, code=one_of_two) == []
    assert _judged(tmp_path, edge, "# gpus: 2\n", code=one_of_two)


def test_growth_set_after_the_first_allocator_is_lacking(tmp_path: Path, edge: Edge) -> None:
    code = EARLY.replace("for gpu", "tf.test.is_gpu_available()\nfor gpu")
    assert _judged(tmp_path, edge, "# lacks: allow_growth=True\n# fixed: allow_growth=True\n", code=code) == []


def test_with_a_ground_only_a_stated_fixed_side_is_run(tmp_path: Path, edge: Edge) -> None:
    header = "# ground: driver — only the allocator decides\n"
    assert _judged(tmp_path, edge, header, fixed=LATE) == []
    assert _judged(tmp_path, edge, header + "# fixed: runs\n", fixed=LATE)


@pytest.mark.parametrize(
    "header",
    [
        "# fixed: growth=True\n",
        "# lacks: allow_growth\n",
        "# lacks: limits=large\n",
        "# ground: driver\n",
        "# ground: no\n",
    ],
)
def test_a_claim_that_cannot_be_read_is_an_error(tmp_path: Path, header: str) -> None:
    path = tmp_path / "bad_sample.py"
    path.write_text(header, encoding="utf-8")
    with pytest.raises(ValueError):
        read_case(path)


def test_settings_are_read_as_the_notation_has_them() -> None:
    assert settings("allow_growth=True; limits=[[4096.0],[]]; visible=0,1") == {
        "allow_growth": True,
        "limits": [[4096.0], []],
        "visible": [0, 1],
    }
    assert settings("visible=") == {"visible": []}


def test_markers_are_taken_out_and_rows_are_those_of_the_clean_text() -> None:
    text = "# gpus: 2\n# raises: E: m\nimport os  # kept\nf()  # why  # expect: TFM101, TFM406\ng()  # expect: TFM102\n"
    clean, expected, header = strip_markers(text)
    assert clean == "import os  # kept\nf()  # why\ng()\n"
    assert expected == {2: ["TFM101", "TFM406"], 3: ["TFM102"]}
    assert header == {"gpus": "2", "raises": "E: m"}
    assert blank_markers(text) == "\n\n" + clean


def test_windows_line_ends_survive_the_stripping() -> None:
    assert strip_markers("# gpus: 2\r\nf()  # expect: TFM101\r\n")[:2] == ("f()\r\n", {1: ["TFM101"]})


def test_comments_that_are_no_claims_stay() -> None:
    text = "# Copyright: someone\nx = 1  # gpus: 2\n"
    assert strip_markers(text) == (text, {}, {})


@pytest.mark.parametrize("text", ["# raise: E: m\n", "# gpus: 1\n# gpus: 2\n", "# gpus:\n", "f()  # expect: 101\n"])
def test_a_misspelt_claim_is_an_error_not_a_comment(text: str) -> None:
    with pytest.raises(ValueError):
        strip_markers(text)
