"""Modules that were imported on some ways to a place, and are imported there again: what that costs, and does."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.fixes.projects import make
from tfmemlint.engine.context import RunContext
from tfmemlint.engine.run import run
from tfmemlint.interpreter.operations import imports
from tfmemlint.sources import walk

MODULES = 14
MAIN = """
import os

import tensorflow as tf


def load():
    import m0

    return m0


if os.environ.get("BACKEND") == "one":
    load()
import m0
{}
for gpu in tf.config.list_physical_devices("GPU"):
    tf.config.experimental.set_memory_growth(gpu, True)
"""


def _modules(last: str) -> dict[str, str]:
    """Modules of which each imports the next three; what the last one does besides."""
    found = {}
    for number in range(MODULES):
        others = [other for other in range(number + 1, number + 4) if other < MODULES]
        lines = [f"from m{other} import v{other}" for other in others]
        found[f"m{number}.py"] = "\n".join(["import os", *lines, f"v{number} = {number}\n"])
    found[f"m{MODULES - 1}.py"] += last
    return found


def _found(tmp_path: Path, last: str, main: str = "") -> list[str]:
    make(tmp_path, {**_modules(last), "main.py": MAIN.format(main), "pyproject.toml": "[project]\nname = 'one'\n"})
    files = [(one, False) for one in walk([str(tmp_path)]).files]
    results = run(files, RunContext(explain_fixes="never", cache=False, jobs=1))
    return [finding.code for result in results for finding in result.findings]


def test_each_module_is_gone_through_a_few_times(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    gone_through: list[str] = []
    interpret = imports.interpret_module

    def counted(context: object, unit: object, node: object) -> None:
        gone_through.append(unit.source.path)  # type: ignore[attr-defined]
        interpret(context, unit, node)  # type: ignore[arg-type]

    monkeypatch.setattr(imports, "interpret_module", counted)
    assert _found(tmp_path, "import m0\n") == []
    assert max(map(gone_through.count, gone_through)) < MODULES


@pytest.mark.parametrize(("last", "codes"), [("import tensorflow as tf\nx = tf.zeros([1])\n", ["TFM101"]), ("", [])])
def test_what_a_module_starts_is_known(tmp_path: Path, last: str, codes: list[str]) -> None:
    assert _found(tmp_path, last) == codes


def test_a_module_that_is_imported_on_some_way_only_has_not_certainly_run(tmp_path: Path) -> None:
    lazy = 'def show():\n    if os.environ.get("SHOW"):\n        import starter\n'
    make(tmp_path, {"starter.py": "import tensorflow as tf\nx = tf.zeros([1])\n"})
    assert _found(tmp_path, lazy + "show()\n", "import starter") == ["TFM101"]
