"""A run that a search of bytes decides prints what the whole run prints, and imports next to nothing."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tfmemlint.cli.main import main
from tfmemlint.cli.quick_check import quick_check
from tfmemlint.reporters.language import VARIABLES

CLEAN = (
    "import tensorflow as tf\n\n\ndef build(units):\n    return tf.keras.Sequential([tf.keras.layers.Dense(units)])\n"
)
FOUND = (
    "import tensorflow as tf\n\nx = tf.zeros([1])\n"
    'tf.config.experimental.set_memory_growth(tf.config.list_physical_devices("GPU")[0], True)\n'
)
FILES: dict[str, str | bytes] = {
    "clean.py": CLEAN,
    "other.py": "import os\n\nprint(os.getcwd())\n",
    "empty.py": "",
    "accents.py": "# é\nprint('é')\n",
    "ends.py": "import os\r\nprint(1)\r\n",
    "cookie.py": "# -*- coding: latin-1 -*-\nprint(1)\n",
    "wrong.py": "print(\n",
    "null.py": "print(1)\n\0\n",
    "escape.py": "print('\\d')\n",
    "found.py": FOUND,
    "stub.pyi": "x: int\n",
    "words.md": "# Words\n\nNothing here.\n",
    "notes.txt": "nothing\n",
    "notes.json": "{}\n",
    "run.sh": "echo hello\n",
    "run": "#!/usr/bin/env python\nprint(1)\n",
    "Makefile": "all:\n\techo\n",
    "Procfile": "web: echo\n",
    "binary.md": "a\0b",
    "book.ipynb": '{"cells": [], "metadata": {}, "nbformat": 4, "nbformat_minor": 5}',
    "bytes.py": b"\xff\xfe",
    "late.md": "```python\n" + FOUND + "```\n",
}
"""Files of all kinds, most of them with nothing to find."""

QUICK = [
    ["check", "clean.py"],
    ["check", "other.py"],
    ["check", "empty.py", "clean.py"],
    ["check", "--no-cache", "clean.py", "clean.py", "./clean.py"],
    ["check", "-q", "other.py"],
    ["check", "--quiet", "--no-cache", "--force-exclude", "other.py"],
    ["check", "clean.py", "--no-cache"],
    ["check", "accents.py", "ends.py", "escape.py", "stub.pyi"],
    ["check", "words.md", "run.sh", "notes.txt", "Makefile"],
    ["check", "--force-exclude", "notes.json", "notes.txt", "clean.py"],
]
"""Command lines that need no more than a search of bytes."""
WHOLE = [
    [],
    ["check"],
    ["check", "."],
    ["check", "-"],
    ["check", "missing.py"],
    ["check", "clean.py", "missing.py"],
    ["check", "clean.py", "--no-cache", "other.py"],
    ["check", "clean.py", "--verbose"],
    ["check", "clean.py", "--nocache"],
    ["check", "--output-format", "json", "clean.py"],
    ["check", "--select", "TFM999", "clean.py"],
    ["check", "--select", "ALL", "clean.py"],
    ["check", "--", "clean.py"],
    ["check", ""],
    ["check", "found.py"],
    ["check", "clean.py", "found.py"],
    ["check", "wrong.py"],
    ["check", "null.py"],
    ["check", "bytes.py"],
    ["check", "cookie.py"],
    ["check", "run"],
    ["check", "Procfile"],
    ["check", "binary.md"],
    ["check", "book.ipynb"],
    ["check", "late.md"],
    ["check", "notes.json"],
    ["fix", "clean.py"],
    ["checks", "clean.py"],
]
"""Command lines that need the whole run."""


@pytest.fixture(autouse=True)
def _plain_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [*os.environ]:
        if name.startswith("TFMEMLINT_") or name in (*VARIABLES, "FORCE_COLOR", "GITHUB_ACTIONS"):
            monkeypatch.delenv(name)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with all files, each in a folder of its own where it configures something."""
    monkeypatch.setenv("TFMEMLINT_CACHE_DIR", str(tmp_path / "cache"))
    place = tmp_path / "place"
    place.mkdir()
    for name, text in FILES.items():
        (place / name).write_bytes(text if isinstance(text, bytes) else text.encode())
    (place / "found.py").unlink()
    (place / "late.md").unlink()
    monkeypatch.chdir(place)
    return place


def _quick(given: list[str], capsys: pytest.CaptureFixture[str]) -> tuple[int | None, str, str]:
    code = quick_check(given, os.environ)
    return (code, *capsys.readouterr())


def _whole(given: list[str], capsys: pytest.CaptureFixture[str]) -> tuple[int | None, str, str]:
    try:
        code = main(given)
    except SystemExit as left:
        assert isinstance(left.code, int)
        code = left.code
    return (code, *capsys.readouterr())


@pytest.mark.parametrize("given", QUICK, ids=" ".join)
def test_a_quick_run_prints_what_the_whole_run_prints(
    given: list[str], folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    quick = _quick(given, capsys)
    assert quick[0] is not None
    assert quick == _whole(given, capsys)
    assert not (folder.parent / "cache").exists()


@pytest.mark.parametrize("given", WHOLE, ids=" ".join)
def test_a_quick_run_leaves_all_else_to_the_whole_run(
    given: list[str], folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for name in ("found.py", "late.md"):
        if name in given:
            (folder / name).write_text(str(FILES[name]), encoding="utf-8")
    assert _quick(given, capsys) == (None, "", "")


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("pyproject.toml", "[tool.tfmemlint]\nselect = ['ALL']\n"),
        ("pyproject.toml", "[tool.tfmemlint]\nselekt = ['ALL']\n"),
        ("pyproject.toml", "# tfmemlint\n"),
        (".tfmemlint.toml", ""),
        ("tfmemlint.toml", "kinds = ['nothing']\n"),
    ],
)
@pytest.mark.parametrize("above", [False, True])
def test_configuration_files_need_the_whole_run(
    name: str, text: str, above: bool, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    ((folder.parent if above else folder) / name).write_text(text, encoding="utf-8")
    assert _quick(["check", "clean.py"], capsys) == (None, "", "")


def test_configuration_beside_a_file_elsewhere_needs_the_whole_run(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    inner = folder / "inner"
    inner.mkdir()
    (inner / "one.py").write_text("print(1)\n", encoding="utf-8")
    (inner / ".tfmemlint.toml").write_text("select = ['ALL']\n", encoding="utf-8")
    assert _quick(["check", "other.py"], capsys)[0] == 0
    assert _quick(["check", "inner/one.py"], capsys)[0] is None


def test_a_file_about_other_tools_configures_nothing(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "pyproject.toml").write_text("[tool.other]\nx = 1\n", encoding="utf-8")
    quick = _quick(["check", "clean.py"], capsys)
    assert quick == (0, "All checks passed!\n", "") == _whole(["check", "clean.py"], capsys)


@pytest.mark.parametrize(
    ("variable", "value"),
    [
        ("TFMEMLINT_SELECT", "ALL"),
        ("TFMEMLINT_CONFIG", "x.toml"),
        ("TFMEMLINT_SELEKT", "1"),
        ("TFMEMLINT_LANG", "zh"),
        ("LANG", "zh_CN.UTF-8"),
        ("FORCE_COLOR", "1"),
        ("GITHUB_ACTIONS", "true"),
    ],
)
def test_variables_that_change_the_report_need_the_whole_run(
    variable: str,
    value: str,
    folder: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setenv(variable, value)
    assert _quick(["check", "clean.py"], capsys) == (None, "", "")


@pytest.mark.parametrize("project", [False, True])
def test_a_file_whose_program_configures_something_needs_the_whole_run(
    project: bool, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    if project:
        (folder / "setup.py").write_text("", encoding="utf-8")
    assert _quick(["check", "clean.py"], capsys)[0] == 0
    (folder / "late.py").write_text("import clean\n" + FOUND, encoding="utf-8")
    assert _quick(["check", "clean.py"], capsys) == (None, "", "")


UNWANTED = {
    "argparse", "ast", "contextlib", "dataclasses", "hashlib", "importlib.metadata", "inspect", "json", "libcst",
    "pathspec", "shutil", "tfmemlint.cli.check", "tfmemlint.cli.main", "tfmemlint.config.files",
    "tfmemlint.engine.run", "tfmemlint.interpreter", "tfmemlint.rules", "tfmemlint.sources.text", "tokenize", "typing",
}  # fmt: skip
"""Modules that a run over a clean file does not import: each takes as long as the whole of its work, or much longer."""


def test_a_clean_file_imports_next_to_nothing(folder: Path) -> None:
    code = (
        "import sys; before = set(sys.modules); sys.argv = ['tfmemlint', 'check', 'clean.py', 'words.md']\n"
        "from tfmemlint.__main__ import main\n"
        "assert main() == 0; print(*sorted(set(sys.modules) - before))"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=folder, capture_output=True, text=True, check=True)
    said, modules = done.stdout.splitlines()
    assert said == "All checks passed!"
    assert not UNWANTED & set(modules.split())
    assert "tfmemlint.cli.quick_check" in modules.split()
