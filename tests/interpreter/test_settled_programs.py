"""Programs that configure nothing themselves are followed until all that configures is imported, and no further."""

from __future__ import annotations

from pathlib import Path
from textwrap import dedent

import pytest

from tests.project.trees import write
from tfmemlint.engine.context import RunContext
from tfmemlint.engine.run import run
from tfmemlint.model.finding import Finding
from tfmemlint.sources import walk

VARIABLE = """
    import os

    os.environ["TF_FORCE_GPU_ALLOW_GROWTH"] = "true"
    """
"""A module that configures by the environment when it is imported."""
WORK = """
    import tensorflow as tf


    def work():
        return tf.constant(1)
    """
FILES = {"settings.py": VARIABLE, "work.py": WORK}
MAIN = """
    import settings
    import work

    work.work()
    """


def check(root: Path, files: dict[str, str], monkeypatch: pytest.MonkeyPatch) -> tuple[list[tuple[str, str, int]], int]:
    """Return the code, file and row of all that is found, and the number of statements that were interpreted."""
    write(root / "pyproject.toml", '[project]\nname = "it"\n')
    for name, text in {**FILES, **files}.items():
        write(root / name, dedent(text))
    monkeypatch.chdir(root)
    steps: list[int] = []
    monkeypatch.setattr("tfmemlint.interpreter.context.Context.step", lambda self: steps.append(1))
    results = run([(name, False) for name in walk(["."]).files], RunContext(explain_fixes="never"))
    found: list[Finding] = [finding for result in results for finding in result.findings]
    return sorted((each.code, each.path, each.span.row) for each in found), len(steps)


def test_what_comes_after_the_last_setting_is_not_followed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    found, steps = check(tmp_path / "short", {"main.py": MAIN}, monkeypatch)
    longer = dedent(MAIN) + "work.work()\n" * 200
    assert check(tmp_path / "long", {"main.py": longer}, monkeypatch) == (found, steps)
    assert found == []


@pytest.mark.parametrize(
    ("main", "expected"),
    [
        # The work comes first, the setting too late.
        ("import work\n\nwork.work()\nimport settings\n", [("TFM105", "main.py", 4)]),
        # A setting of its own, after one that is imported.
        (
            dedent(MAIN) + "import os\nos.environ['CUDA_VISIBLE_DEVICES'] = '0'\n",
            [("TFM105", "main.py", 7)],
        ),
        # One in a function that it calls.
        (dedent(MAIN) + "import late\n\nlate.setup()\n", [("TFM105", "late.py", 6)]),
        # A variable that is about something else, but read by then.
        (dedent(MAIN) + "import os\nos.environ['TF_GPU_THREAD_MODE'] = 'gpu_private'\n", [("TFM105", "main.py", 7)]),
        # A session whose options the variable overrules.
        (
            "import settings\nimport tensorflow.compat.v1 as tf\n\n"
            "config = tf.ConfigProto()\nconfig.gpu_options.allow_growth = False\ntf.Session(config=config)\n",
            [("TFM403", "main.py", 6)],
        ),
    ],
)
def test_what_matters_later_is_followed(
    main: str, expected: list[tuple[str, str, int]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    late = """
        import os


        def setup():
            os.environ["CUDA_VISIBLE_DEVICES"] = "0"
        """
    found, _ = check(tmp_path, {"main.py": main, "late.py": late}, monkeypatch)
    assert set(expected) <= set(found)
