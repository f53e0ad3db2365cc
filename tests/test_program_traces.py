"""Traces through several files, as a person reads them and as a program gets them."""

from __future__ import annotations

import json
import os
import re
from pathlib import Path
from typing import NamedTuple

import pytest

from tests.program_files import PROGRAMS, read_program
from tests.project.trees import write
from tfmemlint.cli.main import main

LATE = "set_memory_growth comes too late"


class Told(NamedTuple):
    """What is to be told of a fixture: the steps, the advice, and why it isn't told yet ("" where it is)."""

    steps: list[str]
    advice: str
    known: str = ""


TRACES = {
    "bad_default_argument": Told(
        [
            "main.py:4 imports core/yolov4.py",
            "core/yolov4.py:4 default argument tf.constant starts the runtime",
            f"main.py:7 {LATE}",
        ],
        "Move this above line 4, which imports core/yolov4.py",
    ),
    "bad_relative_imports": Told(
        [
            "main.py:4 imports nets/backbones/resnet.py",
            "nets/backbones/resnet.py:1 imports nets/settings.py",
            "nets/settings.py:3 tf.constant starts the runtime",
            f"main.py:7 {LATE}",
        ],
        "Move this above line 4, which imports nets/backbones/resnet.py",
    ),
    "bad_two_entry_points": Told(
        [
            "export.py:7 tf.zeros starts the runtime",
            "export.py:8 calls prepare_gpus()",
            f"devices.py:6 {LATE}",
        ],
        "Move this above line 7",
    ),
    "bad_lazy_import_called": Told(
        [
            "main.py:6 calls load()",
            "registry.py:2 imports zoo.py",
            "zoo.py:3 tf.zeros starts the runtime",
            f"main.py:8 {LATE}",
        ],
        "Move this above line 6, which calls load()",
    ),
    "bad_context_manager": Told(
        [
            "main.py:6 tf.zeros starts the runtime",
            "main.py:7 calls gpu_memory()",
            f"contexts.py:9 {LATE}",
        ],
        "Call gpu_memory() (main.py:7) before main.py:6, where tf.zeros starts the runtime",
    ),
    "bad_growth_and_limit_in_two_modules": Told(
        [
            "main.py:5 calls enable()",
            "growth.py:6 set_memory_growth",
            "main.py:6 calls split()",
            "limits.py:7 set_logical_device_configuration cancels it",
        ],
        "Drop the growth, or set TF_FORCE_GPU_ALLOW_GROWTH=true in the environment to have both",
    ),
    "bad_instance_of_a_module": Told(
        [
            "main.py:5 calls train()",
            "train.py:5 train calls start()",
            "session.py:10 tf.constant starts the runtime",
            "main.py:6 calls configure()",
            f"session.py:7 {LATE}",
        ],
        "Call configure() (main.py:6) above main.py:5, which calls train()",
    ),
    "bad_circular_imports": Told(
        [
            "main.py:2 imports models.py",
            "models.py:3 tf.constant starts the runtime",
            "models.py:5 imports training.py",
            f"training.py:6 {LATE}",
        ],
        "Import training.py (models.py:5) before models.py:3, where tf.constant starts the runtime",
    ),
    "bad_console_script_cfg": Told(
        [
            "tagger/app.py:7 calls run()",
            "tagger/app.py:9 run calls build()",
            "tagger/model.py:6 tf.zeros starts the runtime",
            "tagger/app.py:10 run calls limit_memory()",
            f"tagger/memory.py:6 {LATE}",
        ],
        "Call limit_memory() (tagger/app.py:10) above tagger/app.py:9, which calls build()",
    ),
    "bad_wraps_decorator": Told(
        [
            "main.py:12 calls load_weights()",
            "timing.py:9 wrapper calls load_weights()",
            "main.py:9 tf.zeros starts the runtime",
            f"main.py:14 {LATE}",
        ],
        "Move this above line 12, which calls load_weights()",
    ),
    "bad_main_module": Told(
        [
            "captioner/__main__.py:5 calls main()",
            "captioner/cli.py:7 main makes Encoder()",
            "captioner/encoder.py:6 tf.zeros starts the runtime",
            f"captioner/cli.py:9 {LATE}",
        ],
        "Move this above line 7, which makes Encoder()",
    ),
}


@pytest.fixture
def told(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Told:
    """What is to be told of the program in the current directory."""
    read_program(PROGRAMS / request.param).put(tmp_path)
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("FORCE_COLOR", raising=False)
    wanted = TRACES[request.param]
    if wanted.known:
        request.applymarker(pytest.mark.xfail(reason=wanted.known, strict=True))
    return wanted


each = pytest.mark.parametrize("told", TRACES, indirect=True)


@each
def test_the_trace_is_told_step_by_step(told: Told, capsys: pytest.CaptureFixture[str]) -> None:
    main(["check", "."])
    out = capsys.readouterr().out
    steps = re.findall(r"^ +(?:trace: )?([\w./]+:\d+):\d+: (.+)$", out, re.MULTILINE)
    assert [f"{place} {words}" for place, words in steps] == told.steps
    assert f"        help: {told.advice}\n" in out


@each
def test_the_trace_is_in_the_json(told: Told, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    main(["check", "--output-format", "json", "."])
    (finding,) = json.loads(capsys.readouterr().out)
    steps = [
        f"{os.path.relpath(step['filename'], tmp_path)}:{step['location']['row']} {step['message']}"
        for step in finding["trace"]
    ]
    assert steps == told.steps
    assert finding["advice"] == told.advice


def test_a_program_outside_of_the_working_directory_is_reported_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    project, elsewhere = tmp_path / "project", tmp_path / "elsewhere" / "deep"
    elsewhere.mkdir(parents=True)
    write(project / "pyproject.toml", "")
    write(project / "work.py", "import tensorflow as tf\n\n\ndef work():\n    return tf.constant(1)\n")
    late = "import work\n\nwork.work()\nimport os\n\nos.environ['CUDA_VISIBLE_DEVICES'] = '0'\n"
    write(project / "main.py", late)
    monkeypatch.chdir(elsewhere)
    for named in (project, project / "main.py", Path("../../project")):
        assert main(["check", "--no-cache", "--output-format", "json", str(named)]) == 1
        (found,) = json.loads(capsys.readouterr().out)
        assert (found["code"], found["location"]["row"]) == ("TFM105", 6)
