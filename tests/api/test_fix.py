"""`tfmemlint.fix`: new texts, and files on disk only where that is asked for."""

from __future__ import annotations

from pathlib import Path

import pytest

import tfmemlint
import tfmemlint.fixes.write_together  # it must not be imported first while its parts are replaced
from tests.api.texts import CLEAN, HELPER, LATE, MAIN, NUMBERS, notebook

CALL = "tf.config.set_logical_device_configuration("
FIXED = NUMBERS.replace(
    f"{CALL}gpus[0], [4096])",
    f"{CALL}\n    gpus[0],\n    [tf.config.LogicalDeviceConfiguration(memory_limit=4096)],\n)",
)


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty project, which is the working directory."""
    (tmp_path / "pyproject.toml").touch()
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize("text", ["", CLEAN, "import os\r\n", "def f(:\n", "\ufeffimport os\n", "\ufeff" + CLEAN])
def test_a_text_with_nothing_to_fix_comes_back_as_it_is(text: str) -> None:
    result = tfmemlint.fix(text, unsafe=True)
    assert (result.text, result.changes, result.fixed) == (text, (), ())


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_a_text_is_fixed(end: str) -> None:
    result = tfmemlint.fix(NUMBERS.replace("\n", end))
    assert result.text == FIXED.replace("\n", end)
    assert [(finding.code, finding.place.row) for finding in result.fixed] == [("TFM305", 4)]
    assert (result.findings, result.written) == ((), False)
    (change,) = result.changes
    assert (change.path, change.old, change.new) == ("<text>", NUMBERS.replace("\n", end), result.text)


def test_an_unsafe_fix_has_to_be_asked_for() -> None:
    result = tfmemlint.fix(LATE)
    assert result.text == LATE
    assert [finding.withheld for finding in result.findings] == ["unsafe: needs --unsafe-fixes"]
    assert tfmemlint.fix(LATE, unsafe=True).findings == ()


def test_files_stay_unless_writing_is_asked_for(project: Path) -> None:
    file = project / "numbers.py"
    file.write_text(NUMBERS)
    result = tfmemlint.fix(Path("numbers.py"))
    assert [(change.path, change.new) for change in result.changes] == [("numbers.py", FIXED)]
    assert (result.text, result.written) == (None, False)
    assert file.read_text() == NUMBERS
    assert tfmemlint.fix(Path("numbers.py"), write=True).written
    assert file.read_text() == FIXED
    again = tfmemlint.fix(Path("numbers.py"), write=True)
    assert (again.changes, again.written) == ((), False)


def test_a_text_is_not_written(project: Path) -> None:
    (project / "numbers.py").write_text(CLEAN)
    assert tfmemlint.fix(NUMBERS, path="numbers.py").text == FIXED
    assert (project / "numbers.py").read_text() == CLEAN
    with pytest.raises(ValueError, match="write"):
        tfmemlint.fix(NUMBERS, path="numbers.py", write=True)


def test_a_file_that_cannot_be_written_is_a_problem(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (project / "numbers.py").write_text(NUMBERS)

    def refuse(*_: object, **__: object) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr("tfmemlint.fixes.write.replace_file", refuse)
    result = tfmemlint.fix(Path("numbers.py"), write=True)
    assert (result.changes, result.written) == ((), False)
    assert [problem.path for problem in result.problems] == ["numbers.py"]
    assert (project / "numbers.py").read_text() == NUMBERS


def test_a_notebook_keeps_all_else(project: Path) -> None:
    result = tfmemlint.fix(notebook("import tensorflow as tf", NUMBERS), path="n.ipynb")
    assert result.text == notebook("import tensorflow as tf", FIXED)
    assert [(finding.place.cell, finding.place.row) for finding in result.fixed] == [(3, 4)]


def test_several_files_are_fixed_together(project: Path) -> None:
    (project / "helper.py").write_text(HELPER)
    (project / "main.py").write_text(MAIN)
    result = tfmemlint.fix(Path(), unsafe=True, write=True, allow_dirty=True)
    assert result.written and result.findings == ()
    assert tfmemlint.check(Path()).clean


def test_an_absolute_path_gets_the_same_fix(project: Path) -> None:
    """The last resort of order repairs asks who else imports the file, itself not counted."""
    call = "tf.config.experimental.set_memory_growth("
    text = LATE.replace(call, 'getattr(tf.config.experimental, "set_memory_growth")(')
    (project / "late.py").write_text(text)
    named = tfmemlint.fix(Path("late.py"), unsafe=True)
    assert [change.new for change in named.changes] == [
        change.new for change in tfmemlint.fix(project / "late.py", unsafe=True).changes
    ]
    assert named.changes and named.findings == ()


@pytest.mark.parametrize("write", [False, True])
def test_a_link_that_leads_out_of_what_was_given_is_left(project: Path, write: bool) -> None:
    """Neither written nor quoted."""
    (project / "given").mkdir()
    outside = project / "numbers.py"
    outside.write_text(NUMBERS)
    (project / "given" / "linked.py").symlink_to(outside)
    result = tfmemlint.fix(project / "given", write=write)
    assert (result.changes, result.written) == ((), False)
    assert outside.read_text() == NUMBERS
    assert (project / "given" / "linked.py").is_symlink()
    # A link that is given itself is meant.
    assert tfmemlint.fix(project / "given" / "linked.py", write=write).changes != ()
    assert outside.read_text() == (FIXED if write else NUMBERS)


def test_a_file_that_changes_while_it_is_fixed_is_left(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from tfmemlint.fixes import git

    file = project / "numbers.py"
    file.write_text(NUMBERS)

    def save(path: str) -> str:
        file.write_text("mine = 1\n")
        return ""

    monkeypatch.setattr(git, "objection", save)
    result = tfmemlint.fix(file, write=True)
    assert (result.changes, result.written) == ((), False)
    assert [problem.path for problem in result.problems] == [str(file)]
    assert file.read_text() == "mine = 1\n"
