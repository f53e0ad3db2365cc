"""``tfmemlint plan``: options, exit codes, and the two ways to print."""

from __future__ import annotations

import argparse
import io
import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tfmemlint.knowledge.releases import Target
from tfmemlint.plans.command import add_arguments, run
from tfmemlint.plans.model import Plan
from tfmemlint.plans.read import plan_of
from tfmemlint.plans.report import show
from tfmemlint.sources import Source

FILES = {
    "clean.py": """\
import tensorflow as tf

for gpu in tf.config.list_physical_devices("GPU"):
    tf.config.experimental.set_memory_growth(gpu, True)
x = tf.constant(1)
""",
    "late.py": """\
import tensorflow as tf


def load():
    return tf.data.Dataset.range(4)


data = load()
for gpu in tf.config.list_physical_devices("GPU"):
    tf.config.experimental.set_memory_growth(gpu, True)
""",
    "partial.py": """\
import tensorflow as tf

tf.config.experimental.set_memory_growth(tf.config.list_physical_devices("GPU")[0], True)
""",
    "plain.py": "print('no GPU here')\n",
    "limit.py": """\
import tensorflow as tf

gpu = tf.config.list_physical_devices("GPU")[0]
tf.config.set_logical_device_configuration(gpu, [tf.config.LogicalDeviceConfiguration(memory_limit=20000)])
""",
}


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("FORCE_COLOR", raising=False)
    for name, text in FILES.items():
        (tmp_path / name).write_text(text)
    return tmp_path


def plan(*arguments: str) -> int:
    parser = argparse.ArgumentParser()
    add_arguments(parser)
    try:
        return run(parser.parse_args(arguments))
    except SystemExit as leaving:
        assert isinstance(leaving.code, int)
        return leaving.code


def data(capsys: pytest.CaptureFixture[str], *arguments: str) -> dict[str, Any]:
    plan("--json", *arguments)
    found: dict[str, Any] = json.loads(capsys.readouterr().out)
    return found


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (["clean.py"], 0),
        (["plain.py"], 0),
        (["clean.py", "plain.py", "--json"], 0),
        (["late.py"], 1),
        (["partial.py"], 1),
        (["partial.py", "--gpus", "1"], 0),
        (["limit.py"], 0),
        (["limit.py", "--gpu-memory", "16GiB"], 1),
        (["."], 1),
        (["missing.py"], 2),
        (["missing.py", "clean.py"], 2),
        (["clean.py", "--gpus", "0"], 2),
        (["clean.py", "--gpus", "many"], 2),
        (["clean.py", "--gpu-memory", "16"], 2),
        (["clean.py", "--target-version", "9"], 2),
    ],
)
@pytest.mark.usefixtures("project")
def test_exit_codes(arguments: list[str], code: int) -> None:
    assert plan(*arguments) == code


@pytest.mark.usefixtures("project")
def test_what_a_person_reads(capsys: pytest.CaptureFixture[str]) -> None:
    plan("late.py")
    assert (
        capsys.readouterr().out
        == """\
late.py: run from top to bottom
  starts    line 5: tf.data.Dataset.range starts the runtime
            by way of line 8 (calls load())
  each GPU  everything that is free (nothing here says otherwise)
  line 10   memory growth for every GPU: comes too late: line 5 (tf.data.Dataset.range) has started the runtime [TFM101]
            TensorFlow raises RuntimeError: Physical devices cannot be modified after being initialized
  ends      every run ends in line 10: RuntimeError: Physical devices cannot be modified after being initialized [TFM101]

1 thing is asked for: 1 does not take effect
`tfmemlint check` shows what the rules find there, `tfmemlint rule CODE` explains one
"""  # noqa: E501
    )


@pytest.mark.usefixtures("project")
def test_files_that_ask_for_nothing_are_counted(capsys: pytest.CaptureFixture[str]) -> None:
    plan("clean.py", "plain.py")
    out = capsys.readouterr().out
    assert "plain.py" not in out
    assert "1 file asks for nothing of GPU memory" in out


def test_a_file_that_is_no_python_is_one_line_and_the_run_goes_on(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (project / "broken.py").write_text("import tensorflow as tf\ntf.config.set_visible_devices(\n")
    (project / "binary.py").write_bytes(b"\0\1\2tf.config gpu tensorflow")
    assert plan(".") == 2
    captured = capsys.readouterr()
    assert "tfmemlint: broken.py:2: not valid Python: '(' was never closed" in captured.err.splitlines()
    assert any(line.startswith("tfmemlint: binary.py:1: ") for line in captured.err.splitlines())
    assert "late.py: run from top to bottom" in captured.out
    found = data(capsys, ".")
    assert [(problem["path"], problem["row"]) for problem in found["problems"]] == [("binary.py", 1), ("broken.py", 2)]


@pytest.mark.usefixtures("project")
def test_the_keys_of_the_data(capsys: pytest.CaptureFixture[str]) -> None:
    found = data(capsys, "late.py", "--gpus", "2", "--gpu-memory", "16GiB", "--target-version", "2.15")
    assert list(found) == [
        "version", "tensorflow", "gpus", "gpu_memory_mib", "differs", "files", "problems", "left_out",
    ]  # fmt: skip
    assert (found["version"], found["tensorflow"], found["gpus"], found["gpu_memory_mib"]) == (1, "2.15", 2, 16384)
    assert found["differs"] is True
    (file,) = found["files"]
    (entry,) = file["entries"]
    assert (file["path"], entry["entry"], entry["kind"]) == ("late.py", "module", "module")
    assert entry["start"] == {
        "what": "runtime",
        "row": 5,
        "column": 12,
        "end_row": 5,
        "end_column": 36,
        "code": "tf.data.Dataset.range",
        "path": "late.py",
        "cell": None,
        "frames": [{"row": 8, "path": "late.py", "cell": None, "words": "calls load()"}],
        "certain": True,
        "before": False,
    }
    assert [(device["device"], device["number"], device["memory"]["kind"]) for device in entry["devices"]] == [
        ("GPU 0", 0, "all"),
        ("GPU 1", 1, "all"),
    ]
    (intent,) = entry["intents"]
    assert {key: intent[key] for key in ("wish", "gpu", "value", "by", "verdict", "reason", "because_row")} == {
        "wish": "growth",
        "gpu": "each",
        "value": True,
        "by": "call",
        "verdict": "fails",
        "reason": "late",
        "because_row": 5,
    }
    assert intent["exception"]["type"] == "RuntimeError"
    assert intent["rules"] == ["TFM101"]
    assert entry["stop"]["row"] == 10


def test_notebooks_are_planned_by_cell(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    grow = FILES["clean.py"].split("\n", 2)[2].rpartition("x =")[0]
    sources = ["import tensorflow as tf", "x = tf.constant(1)", "print(x)", grow]
    cells = [{"cell_type": "code", "metadata": {}, "outputs": [], "source": text} for text in sources]
    (project / "late.ipynb").write_text(json.dumps({"cells": cells, "metadata": {}, "nbformat": 4}))
    plan(".")
    out = capsys.readouterr().out
    assert "late.ipynb: run from top to bottom\n  starts            line 1 of cell 2: tf.constant" in out
    assert "  line 2 of cell 4  memory growth for every GPU: comes too late: line 1 of cell 2 (tf.constant)" in out
    (file,) = data(capsys, "late.ipynb")["files"]
    (intent,) = file["entries"][0]["intents"]
    assert (intent["cell"], intent["row"], intent["because_cell"], intent["because_row"]) == (4, 2, 2, 1)


@pytest.mark.usefixtures("project")
def test_data_is_json_whatever_the_numbers(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = FILES["limit.py"].replace("20000", "float('inf')") + FILES["limit.py"].replace("20000", str(10**500))
    (project / "huge.py").write_text(text)
    plan("--json", "huge.py")
    out = capsys.readouterr().out
    assert "Infinity" not in out
    json.loads(out)


@pytest.mark.usefixtures("project")
def test_the_order_of_the_paths_and_their_number_change_nothing(project: Path) -> None:
    for number in range(30):
        (project / f"copy_{number:02}.py").write_text(FILES["late.py"])
    code = "import sys; from tests.plan.test_command import plan; sys.exit(plan(*sys.argv[1:]))"
    paths = sorted(path.name for path in project.glob("*.py"))
    outputs = {_python(["-c", code, *order], project) for order in (paths, paths[::-1])}
    assert len(outputs) == 1
    assert "34 things" in outputs.pop()


@pytest.mark.parametrize("width", [80, 120])
def test_nothing_is_wider_than_the_terminal(width: int) -> None:
    files = [plan_of(Source(name, text), Target.newest(), named=True) for name, text in FILES.items()]
    stream = io.StringIO()
    show(Plan("2.21", files=files), stream, color=False, width=width)
    lines = stream.getvalue().splitlines()
    assert max(map(len, lines)) <= width
    assert any(line.startswith(" " * 12) for line in lines)


def test_colours() -> None:
    plain, colourful = io.StringIO(), io.StringIO()
    found = Plan("2.21", files=[plan_of(Source("late.py", FILES["late.py"]), Target.newest(), named=True)])
    show(found, plain, color=False, width=100)
    show(found, colourful, color=True, width=100)
    assert "\x1b[1;31m" in colourful.getvalue()
    assert re.sub(r"\x1b\[[\d;]*m", "", colourful.getvalue()) == plain.getvalue()


def test_a_plain_report_needs_no_rich_and_no_tensorflow(project: Path) -> None:
    code = """
import argparse, sys
from tfmemlint.knowledge.releases import Target
from tfmemlint.plans.command import add_arguments, run
parser = argparse.ArgumentParser()
add_arguments(parser)
run(parser.parse_args(["late.py"]))
print([name for name in ("rich", "tensorflow", "libcst") if name in sys.modules])
"""
    ran = _python(["-c", code], project)
    assert ran.splitlines()[-1] == "[]"


def _python(arguments: list[str], directory: Path) -> str:
    """What Python prints, run in ``directory`` with this checkout on its path."""
    root = str(Path(__file__).resolve().parents[2])
    environment = {**os.environ, "PYTHONPATH": root}
    environment.pop("FORCE_COLOR", None)
    command = [sys.executable, *arguments]
    return subprocess.run(command, cwd=directory, env=environment, capture_output=True, text=True, check=False).stdout


@pytest.mark.usefixtures("project")
def test_gpus_of_which_the_same_is_to_be_said_share_a_line(capsys: pytest.CaptureFixture[str]) -> None:
    plan("clean.py", "--gpus", "8")
    assert "  GPUs 0 to 7  grows as needed (line 4)" in capsys.readouterr().out.splitlines()


@pytest.mark.usefixtures("project")
def test_code_for_an_older_release_is_told_apart(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (project / "old.py").write_text(
        "import tensorflow as tf\n\n"
        "options = tf.GPUOptions(allow_growth=True)\n"
        "session = tf.Session(config=tf.ConfigProto(gpu_options=options))\n"
    )
    assert plan("old.py") == 1
    assert "--target-version 1.15" in capsys.readouterr().err
    assert plan("old.py", "--target-version", "1.15") == 0
    assert capsys.readouterr().err == ""
