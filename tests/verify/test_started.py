"""Proofs of programs that configuration files start: they are run with the variables of that start."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.plan.test_started import DOCKERFILE, GROWS, SHOWS
from tests.verify.programs import limited
from tests.verify.test_verify_command import project, run, told

__all__ = ["project"]


def _proofs(capsys: pytest.CaptureFixture[str], files: dict[str, str], *options: str) -> list[dict[str, Any]]:
    for path in Path().glob("*.py"):
        path.unlink()
    for name, text in {"pyproject.toml": "", **files}.items():
        Path(name).write_text(text)
    run("--json", "-", *options, ".")
    found: list[dict[str, Any]] = told(capsys)["programs"]
    return found


def _verdicts(program: dict[str, Any]) -> list[tuple[str, int, str]]:
    return [
        (intent["filename"], intent["row"], intent["verdict"])
        for entry in program["entry_points"]
        for intent in entry["intents"]
    ]


@pytest.mark.usefixtures("project")
@pytest.mark.parametrize("options", [(), ("--whole",)])
def test_a_variable_of_the_start_beats_what_the_program_asks_for(
    capsys: pytest.CaptureFixture[str], options: tuple[str, ...]
) -> None:
    files = {"train.py": GROWS, "Dockerfile": DOCKERFILE.format("TF_FORCE_GPU_ALLOW_GROWTH=false")}
    by_hand, started = _proofs(capsys, files, *options)
    assert _verdicts(by_hand) == [("train.py", 4, "takes effect")]
    assert started["started_by"]["environment"] == {"TF_FORCE_GPU_ALLOW_GROWTH": "false"}
    assert _verdicts(started) == [("Dockerfile", 3, "takes effect"), ("train.py", 4, "no effect")]


@pytest.mark.usefixtures("project")
def test_a_program_that_asks_for_nothing_gets_what_its_start_asks_for(capsys: pytest.CaptureFixture[str]) -> None:
    files = {"train.py": SHOWS, "Dockerfile": DOCKERFILE.format("TF_FORCE_GPU_ALLOW_GROWTH=true")}
    by_hand, started = _proofs(capsys, files)
    assert _verdicts(by_hand) == []
    assert _verdicts(started) == [("Dockerfile", 3, "takes effect")]


@pytest.mark.usefixtures("project")
def test_what_the_program_sets_itself_replaces_the_variable_of_the_start(capsys: pytest.CaptureFixture[str]) -> None:
    program = f'import os\n\nos.environ["TF_FORCE_GPU_ALLOW_GROWTH"] = "true"\n{SHOWS}'
    files = {"train.py": program, "Dockerfile": DOCKERFILE.format("TF_FORCE_GPU_ALLOW_GROWTH=false")}
    _, started = _proofs(capsys, files)
    assert ("train.py", 3, "takes effect") in _verdicts(started)


@pytest.mark.usefixtures("project")
def test_gpus_that_a_script_hides_are_not_there(capsys: pytest.CaptureFixture[str]) -> None:
    program = f"import tensorflow as tf\n{limited(1024).replace('gpus[0]', 'gpus[1]')}"
    files = {"second.py": program, "run.sh": "#!/bin/sh\nCUDA_VISIBLE_DEVICES=1 python second.py\n"}
    by_hand, started = _proofs(capsys, files)
    assert [verdict for _, _, verdict in _verdicts(by_hand)] == ["takes effect"]
    assert [verdict for path, _, verdict in _verdicts(started) if path == "second.py"] == ["raises"]


@pytest.mark.usefixtures("project")
def test_a_start_with_a_value_that_can_not_be_told_is_not_run(capsys: pytest.CaptureFixture[str]) -> None:
    script = "#!/bin/sh\nexport TF_FORCE_GPU_ALLOW_GROWTH=true\nCUDA_VISIBLE_DEVICES=$(pick) python train.py\n"
    programs = _proofs(capsys, {"train.py": GROWS, "run.sh": script})
    assert [program["started_by"] for program in programs] == [None]


@pytest.mark.usefixtures("project")
def test_kinds_that_are_not_read_start_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    files = {"train.py": GROWS, "Dockerfile": DOCKERFILE.format("TF_FORCE_GPU_ALLOW_GROWTH=false")}
    files["tfmemlint.toml"] = 'ignore-kinds = ["docker"]\n'
    programs = _proofs(capsys, files)
    assert [program["started_by"] for program in programs] == [None]


@pytest.mark.usefixtures("project")
def test_fixes_are_proven_as_started_by_hand(capsys: pytest.CaptureFixture[str]) -> None:
    files = {"train.py": GROWS, "Dockerfile": DOCKERFILE.format("TF_FORCE_GPU_ALLOW_GROWTH=false")}
    programs = _proofs(capsys, files, "--original")
    assert [program["started_by"] for program in programs] == [None]


@pytest.mark.usefixtures("project")
def test_what_a_person_reads(capsys: pytest.CaptureFixture[str]) -> None:
    for path in Path().glob("*.py"):
        path.unlink()
    Path("pyproject.toml").write_text("")
    Path("train.py").write_text(GROWS)
    Path("Dockerfile").write_text(DOCKERFILE.format("TF_FORCE_GPU_ALLOW_GROWTH=false"))
    assert run("train.py") == 1
    text = capsys.readouterr().out
    assert "\ntrain.py as Dockerfile:5 starts it (CMD)\n  (edge, " in text
    assert "TF_FORCE_GPU_ALLOW_GROWTH=" in text
