"""A rule that a selection names reads every file that it needs."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tfmemlint.cli.main import main

PROGRAM = "import tensorflow as tf\nnoise = tf.random_normal([4])\n"
EXAMPLE = "import tensorflow as tf\nprint(tf.math.average([1.0, 2.0]))\n"


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A directory with a program and a page, neither of which touches GPU memory."""
    (tmp_path / "noise.py").write_text(PROGRAM)
    (tmp_path / "page.md").write_text(f"# Noise\n\n```python\n{EXAMPLE}```\n")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def found(capsys: pytest.CaptureFixture[str], *options: str) -> list[tuple[str, str]]:
    main(["check", "--no-cache", "--output-format", "json", *options, "."])
    return sorted((Path(one["filename"]).name, one["code"]) for one in json.loads(capsys.readouterr().out))


@pytest.mark.parametrize("options", [("--select", "TFM206"), ("--select", "TFM2"), ("--extend-select", "TFM206")])
def test_on_the_command_line(project: Path, capsys: pytest.CaptureFixture[str], options: tuple[str, str]) -> None:
    assert ("noise.py", "TFM206") in found(capsys, *options)


def test_in_a_document(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert found(capsys, "--select", "TFM209") == [("page.md", "TFM209")]


def test_in_a_configuration_file(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (project / "tfmemlint.toml").write_text('select = ["TFM206"]\n')
    assert found(capsys) == [("noise.py", "TFM206")]


@pytest.mark.parametrize("options", [(), ("--select", "TFM101"), ("--ignore", "TFM101")])
def test_a_rule_that_is_not_named_reads_what_has_to_do_with_gpu_memory(
    project: Path, capsys: pytest.CaptureFixture[str], options: tuple[str, ...]
) -> None:
    assert found(capsys, *options) == []


def test_unused_suppressions_are_found_in_any_file(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (project / "other.py").write_text("import os  # noqa: TFM999\n")
    assert found(capsys, "--select", "TFM904") == [("other.py", "TFM904")]
