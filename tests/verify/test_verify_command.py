"""The command ``tfmemlint verify``: what it prints, its exit codes, and one clear message for whatever it can't do."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.verify.programs import GROW, GROWING, TF, limited
from tfmemlint.cli.main import main
from tfmemlint.verify.edge import Edge, GroundError

LATE = f"{TF}x = tf.constant(1)\n{GROW}"
NEVER = f"{TF}if tf.config.list_physical_devices('TPU'):\n    tf.config.experimental.set_memory_growth(None, True)\n"
BROKEN = "import tensorflow as tf\ntf.config.experimental.set_memory_growth(:\n"
KINDS = {"takes effect", "no effect", "raises", "not provable here"}


class Lent:
    """A ground that goes on when the command has done with it."""

    def __init__(self, ground: Edge) -> None:
        self.ground = ground

    def __getattr__(self, name: str) -> Any:
        return getattr(self.ground, name)

    def __enter__(self) -> Lent:
        return self

    def __exit__(self, *_: object) -> None:
        return None


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, edge: Edge) -> Path:
    """A folder with programs, to run the command in, on the ground that all tests share."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("FORCE_COLOR", raising=False)
    monkeypatch.setattr("tfmemlint.verify.choose_ground.choose", lambda kind, python=None: (Lent(edge), ""))
    texts = {"good": GROWING, "late": LATE, "never": NEVER, "broken": BROKEN, "empty": "", "other": "print(1)\n"}
    for name, text in texts.items():
        (tmp_path / f"{name}.py").write_text(text)
    return tmp_path


def run(*arguments: str) -> int:
    """The command's exit code."""
    try:
        return main(["verify", *arguments])
    except SystemExit as leaving:
        assert isinstance(leaving.code, int)
        return leaving.code


def told(capsys: pytest.CaptureFixture[str]) -> dict[str, Any]:
    """The JSON on standard output."""
    found: dict[str, Any] = json.loads(capsys.readouterr().out)
    return found


@pytest.mark.slow
@pytest.mark.parametrize(
    ("files", "code"),
    [
        (["good.py"], 0),
        (["late.py"], 1),
        (["good.py", "late.py"], 1),
        (["never.py"], 2),
        (["good.py", "never.py"], 2),
        (["late.py", "never.py"], 1),
        (["broken.py"], 2),
        (["good.py", "broken.py"], 2),
        (["empty.py"], 0),
        (["other.py"], 0),
        (["nowhere.py"], 2),
        (["good.py", "nowhere.py"], 2),
    ],
)
def test_the_exit_code_says_how_it_went(
    project: Path, capsys: pytest.CaptureFixture[str], files: list[str], code: int
) -> None:
    assert run(*files) == code
    out, err = capsys.readouterr()
    assert out or err
    assert "Traceback" not in out + err


def test_the_table_has_the_line_the_purpose_the_verdict_and_the_ground(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run("good.py", "late.py")
    out = capsys.readouterr().out
    assert "good.py (edge, TensorFlow 2." in out
    assert "1 simulated GPU of 16 GiB" in out
    assert "memory growth for every GPU" in out
    assert "takes effect" in out
    assert "raises: RuntimeError" in out
    assert "2 intents: 1 takes effect, 1 raises" in out
    assert "ground: edge = " in out
    assert not any(line != line.rstrip() for line in out.splitlines())


def test_a_folder_is_searched_and_what_wants_nothing_is_not_run(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run("--json", "-", ".") == 2  # broken.py
    programs = {Path(program["filename"]).name: program for program in told(capsys)["programs"]}
    assert sorted(programs) == ["broken.py", "good.py", "late.py", "never.py"]
    assert programs["broken.py"]["problem"].startswith("line 2: it can't be parsed")
    assert not programs["broken.py"]["entry_points"]


def test_the_json_has_one_of_four_verdicts_for_each_purpose(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code = run("--json", "-", "--gpus", "2", "--gpu-memory", "8GiB", "good.py", "late.py")
    data = told(capsys)
    assert data["ground"] == "edge"
    assert data["exit_code"] == code == 1
    for program in data["programs"]:
        assert (program["gpus"], program["gpu_memory_mib"]) == (2, 8192)
        for entry in program["entry_points"]:
            for intent in entry["intents"]:
                assert intent["verdict"] in KINDS
                assert intent["reason"] or intent["verdict"] == "takes effect"
    (good,) = data["programs"][0]["entry_points"]
    assert good["configuration"]["allow_growth"] is True
    assert good["intents"][0]["row"] == 3


def test_json_goes_into_a_file_beside_the_table(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run("--json", "proofs.json", "good.py") == 0
    assert "takes effect" in capsys.readouterr().out
    assert json.loads((project / "proofs.json").read_text())["exit_code"] == 0
    assert run("--json", "nowhere/proofs.json", "good.py") == 2
    assert "nowhere/proofs.json" in capsys.readouterr().err


def test_a_folder_without_programs_is_said_and_gives_json_all_the_same(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (project / "folder").mkdir()
    assert run("folder") == 0
    assert capsys.readouterr().out == "no program here asks for anything of GPU memory\n"
    assert run("--json", "-", "folder") == 0
    assert told(capsys)["programs"] == []


def test_before_and_now(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run("--original", "--unsafe-fixes", "--json", "-", "late.py") == 0
    (program,) = told(capsys)["programs"]
    (intent,) = program["entry_points"][0]["intents"]
    assert intent["before"]["verdict"] == "raises"
    assert intent["verdict"] == "takes effect"
    assert program["fixes"] >= 1
    assert (project / "late.py").read_text() == LATE
    run("--original", "--unsafe-fixes", "late.py")
    out = capsys.readouterr().out
    assert "before" in out
    assert "now" in out


def test_arguments_behind_two_dashes_are_the_program_s_own(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = (
        "import argparse\nparser = argparse.ArgumentParser()\nparser.add_argument('--size', type=int, required=True)\n"
    )
    (project / "needs.py").write_text(f"{text}size = parser.parse_args().size\n{TF}{limited('size')}")
    assert run("needs.py") == 2
    assert "the following arguments are required: --size" in capsys.readouterr().out
    assert run("needs.py", "--", "--size", "512") == 0


def test_the_whole_program_and_its_slice_are_shown(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (project / "program.py").write_text(f"print('start')\n{GROWING}")
    run("-v", "program.py")
    out = capsys.readouterr().out
    assert "3 of 4 lines were run" in out
    assert "    2 import tensorflow as tf" in out
    assert "print" not in out
    run("--whole", "program.py")
    assert "the program itself was run" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b"import tensorflow as tf\nset_memory_growth = '\xff\xfe'\n", "is not valid utf-8"),
        (b"import tensorflow as tf\0\nset_memory_growth\n", "null bytes"),
    ],
)
def test_a_file_that_can_not_be_read_is_said(
    project: Path, capsys: pytest.CaptureFixture[str], data: bytes, words: str
) -> None:
    (project / "odd.py").write_bytes(data)
    assert run("odd.py", "good.py") == 2
    out, err = capsys.readouterr()
    assert f"odd.py: {words}" in err.replace("contains ", "")
    assert "takes effect" in out


def test_windows_line_ends_and_a_byte_order_mark_are_no_matter(project: Path) -> None:
    (project / "windows.py").write_bytes(b"\xef\xbb\xbf" + GROWING.replace("\n", "\r\n").encode())
    assert run("windows.py") == 0


@pytest.mark.parametrize(
    "options",
    [
        ["--gpus", "-1"],
        ["--gpus", "1000"],
        ["--timeout", "0"],
        ["--timeout", "nan"],
        ["--timeout", "1e300"],
        ["--gpu-memory", "much"],
        ["--host-memory", "-3GiB"],
        ["--cwd", "nowhere"],
        ["--device", "tpu"],
    ],
)
def test_an_option_that_can_not_be_followed_is_said(
    project: Path, capsys: pytest.CaptureFixture[str], options: list[str]
) -> None:
    assert run(*options, "good.py") == 2
    out, err = capsys.readouterr()
    assert not out
    assert err.splitlines()[-1].startswith("tfmemlint")


def test_a_ground_that_fails_is_one_clear_message(
    project: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(kind: str, python: str | None = None) -> None:
        raise GroundError("no real GPU: NVML knows no GPU")

    monkeypatch.setattr("tfmemlint.verify.choose_ground.choose", fail)
    assert run("good.py") == 2
    assert capsys.readouterr().err.startswith("tfmemlint: no real GPU: NVML knows no GPU\n")


@pytest.mark.parametrize(
    ("python", "words"),
    [("nowhere/python", "can't be started: No such file"), (".", "can't be started: Permission denied")],
)
def test_an_interpreter_that_does_not_start_is_said(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], python: str, words: str
) -> None:
    (tmp_path / "good.py").write_text(GROWING)
    assert run("--device", "edge", "--python", str(tmp_path / python), str(tmp_path / "good.py")) == 2
    assert words in capsys.readouterr().err


def test_an_interpreter_without_tensorflow_is_said(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    python = tmp_path / "python"
    python.write_text(f'#!/bin/sh\nexec "{sys.executable}" -S -I "$@"\n')
    python.chmod(0o755)
    (tmp_path / "good.py").write_text(GROWING)
    assert run("--device", "edge", "--python", str(python), str(tmp_path / "good.py")) == 2
    assert "TensorFlow is not installed for" in capsys.readouterr().err


@pytest.mark.tensorflow
def test_the_command_line_as_a_user_has_it(tmp_path: Path) -> None:
    (tmp_path / "late.py").write_text(LATE)
    command = [sys.executable, "-m", "tfmemlint", "verify", "--device", "edge", "late.py"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=120)
    assert done.returncode == 1
    # On a busy machine, the log is told every few seconds how far the run is.
    assert [line for line in done.stderr.splitlines() if " of 1 programs: " not in line] == []
    assert "raises: RuntimeError" in done.stdout
    assert list(tmp_path.iterdir()) == [tmp_path / "late.py"]
