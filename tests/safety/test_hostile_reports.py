"""Reports that strangers wrote are merged, or refused: no crash, no escapes, no other files quoted."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import pytest

from tests.safety.broken_json import ACTS, broken
from tfmemlint.cli.main import main
from tfmemlint.reporters.formats import FORMATS

FOUND, FAILED = 1, 2
CODE = """\
import tensorflow as tf

tf.zeros([1])
gpus = tf.config.list_physical_devices("GPU")
tf.config.experimental.set_memory_growth(gpus[0], True)
tf.config.experimental.set_memory_limit(gpus[0], 1024)
"""
NOTEBOOK: dict[str, Any] = {
    "cells": [{"cell_type": "code", "source": CODE, "outputs": [], "metadata": {}, "execution_count": None}]
}
READ = ("json", "json-lines", "sarif")
WRITTEN = [name for name in FORMATS if name != "corrections"]
EACH = 60
"""Broken reports of each format."""


@pytest.fixture
def report(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest) -> Any:
    """The report of a run over a module and a notebook, in one of the formats that are read, as a document."""
    project = tmp_path / "project"
    project.mkdir()
    monkeypatch.chdir(project)
    Path("train.py").write_text(CODE)
    notebook = {**NOTEBOOK, "metadata": {}, "nbformat": 4, "nbformat_minor": 5}
    Path("train.ipynb").write_text(json.dumps(notebook))
    assert main(["check", "--no-cache", "--jobs", "1", "--output-format", request.param, "-o", "whole", "."]) == FOUND
    text = Path("whole").read_text()
    return [json.loads(line) for line in text.splitlines()] if request.param == "json-lines" else json.loads(text)


@pytest.mark.parametrize("report", READ, indirect=True)
def test_a_broken_report_is_merged_or_refused(report: Any, capsys: pytest.CaptureFixture[str]) -> None:
    chance = random.Random(0)
    codes = set()
    for number in range(EACH):
        Path("report").write_text(json.dumps(broken(report, chance)))
        written = WRITTEN[number % len(WRITTEN)]
        more = ["--statistics"] if chance.random() < 0.1 else []
        code = main(["merge", "--output-format", written, *more, "report"])
        out, err = capsys.readouterr()
        assert code in (0, FOUND, FAILED), (number, written, err)
        assert "\x1b" not in out + err, (number, written)
        assert not [line for line in (out + err).splitlines() if line.startswith("::error::broken")]
        codes.add(code)
    assert codes >= {FOUND, FAILED}


@pytest.mark.parametrize("report", ["json", "sarif"], indirect=True)
@pytest.mark.parametrize("how", ["absolute", "relative", "link"])
def test_no_file_outside_is_quoted(report: Any, how: str, capsys: pytest.CaptureFixture[str]) -> None:
    secret = Path("../secret.py").absolute()
    secret.write_text("\n".join(f"TOKEN_{row} = 'hidden'" for row in range(1, 9)))
    Path("link.py").symlink_to(secret)
    named = {"absolute": secret.as_posix(), "relative": "../secret.py", "link": "link.py"}[how]
    text = json.dumps(report).replace(str(Path("train.py").absolute()), named).replace('"train.py"', f'"{named}"')
    Path("report").write_text(text)
    for written in WRITTEN:
        assert main(["merge", "--output-format", written, "report"]) == FOUND
        shown = capsys.readouterr().out
        assert "hidden" not in shown
        assert Path(named).name in shown


@pytest.mark.parametrize(
    "text",
    [
        *(
            "[" * 100_000,
            '{"runs":' * 50_000,
            "[" + "9" * 5_000 + "]",
            '{"runs": {}}',
            '{"runs": [[]]}',
            '[{"code": {}}]',
        ),
        *("NaN", '"' + "x" * 1_000_000, "\0", "[null]", '{"runs": [{"results": [{"ruleId": 1}]}]}', "1e999", "{}"),
    ],
    ids=range(13),
)
def test_what_is_no_report_at_all(
    text: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("report").write_text(text)
    assert main(["merge", "report"]) == FAILED
    assert "is no report that can be merged" in capsys.readouterr().err


@pytest.mark.parametrize("report", ["json"], indirect=True)
def test_a_code_that_acts_is_none(report: Any, capsys: pytest.CaptureFixture[str]) -> None:
    for key in ("code", "name"):
        Path("report").write_text(json.dumps([{**report[0], key: f"TFM101{ACTS}"}]))
        assert main(["merge", "--statistics", "report"]) == FAILED
        assert "\x1b" not in capsys.readouterr().err
