"""Small projects in which an import starts the runtime, and configuration comes too late because of it."""

from __future__ import annotations

from pathlib import Path

from tests.fixes.helpers import code
from tfmemlint.engine.context import RunContext
from tfmemlint.engine.results import FileResult
from tfmemlint.engine.run import run
from tfmemlint.model.finding import Finding
from tfmemlint.sources import walk

STARTER = """
    import tensorflow as tf


    def decode(x, anchors=tf.Variable([1.0, 2.0])):
        return x * anchors
    """
"""A module whose import starts the runtime: a default argument is a variable, which is made once."""
GROW = """
    import tensorflow as tf


    def grow():
        for gpu in tf.config.list_physical_devices("GPU"):
            tf.config.experimental.set_memory_growth(gpu, True)
    """
BUILD = """
    import tensorflow as tf


    def build():
        return tf.Variable(1.0)
    """
IN_ANOTHER_FILE = {
    "core/config.py": GROW,
    "train.py": """
        from core.yolov4 import decode
        from core.config import grow


        def main():
            grow()
            decode(1)


        main()
        """,
}


def make(root: Path, files: dict[str, str]) -> None:
    """Write a project: these files, with ``core/yolov4.py``, which starts the runtime."""
    every = {"pyproject.toml": '[project]\nname = "p"\n', "core/__init__.py": "", "core/yolov4.py": STARTER, **files}
    for name, text in every.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(code(text), encoding="utf-8")


def fix() -> list[FileResult]:
    """Fix the project in the working directory."""
    return run([(path, True) for path in walk(["."]).files], RunContext(fix=True, write=True, unsafe=True))


def withheld(outcomes: list[FileResult]) -> list[str]:
    """The reasons why something was not fixed."""
    return [found.withheld for outcome in outcomes for found in outcome.findings]


def left() -> list[Finding]:
    """What is found in the project in the working directory."""
    outcomes = run([(path, True) for path in walk(["."]).files], RunContext())
    return [found for outcome in outcomes for found in outcome.findings]
