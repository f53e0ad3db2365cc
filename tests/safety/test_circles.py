"""Modules that import each other: each is followed up to a bound, and the report names those that are not."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.safety.attacks import mesh
from tfmemlint.cli.main import main
from tfmemlint.engine import find_programs

MODULES = 12
GROWS = """
if a.VALUE:
    tf.constant(0)
for gpu in tf.config.list_physical_devices("GPU"):
    tf.config.experimental.set_memory_growth(gpu, True)
"""
MODE = """
import os
if os.environ["MODE"] == "loud":
    tf.constant(0)
for gpu in tf.config.list_physical_devices("GPU"):
    tf.config.experimental.set_memory_growth(gpu, True)
"""
CIRCLE = {
    "a.py": 'import b\nVALUE = getattr(b, "START", 0)\n',
    "b.py": "import a\nSTART = 1\n",
    "first.py": f"import tensorflow as tf\nimport a\n{GROWS}",
    "second.py": f"import tensorflow as tf\nimport b\nimport a\n{GROWS}",
}
"""A circle in which a module has another value for whoever enters it at the other end: it then has 0."""


@pytest.mark.parametrize(("limit", "followed"), [((MODULES - 1) * MODULES, False), (MODULES * MODULES, True)])
def test_a_circle_that_is_too_large_is_named(
    limit: int, followed: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for name, content in mesh(MODULES).items():
        (tmp_path / name).write_text(content)
    monkeypatch.setattr(find_programs, "MAX_IMPORTS_IN_CIRCLE", limit)
    monkeypatch.chdir(tmp_path)
    main(["check", "--no-cache", "-v", "."])
    said = capsys.readouterr().err
    expected = f"m3.py: not followed to the end: it is one of {MODULES} modules that import each other in circles"
    assert (expected in said) is not followed


@pytest.mark.slow
@pytest.mark.parametrize("count", [*range(10, 20), 30, 60])
def test_a_circle_is_followed_however_many_modules_it_has(
    count: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for name, content in mesh(count).items():
        (tmp_path / name).write_text(content)
    monkeypatch.chdir(tmp_path)
    main(["check", "--no-cache", "-v", "."])
    assert "nested too deeply" not in capsys.readouterr().err


NEEDED = {
    "calm.py": 'import os\nos.environ["MODE"] = "calm"\n',
    "loud.py": 'import calm\nimport os\nos.environ["MODE"] = "loud"\n',
    "first.py": f"import tensorflow as tf\nimport calm\nimport loud\n{MODE}",
    "second.py": f"import tensorflow as tf\nimport loud\n{MODE}",
}
"""Two programs that end with the same environment: the module that sets it last needs the other one."""


@pytest.mark.parametrize("files", [CIRCLE, NEEDED], ids=["a circle", "a module that needs another"])
def test_a_program_that_enters_elsewhere_is_judged_as_it_is_alone(
    files: dict[str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for name, content in files.items():
        (tmp_path / name).write_text(content)
    monkeypatch.chdir(tmp_path)

    def found(*paths: str) -> list[str]:
        main(["check", "--no-cache", "--jobs", "1", "--output-format", "concise", *paths])
        return sorted(line for line in capsys.readouterr().out.splitlines() if "TFM" in line)

    assert found(".") == sorted([*found("first.py"), *found("second.py")])
