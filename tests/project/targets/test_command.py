"""What the commands make of the release that a project asks for."""

from __future__ import annotations

import io
import json
import sys
from pathlib import Path

import pytest

from tests.project.trees import put, write
from tfmemlint.cli.main import main

OLD = """\
import tensorflow as tf

config = tf.ConfigProto(gpu_options=tf.GPUOptions(allow_growth=True))
sess = tf.Session(config=config)
print(sess.run(tf.constant(1)))
"""
NEW = """\
import tensorflow as tf

for gpu in tf.config.list_physical_devices("GPU"):
    tf.config.experimental.set_memory_growth(gpu, True)
"""


@pytest.fixture
def repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("FORCE_COLOR", raising=False)
    put(tmp_path, ".git/")
    write(tmp_path / "old.py", OLD)
    return tmp_path


def codes(capsys: pytest.CaptureFixture[str], *arguments: str) -> list[str]:
    main(["check", "--no-cache", "--quiet", "--output-format", "concise", *arguments])
    return [line.split()[2] for line in capsys.readouterr().out.splitlines()]


def test_a_project_for_tensorflow_1_is_clean_of_its_names(repository: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert set(codes(capsys)) == {"TFM501"}
    write(repository / "requirements.txt", "tensorflow-gpu==1.14\n")
    assert codes(capsys) == []
    write(repository / "new.py", NEW)
    assert codes(capsys) == ["TFM206"]


def test_what_is_told_comes_before_what_the_project_says(repository: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write(repository / "requirements.txt", "tensorflow==1.14\n")
    assert set(codes(capsys, "--target-version", "2.15")) == {"TFM501"}
    write(repository / "tfmemlint.toml", 'target-version = "2.15"\n')
    assert set(codes(capsys)) == {"TFM501"}


def test_each_file_of_a_monorepo_is_judged_by_its_own_project(
    repository: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for name, version in (("one", "1.15"), ("two", "2.9")):
        write(repository / name / "requirements.txt", f"tensorflow=={version}\n")
        write(repository / name / "pkg" / "old.py", OLD)
    main(["check", "--no-cache", "--output-format", "json", "one", "two"])
    found = {Path(one["filename"]).relative_to(repository) for one in json.loads(capsys.readouterr().out)}
    assert found == {Path("two/pkg/old.py")}


def test_many_files_in_several_processes_are_judged_alike(repository: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write(repository / "one" / "requirements.txt", "tensorflow==1.15\n")
    for number in range(40):
        write(repository / "one" / f"file{number}.py", OLD)
    assert codes(capsys, "one") == []


def test_a_program_is_judged_by_the_project_of_its_entry(repository: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write(repository / "requirements.txt", "tensorflow==2.0\n")
    write(repository / "setting.py", NEW)
    write(repository / "main.py", "import setting\n\nif __name__ == '__main__':\n    print(setting)\n")
    # `tf.config.list_physical_devices` came with 2.1.
    assert codes(capsys, "setting.py") == ["TFM206"]
    write(repository / "requirements.txt", "tensorflow==2.1\n")
    assert codes(capsys, "setting.py") == []


def test_standard_input_is_judged_by_the_project_that_it_is_said_to_be_in(
    repository: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    write(repository / "one" / "requirements.txt", "tensorflow==1.15\n")

    def given(*arguments: str) -> list[str]:
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(OLD.encode())))
        return codes(capsys, "-", *arguments)

    assert given("--stdin-filename", "one/x.py") == []
    assert set(given()) == {"TFM501"}


def test_fix_writes_what_the_projects_release_has(repository: Path) -> None:
    write(repository / "requirements.txt", "tensorflow==2.0\n")
    (repository / "old.py").unlink()
    write(repository / "new.py", NEW)
    main(["fix", "--quiet", "new.py"])
    assert "tf.config.experimental.list_physical_devices" in (repository / "new.py").read_text()


def test_plan_takes_the_release_of_each_file(repository: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write(repository / "requirements.txt", "tensorflow==2.4\n")
    write(repository / "one" / "requirements.txt", "tensorflow==2.0\n")
    write(repository / "new.py", NEW)
    write(repository / "one" / "new.py", NEW)
    main(["plan", "--json", "new.py", "one/new.py"])
    data = json.loads(capsys.readouterr().out)
    assert data["tensorflow"] == "2.4"
    assert {file["path"]: file["tensorflow"] for file in data["files"]} == {"new.py": "2.4", "one/new.py": "2.0"}
    assert [file["path"] for file in data["files"] if file["entries"][0]["stop"]] == ["one/new.py"]


def test_show_target_says_what_and_where(repository: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write(repository / "requirements.txt", "numpy\ntensorflow>=1.15,<2.3\n")
    assert main(["check", "--show-target"]) == 0
    assert capsys.readouterr().out == (
        "TensorFlow 2.2: old.py\n"
        "  not claimed: the newest release of 1.15 to 2.2 that has the names which the program uses\n"
        "  requirements.txt:2: tensorflow>=1.15,<2.3 (1.15 to 2.2)\n"
    )
    main(["check", "--show-target", "--output-format", "json"])
    (one,) = json.loads(capsys.readouterr().out)["targets"]
    assert (one["tensorflow"], one["first"], one["last"], one["source"]) == ("2.2", "1.15", "2.2", "default")
    assert one["requirements"] == [
        {
            "path": "requirements.txt",
            "row": 2,
            "text": "tensorflow>=1.15,<2.3",
            "releases": "1.15 to 2.2",
            "problem": None,
            "counts": True,
        }
    ]
    assert one["files"] == ["old.py"]


def test_show_target_names_what_told_it(repository: Path, capsys: pytest.CaptureFixture[str]) -> None:
    main(["check", "--show-target", "--target-version", "2.4"])
    assert capsys.readouterr().out == "TensorFlow 2.4: old.py\n  --target-version says so\n"
    path = write(repository / "tfmemlint.toml", 'target-version = "2.5"\n')
    main(["check", "--show-target"])
    assert capsys.readouterr().out == f"TensorFlow 2.5: old.py\n  {path}: target-version says so\n"


def test_show_target_of_a_project_that_says_nothing(repository: Path, capsys: pytest.CaptureFixture[str]) -> None:
    main(["check", "--show-target"])
    assert (
        "not claimed: the newest known, as neither a statement nor the names tell TensorFlow 1 from 2"
        in capsys.readouterr().out
    )
    write(repository / "requirements.txt", "tensorflow==${VERSION}\n")
    main(["check", "--show-target"])
    out = capsys.readouterr().out
    assert "the newest known: what the project says can't be read" in out
    assert "requirements.txt:1: tensorflow==${VERSION} (unknown: " in out


def test_verbose_says_what_could_not_be_read_and_no_run_fails_of_it(
    repository: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write(repository / "pyproject.toml", "[project\ntensorflow\n")
    write(repository / "requirements.txt", "tensorflow==1.15\n")
    # The configuration is read from it, too: it names no tfmemlint, so that nobody minds.
    assert main(["check", "--no-cache", "--verbose"]) == 0
    error = capsys.readouterr().err
    assert "pyproject.toml: not read for the release of TensorFlow: it is not TOML" in error
    assert "judged for TensorFlow 1.15 (requirements.txt:1: tensorflow==1.15)" in error


def test_a_finding_about_another_release_says_what_was_judged_for(
    repository: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write(repository / "requirements.txt", "tensorflow==1.15\n")
    write(repository / "new.py", NEW)
    main(["check", "--no-cache"])
    assert "judged for TensorFlow 1.15 (requirements.txt:1: tensorflow==1.15)" in capsys.readouterr().err


def test_files_that_change_between_runs_are_read_anew(repository: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write(repository / "requirements.txt", "tensorflow==1.15\n")
    assert codes(capsys) == []
    write(repository / "requirements.txt", "tensorflow==2.15\n")
    assert set(codes(capsys)) == {"TFM501"}
