"""Plans of programs of several files: what they say of which file, and what is said only once."""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

import pytest

from tfmemlint.plans.command import add_arguments, run

FILES = {
    "pyproject.toml": '[project]\nname = "p"\n',
    "train.py": "import model\nfrom setup_gpus import configure\n\nconfigure()\nprint(model.weight)\n",
    "predict.py": "from setup_gpus import configure\n\nif __name__ == '__main__':\n    configure()\n",
    "model.py": "import tensorflow as tf\n\nweight = tf.Variable(1.0)\n",
    "setup_gpus.py": """\
import tensorflow as tf


def configure():
    for gpu in tf.config.list_physical_devices("GPU"):
        tf.config.experimental.set_memory_growth(gpu, True)


def unused(size):
    gpus = tf.config.list_physical_devices("GPU")
    tf.config.set_logical_device_configuration(gpus[0], [tf.config.LogicalDeviceConfiguration(size)])
""",
}
LATE = "RuntimeError: Physical devices cannot be modified after being initialized"


@pytest.fixture(autouse=True)
def _project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("FORCE_COLOR", raising=False)
    for name, text in FILES.items():
        (tmp_path / name).write_text(text)


def _plan(*arguments: str) -> int:
    parser = argparse.ArgumentParser()
    add_arguments(parser)
    return run(parser.parse_args(arguments))


def _data(capsys: pytest.CaptureFixture[str], *arguments: str) -> list[dict[str, Any]]:
    _plan("--json", *arguments)
    found: list[dict[str, Any]] = json.loads(capsys.readouterr().out)["files"]
    return found


def test_what_a_person_reads(capsys: pytest.CaptureFixture[str]) -> None:
    assert _plan("train.py") == 1
    assert (
        capsys.readouterr().out
        == f"""\
train.py: run from top to bottom
  starts           model.py:3: tf.Variable starts the runtime
                   by way of line 1 (imports model.py)
  each GPU         everything that is free (nothing here says otherwise)
  setup_gpus.py:6  memory growth for every GPU: comes too late: model.py:3 (tf.Variable) has started the runtime [TFM101]
                   TensorFlow raises {LATE}
                   by way of line 4 (calls configure())
  ends             every run ends in setup_gpus.py:6: {LATE} [TFM101]

1 thing is asked for: 1 does not take effect
`tfmemlint check` shows what the rules find there, `tfmemlint rule CODE` explains one
"""  # noqa: E501
    )


def test_every_row_of_the_data_has_its_file_beside_it(capsys: pytest.CaptureFixture[str]) -> None:
    (file,) = _data(capsys, "train.py")
    (entry,) = file["entries"]
    assert (file["path"], entry["start"]["path"], entry["start"]["row"]) == ("train.py", "model.py", 3)
    assert entry["start"]["frames"] == [{"row": 1, "path": "train.py", "cell": None, "words": "imports model.py"}]
    (intent,) = entry["intents"]
    assert (intent["path"], intent["row"], intent["end_row"]) == ("setup_gpus.py", 6, 6)
    assert (intent["because_path"], intent["because_row"]) == ("model.py", 3)
    assert (entry["stop"]["path"], entry["stop"]["row"]) == ("setup_gpus.py", 6)
    (file,) = _data(capsys, "predict.py")
    (device,) = file["entries"][0]["devices"]
    assert (device["memory"]["paths"], device["memory"]["rows"]) == (["setup_gpus.py"], [6])


def test_of_a_directory_what_programs_do_is_told_of_the_programs_alone(capsys: pytest.CaptureFixture[str]) -> None:
    files = _data(capsys, ".")
    assert [(file["path"], [entry["entry"] for entry in file["entries"]]) for file in files] == [
        ("predict.py", ["module"]),
        ("setup_gpus.py", ["unused"]),
        ("train.py", ["module"]),
    ]
    _plan(".")
    assert "2 things are asked for in 3 files: 1 does not take effect, 1 takes effect" in capsys.readouterr().out


def test_a_module_that_is_named_is_planned_by_itself(capsys: pytest.CaptureFixture[str]) -> None:
    (file,) = _data(capsys, "setup_gpus.py")
    assert [entry["entry"] for entry in file["entries"]] == ["configure", "unused"]
