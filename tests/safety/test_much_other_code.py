"""Programs that do much besides: what configures a GPU in them is found all the same."""

from __future__ import annotations

from pathlib import Path

import pytest

from tfmemlint.cli.main import main
from tfmemlint.interpreter import context
from tfmemlint.interpreter.operations import function_calls

FUNCTIONS = 60
WORK = "".join(
    f"def prepare_{number}(rows):\n    kept = [row + {number} for row in rows]\n    return sorted(kept)\n\n\n"
    for number in range(FUNCTIONS)
)
CALLS = "\n".join(f"rows = prepare_{number}(rows)" for number in range(FUNCTIONS))
GROWTH = """import tensorflow as tf


def grow():
    for gpu in tf.config.list_physical_devices("GPU"):
        tf.config.experimental.set_memory_growth(gpu, True)
"""
HEAD = "import tensorflow as tf\nfrom growth import grow\nfrom work import *\n\nrows = [1, 2]\n"


@pytest.mark.parametrize(("with_all_code", "found"), [(300, True), (100_000, False)])
def test_the_steps_of_a_program_are_kept_for_what_configures(
    with_all_code: int,
    found: bool,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    (tmp_path / "work.py").write_text(WORK)
    (tmp_path / "growth.py").write_text(GROWTH)
    (tmp_path / "main.py").write_text(f"{HEAD}{CALLS}\ntf.zeros([1])\ngrow()\n")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(function_calls, "STEPS_WITH_ALL_CODE", with_all_code)
    monkeypatch.setattr(context, "MAX_STEPS_OF_PROJECT_PROGRAM", 700)
    main(["check", "--no-cache", "--jobs", "1", "-v", "."])
    out, err = capsys.readouterr()
    assert ("TFM101" in out) is found
    assert "main.py: not followed to the end: more than" in err
