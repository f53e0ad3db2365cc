"""The registry of output formats: all that takes a format asks it, and each entry writes a report of its own."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.checkout import ROOT
from tfmemlint.cli.main import main
from tfmemlint.reporters.formats import FORMATS

LATE = """\
import tensorflow as tf

tf.zeros([1])
for gpu in tf.config.list_physical_devices("GPU"):
    tf.config.experimental.set_memory_growth(gpu, True)
"""


@pytest.fixture
def reports(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> dict[str, str]:
    """What `check` prints about one file in each format."""
    (tmp_path / "late.py").write_text(LATE)
    monkeypatch.chdir(tmp_path)
    found: dict[str, str] = {}
    for name in FORMATS:
        assert main(["check", "--no-cache", "--output-format", name, "late.py"]) == 1
        found[name] = capsys.readouterr().out
    return found


def test_every_format_reports_the_finding_in_its_own_way(reports: dict[str, str]) -> None:
    assert all("TFM101" in text for text in reports.values())
    assert len(set(reports.values())) == len(FORMATS)


def test_the_configuration_takes_every_format(
    reports: dict[str, str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for name, text in reports.items():
        (tmp_path / "tfmemlint.toml").write_text(f'output-format = "{name}"\n')
        assert main(["check", "--no-cache", "late.py"]) == 1
        assert capsys.readouterr().out == text


def test_the_page_of_the_options_names_every_format() -> None:
    text = (ROOT / "docs" / "options.md").read_text(encoding="utf-8")
    assert [name for name in FORMATS if f"`{name}`" not in text] == []


def test_asking_the_registry_imports_nothing_of_the_reports() -> None:
    code = "import sys, tfmemlint.reporters.formats; print({'json', 'rich', 'libcst'} & set(sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "set()"
