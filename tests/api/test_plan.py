"""`tfmemlint.plan`: what is wanted of each GPU, and what becomes of it."""

from __future__ import annotations

from pathlib import Path

import pytest

import tfmemlint
from tests.api.texts import CLEAN, HELPER, LATE, MAIN, notebook


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty project, which is the working directory."""
    (tmp_path / "pyproject.toml").touch()
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_a_text_that_wants_nothing_has_no_program() -> None:
    result = tfmemlint.plan("import os\n")
    assert (result.programs, result.differs, result.problems) == ((), False, ())


def test_what_takes_effect() -> None:
    result = tfmemlint.plan(CLEAN)
    assert not result.differs
    (program,) = result.programs
    (entry,) = program.entries
    (intent,) = entry.intents
    assert (intent.words, intent.prediction, intent.place.row) == ("memory growth for every GPU", "takes effect", 4)
    assert [(device.name, device.memory) for device in entry.devices] == [("each GPU", "growth")]
    assert entry.start is not None and entry.start.place.row == 5


def test_what_comes_too_late() -> None:
    result = tfmemlint.plan(LATE)
    assert result.differs
    (intent,) = result.programs[0].entries[0].intents
    assert (intent.prediction, intent.reason, intent.because) == ("fails", "late", ("<text>", 3))
    assert intent.exception is not None and intent.exception[0] == "RuntimeError"
    assert result.programs[0].entries[0].stop is not None


def test_a_program_of_several_files(project: Path) -> None:
    (project / "helper.py").write_text(HELPER)
    (project / "main.py").write_text(MAIN)
    for result in (tfmemlint.plan(Path("main.py")), tfmemlint.plan(MAIN, path="main.py")):
        (intent,) = result.programs[0].entries[0].intents
        assert (intent.place.path, intent.place.row, intent.because) == ("helper.py", 6, ("main.py", 5))
    moved = MAIN.replace("x = tf.zeros([1])\nsetup()", "setup()\nx = tf.zeros([1])")
    assert not tfmemlint.plan(moved, path="main.py").differs


def test_a_text_that_is_not_there_has_a_plan_in_its_project(project: Path) -> None:
    (project / "helper.py").write_text(HELPER)
    assert tfmemlint.plan(MAIN, path="main.py").differs


def test_a_notebook() -> None:
    result = tfmemlint.plan(notebook("import tensorflow as tf\nx = tf.zeros([1])", LATE), path="n.ipynb")
    (intent,) = result.programs[0].entries[0].intents
    assert (intent.place.cell, intent.place.row) == (3, 5)


def test_the_number_of_gpus_counts() -> None:
    text = 'import tensorflow as tf\ngpus = tf.config.list_physical_devices("GPU")\n'
    text += "tf.config.experimental.set_memory_growth(gpus[0], True)\n"
    assert not tfmemlint.plan(text, gpus=1).differs
    with pytest.raises(ValueError, match="GPUs"):
        tfmemlint.plan(text, gpus=0)


def test_what_cannot_be_read_is_a_problem() -> None:
    (problem,) = tfmemlint.plan("def f(:\n").problems
    assert (problem.path, problem.row) == ("<text>", 1)
