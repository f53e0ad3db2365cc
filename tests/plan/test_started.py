"""Plans of programs that configuration files start: with the variables of that start."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.plan.test_programs import _plan

GROWS = """\
import tensorflow as tf

for gpu in tf.config.list_physical_devices("GPU"):
    tf.config.experimental.set_memory_growth(gpu, True)
print(tf.ones([2]))
"""
SHOWS = "import tensorflow as tf\n\nprint(tf.ones([2]))\n"
DOCKERFILE = """\
FROM tensorflow/tensorflow:2.16.1-gpu
WORKDIR /app
ENV {}
COPY . .
CMD ["python", "train.py"]
"""


@pytest.fixture(autouse=True)
def _project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("FORCE_COLOR", raising=False)
    (tmp_path / "pyproject.toml").write_text("")


def _files(capsys: pytest.CaptureFixture[str], program: str, variables: str) -> list[dict[str, Any]]:
    """The plans of ``train.py``, which a Dockerfile starts with ``variables``."""
    Path("train.py").write_text(program)
    Path("Dockerfile").write_text(DOCKERFILE.format(variables))
    _plan("--json", ".")
    found: list[dict[str, Any]] = json.loads(capsys.readouterr().out)["files"]
    return found


def _intents(file: dict[str, Any]) -> list[tuple[str, int, str, str]]:
    (entry,) = file["entries"]
    return [(intent["path"], intent["row"], intent["verdict"], intent["reason"] or "") for intent in entry["intents"]]


@pytest.mark.parametrize(
    ("program", "variables"),
    [
        (GROWS, "TF_FORCE_GPU_ALLOW_GROWTH=true"),
        (GROWS, "TF_CPP_MIN_LOG_LEVEL=2"),
        (GROWS, "PYTHONUNBUFFERED=1"),
        ('import os\n\nos.environ["TF_FORCE_GPU_ALLOW_GROWTH"] = "true"\n' + SHOWS, "TF_FORCE_GPU_ALLOW_GROWTH=false"),
    ],
)
def test_a_start_that_changes_nothing_for_the_program_is_not_told_of(
    capsys: pytest.CaptureFixture[str], program: str, variables: str
) -> None:
    (file,) = _files(capsys, program, variables)
    assert file["started_by"] is None


def test_a_variable_of_the_start_beats_what_the_program_asks_for(capsys: pytest.CaptureFixture[str]) -> None:
    by_hand, started = _files(capsys, GROWS, "TF_FORCE_GPU_ALLOW_GROWTH=false")
    assert by_hand["started_by"] is None
    assert _intents(by_hand) == [("train.py", 4, "takes effect", "")]
    assert started["started_by"] == {"path": "Dockerfile", "row": 5, "where": "CMD"}
    assert ("train.py", 4, "fails", "overridden") in _intents(started)
    assert ("Dockerfile", 3, "takes effect", "") in _intents(started)
    (device,) = started["entries"][0]["devices"]
    assert (device["memory"]["kind"], device["memory"]["paths"], device["memory"]["rows"]) == (
        "all",
        ["Dockerfile"],
        [3],
    )


def test_kinds_that_are_not_read_start_nothing(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text('[tool.tfmemlint]\nignore-kinds = ["docker"]\n')
    (file,) = _files(capsys, GROWS, "TF_FORCE_GPU_ALLOW_GROWTH=false")
    assert file["started_by"] is None


def test_a_program_that_asks_for_nothing_gets_what_its_start_asks_for(capsys: pytest.CaptureFixture[str]) -> None:
    (started,) = _files(capsys, SHOWS, "TF_FORCE_GPU_ALLOW_GROWTH=true")
    assert _intents(started) == [("Dockerfile", 3, "takes effect", "")]
    assert started["entries"][0]["devices"][0]["memory"]["kind"] == "growth"


def test_what_a_person_reads(capsys: pytest.CaptureFixture[str]) -> None:
    Path("train.py").write_text(GROWS)
    Path("Dockerfile").write_text(DOCKERFILE.format("TF_FORCE_GPU_ALLOW_GROWTH=false"))
    assert _plan("train.py") == 1
    text = capsys.readouterr().out
    assert "train.py: run from top to bottom\n" in text
    assert "train.py: run from top to bottom, as Dockerfile:5 starts it (CMD)\n" in text
    assert "each GPU      everything that is free (Dockerfile:3)\n" in text
    assert "2 things are asked for: 1 does not take effect, 1 takes effect\n" in text


def test_functions_that_nothing_calls_are_told_of_once(capsys: pytest.CaptureFixture[str]) -> None:
    unused = "def limit(gpus, size):\n    tf.config.set_logical_device_configuration(\n"
    unused += "        gpus[0], [tf.config.LogicalDeviceConfiguration(memory_limit=1024)]\n    )\n"
    program = GROWS.replace("\nfor", f"\n{unused}\nfor")
    by_hand, started = _files(capsys, program, "TF_FORCE_GPU_ALLOW_GROWTH=false")
    assert sorted(entry["kind"] for entry in by_hand["entries"]) == ["function", "module"]
    assert [entry["kind"] for entry in started["entries"]] == ["module"]
