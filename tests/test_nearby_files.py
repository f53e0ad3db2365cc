"""A file in a folder that nothing calls a project: its imports are followed, and what lies below is not read."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.project.trees import write
from tfmemlint.engine.context import RunContext
from tfmemlint.engine.run import run
from tfmemlint.interpreter import modules
from tfmemlint.sources import read_bytes

GROW = """\
import tensorflow as tf

for gpu in tf.config.list_physical_devices("GPU"):
    tf.config.experimental.set_memory_growth(gpu, True)
"""
START = "import tensorflow as tf\n\nSTARTED = tf.constant(1.0)\n"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home directory with a script, what it imports, and much else."""
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.chdir(tmp_path)
    write(tmp_path / "main.py", f"from inner import start\n{GROW}")
    write(tmp_path / "inner" / "__init__.py", "")
    write(tmp_path / "inner" / "start.py", START)
    for number in range(40):
        write(tmp_path / "other" / f"project_{number}" / "module.py", GROW)
    return tmp_path


def test_what_is_imported_is_followed(folder: Path) -> None:
    (result,) = run([("main.py", True)], RunContext(explain_fixes="never"))
    assert [finding.code for finding in result.findings] == ["TFM101"]
    assert any(step.path == str(Path("inner", "start.py")) for step in result.findings[0].trace)


def test_what_lies_below_is_not_read(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    seen: set[str] = set()
    read = read_bytes

    def watched(path: str) -> bytes:
        seen.add(path)
        return read(path)

    monkeypatch.setattr(modules, "read_bytes", watched)
    run([("main.py", True)], RunContext(explain_fixes="never"))
    assert str(Path("inner", "start.py")) in seen
    assert not any(path.startswith("other") for path in seen)


def test_a_script_beside_it_that_imports_it_is_found(folder: Path) -> None:
    write(folder / "settings.py", GROW)
    write(folder / "train.py", "from inner import start\nimport settings\n\nprint(start.STARTED)\n")
    results = run([("settings.py", True)], RunContext(explain_fixes="never"))
    # The named file is right by itself: the script that imports it too late is the place.
    assert [(finding.path, finding.code) for result in results for finding in result.findings] == [
        ("train.py", "TFM101")
    ]
