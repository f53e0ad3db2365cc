"""`tfmemlint.check`: texts and paths in, plain data out."""

from __future__ import annotations

import dataclasses
import json
import os
from pathlib import Path

import pytest

import tfmemlint
from tests.api.texts import CLEAN, HELPER, LATE, MAIN, MAIN_IN_ORDER, NUMBERS, notebook
from tfmemlint.cli.main import main


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty project, which is the working directory."""
    (tmp_path / "pyproject.toml").touch()
    monkeypatch.chdir(tmp_path)
    return tmp_path


def places(result: tfmemlint.CheckResult) -> list[tuple[str, int, str]]:
    return [(finding.place.path, finding.place.row, finding.code) for finding in result.findings]


@pytest.mark.parametrize("text", ["", "\n", "import os\n", CLEAN, "import tensorflow as tf"])
def test_a_text_with_nothing_wrong_is_clean(text: str) -> None:
    assert tfmemlint.check(text).clean


def test_a_text_is_checked() -> None:
    result = tfmemlint.check(LATE)
    assert places(result) == [("<text>", 5, "TFM101")]
    finding = result.findings[0]
    assert (finding.name, finding.severity, finding.place.column) == ("growth-after-init", "error", 5)
    assert finding.intent is not None and finding.intent.words == "memory growth for every GPU"
    assert [step.place.row for step in finding.trace] == [3, 5]
    assert finding.url.endswith("TFM101.md")
    assert finding.fix is not None or finding.withheld


def test_fixes_are_computed_only_if_they_are_wanted() -> None:
    (with_fix,) = tfmemlint.check(NUMBERS).findings
    (without,) = tfmemlint.check(NUMBERS, explain_fixes=False).findings
    assert with_fix.fix is not None and with_fix.fix.edits
    assert without == dataclasses.replace(with_fix, fix=None)


@pytest.mark.parametrize("name", ["train.py", "no/such/train.py", "notes.md", "Dockerfile"])
def test_a_path_in_a_text_is_a_mistake_that_is_said(name: str) -> None:
    with pytest.raises(ValueError, match=r"pathlib\.Path"):
        tfmemlint.check(name)


def test_a_directory_in_a_text_is_a_mistake_that_is_said(project: Path) -> None:
    (project / "code").mkdir()
    for name in (".", "code", str(project)):
        with pytest.raises(ValueError, match=r"pathlib\.Path"):
            tfmemlint.check(name)


def test_a_path_that_is_not_there_is_an_error(project: Path) -> None:
    with pytest.raises(FileNotFoundError, match="gone"):
        tfmemlint.check(project / "gone")
    with pytest.raises(FileNotFoundError, match="gone"):
        tfmemlint.check([project, project / "gone"])


@pytest.mark.parametrize("wrong", [None, 3, b"import os\n", ["train.py"], [None]])
def test_other_types_are_errors(wrong: object) -> None:
    with pytest.raises(TypeError):
        tfmemlint.check(wrong)  # type: ignore[arg-type]


def test_a_name_is_for_texts(project: Path) -> None:
    with pytest.raises(TypeError, match="path="):
        tfmemlint.check(project, path="train.py")


def test_files_and_directories_are_checked(project: Path) -> None:
    (project / "late.py").write_text(LATE)
    (project / "clean.py").write_text(CLEAN)
    (project / "sub").mkdir()
    (project / "sub" / "numbers.py").write_text(NUMBERS)
    result = tfmemlint.check(Path())
    assert places(result) == [("late.py", 5, "TFM101"), ("sub/numbers.py", 4, "TFM305")]
    assert result.files == 3
    assert places(tfmemlint.check([Path("clean.py"), Path("sub")])) == [("sub/numbers.py", 4, "TFM305")]
    assert places(tfmemlint.check(Path("clean.py"))) == []


def test_it_finds_what_the_command_finds(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for name, text in (("late.py", LATE), ("numbers.py", NUMBERS), ("notebook.ipynb", notebook(CLEAN, NUMBERS))):
        (project / name).write_text(text)
    main(["check", "--no-cache", "--output-format", "json", "."])
    printed = json.loads(capsys.readouterr().out)
    found = tfmemlint.check(Path()).findings
    assert [
        (
            Path(each["filename"]).name,
            each["cell"],
            each["location"]["row"],
            each["code"],
            each["message"],
            each["withheld"],
            each["fix"] and len(each["fix"]["edits"]),
        )
        for each in printed
    ] == [
        (
            each.place.path,
            each.place.cell,
            each.place.row,
            each.code,
            each.message,
            each.withheld,
            each.fix and len(each.fix.edits),
        )
        for each in found
    ]


def test_a_text_stands_for_a_file_of_its_program(project: Path) -> None:
    (project / "helper.py").write_text(HELPER)
    (project / "main.py").write_text(MAIN)
    late = [("helper.py", 6, "TFM101")]
    assert places(tfmemlint.check(Path("helper.py"))) == late
    assert places(tfmemlint.check(MAIN, path="main.py")) == late, "main.py brings it about"
    assert places(tfmemlint.check(MAIN_IN_ORDER, path="main.py")) == []
    silent = HELPER.replace("set_memory_growth", "get_memory_growth").replace(", True", "")
    assert places(tfmemlint.check(silent, path="helper.py")) == []
    (project / "main.py").write_text(MAIN_IN_ORDER)
    assert places(tfmemlint.check(Path("helper.py"))) == []
    assert places(tfmemlint.check(HELPER, path="helper.py")) == []


def test_a_program_is_found_from_anywhere(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """By its path from the working directory, above it and elsewhere, by its whole path as well."""
    (project / "sub").mkdir()
    (project / "helper.py").write_text(HELPER)
    (project / "main.py").write_text(MAIN)
    for where in (project, project / "sub", project.parent, Path("/")):
        monkeypatch.chdir(where)
        for path in (project / "main.py", Path(os.path.relpath(project / "main.py"))):
            for result in (tfmemlint.check(path), tfmemlint.check(MAIN, path=path)):
                found = [(Path(finding.place.path).resolve(), finding.code) for finding in result.findings]
                assert found == [((project / "helper.py").resolve(), "TFM101")], (where, path)


def test_a_text_may_stand_for_a_file_that_is_not_there(project: Path) -> None:
    (project / "helper.py").write_text(HELPER)
    result = tfmemlint.check(LATE, path=project / "new.py")
    assert [finding.code for finding in result.findings] == ["TFM101"]
    assert not (project / "new.py").exists()


def test_the_name_of_a_text_says_what_it_is(project: Path) -> None:
    page = f"Set it up:\n\n```python\n{LATE}```\n"
    assert places(tfmemlint.check(page, path="notes.md")) == [("notes.md", 8, "TFM101")]
    (finding,) = tfmemlint.check(notebook("import tensorflow as tf", NUMBERS), path="n.ipynb").findings
    assert (finding.place.cell, finding.place.row) == (3, 4)


def test_the_nearest_configuration_file_holds(project: Path) -> None:
    (project / "late.py").write_text(LATE)
    (project / "sub").mkdir()
    (project / "sub" / "late.py").write_text(LATE)
    (project / "tfmemlint.toml").write_text('ignore = ["TFM101"]\n')
    (project / "sub" / "tfmemlint.toml").write_text("")
    assert places(tfmemlint.check(Path("late.py"))) == []
    assert places(tfmemlint.check([Path("late.py"), Path("sub/late.py")])) == [("sub/late.py", 5, "TFM101")]
    assert places(tfmemlint.check(Path("late.py"), isolated=True)) == [("late.py", 5, "TFM101")]
    assert places(tfmemlint.check(LATE, path="late.py")) == []
    assert places(tfmemlint.check(LATE)) == [("<text>", 5, "TFM101")], "a text without a path has no project"


def test_options_choose_rules() -> None:
    assert tfmemlint.check(LATE, ignore="TFM1").clean
    assert tfmemlint.check(LATE, select=["TFM202", "TFM3"]).clean
    assert not tfmemlint.check(LATE, select="TFM202,TFM101").clean
    with pytest.raises(tfmemlint.ConfigError, match="TFM99"):
        tfmemlint.check(LATE, select="TFM99")
    with pytest.raises(tfmemlint.ConfigError, match="GPU"):
        tfmemlint.check(LATE, gpu_memory="lots of GPU")


def test_a_release_of_the_working_directory_is_not_that_of_a_text(project: Path) -> None:
    (project / "requirements.txt").write_text("tensorflow==1.15\n")
    text = "import tensorflow as tf\nconfig = tf.ConfigProto()\nconfig.gpu_options.allow_growth = True\n"
    text += "session = tf.Session(config=config)\n"
    assert tfmemlint.check(text, path="train.py").clean
    assert not tfmemlint.check(text).clean
    assert tfmemlint.check(text, target_version="1.15").clean


def test_what_cannot_be_read_is_a_finding() -> None:
    assert places(tfmemlint.check("import tensorflow as tf\ndef f(:\n")) == [("<text>", 2, "TFM901")]
    assert not tfmemlint.check("import tensorflow\nx = '\ud800'\n").clean


def test_a_text_is_read_in_the_encoding_that_it_declares() -> None:
    text = '# -*- coding: latin-1 -*-\nimport tensorflow as tf\nname = "é"; x = tf.zeros([1]);'
    text += ' tf.config.experimental.set_memory_growth(tf.config.list_physical_devices("GPU")[0], True)\n'
    (finding,) = tfmemlint.check(text).findings
    line = text.split("\n")[2]
    assert line[finding.place.column - 1 :].startswith("tf.config.experimental.set_memory_growth")


def test_the_results_are_data_for_json() -> None:
    data = dataclasses.asdict(tfmemlint.check(LATE + "\n" + NUMBERS))
    assert json.loads(json.dumps(data))["findings"][0]["place"]["row"] == 5
