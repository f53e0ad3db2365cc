"""Configuration moves above the import or call of its own file that leads to the start in another one, or stays."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.fixes.helpers import code
from tests.fixes.moving import ENVIRONMENT, ENVIRONMENT_FIXED, FLAT, MOVES
from tests.fixes.projects import BUILD, IN_ANOTHER_FILE, fix, left, make, withheld
from tests.fixes.staying import STAYS
from tfmemlint.engine.context import RunContext
from tfmemlint.engine.run import run
from tfmemlint.model.finding import Applicability


@pytest.mark.parametrize("case", STAYS)
def test_what_can_not_be_moved_stays_and_both_lines_are_named(
    case: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    files, reason = STAYS[case]
    make(tmp_path, files)
    monkeypatch.chdir(tmp_path)
    before = {path: path.read_text("utf-8") for path in tmp_path.rglob("*.py")}
    reasons = withheld(fix())
    assert {path: path.read_text("utf-8") for path in tmp_path.rglob("*.py")} == before
    assert reasons
    assert all(reason in one for one in reasons), reasons


@pytest.mark.parametrize("case", MOVES)
def test_configuration_moves_above_what_leads_to_the_start(
    case: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before, after = MOVES[case]
    make(tmp_path, {"train.py": before, "core/model.py": BUILD})
    monkeypatch.chdir(tmp_path)
    (outcome,) = [one for one in fix() if one.old is not None]
    assert (tmp_path / "train.py").read_text("utf-8") == code(after)
    assert [found.fix.applicability for found in outcome.applied if found.fix] == [Applicability.UNSAFE]
    assert not left()
    assert not [one for one in fix() if one.old is not None]


def test_variables_move_with_the_import_of_os_and_are_explained_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    make(tmp_path, {"train.py": ENVIRONMENT})
    monkeypatch.chdir(tmp_path)
    fix()
    assert (tmp_path / "train.py").read_text("utf-8") == code(ENVIRONMENT_FIXED)
    assert not left()
    assert not [one for one in fix() if one.old is not None]


def test_the_comments_of_imports_are_joined(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text = """
        import tensorflow as tf
        # ours
        from core.yolov4 import decode  # noqa: F401 - it registers itself
        from core.model import (
            # all of it
            build,
        )
        from core.model import (build as make,
                                tf as flow)
        import shutil; import sys  # type: ignore
        import json  # noqa
        from core import \\
            model

        for gpu in tf.config.list_physical_devices("GPU"):
            tf.config.experimental.set_memory_growth(gpu, True)
        import late
        """
    expected = """
        import tensorflow as tf

        for gpu in tf.config.list_physical_devices("GPU"):
            tf.config.experimental.set_memory_growth(gpu, True)

        # ours
        # GPU memory is configured before these imports: they start TensorFlow's runtime
        # isort: split
        from core.yolov4 import decode  # noqa: F401, E402 - it registers itself
        from core.model import (  # noqa: E402
            # all of it
            build,
        )
        from core.model import (build as make,  # noqa: E402
                                tf as flow)
        import shutil; import sys  # type: ignore  # noqa: E402
        import json  # noqa
        from core import \\
            model  # noqa: E402

        import late
        """
    make(tmp_path, {"train.py": text, "core/model.py": BUILD, "late.py": ""})
    monkeypatch.chdir(tmp_path)
    fix()
    assert (tmp_path / "train.py").read_text("utf-8") == code(expected)


def test_where_code_stands_above_imports_already_linters_are_told_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = """
        import sys
        import tensorflow as tf

        sys.path.append("..")
        from core.yolov4 import decode

        for gpu in tf.config.list_physical_devices("GPU"):
            tf.config.experimental.set_memory_growth(gpu, True)
        """
    make(tmp_path, {"train.py": text})
    monkeypatch.chdir(tmp_path)
    fix()
    assert (tmp_path / "train.py").read_text("utf-8").endswith("# isort: split\nfrom core.yolov4 import decode\n")


@pytest.mark.parametrize("case", [*MOVES, "environment"])
def test_ruff_neither_complains_nor_moves_it_back(case: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = MOVES[case][0] if case in MOVES else ENVIRONMENT
    make(tmp_path, {"train.py": before, "core/model.py": BUILD})
    monkeypatch.chdir(tmp_path)
    fix()
    ruff = [sys.executable, "-m", "ruff", "check", "--isolated", "--no-cache", "--select", "I,E402", "train.py"]
    seen = subprocess.run([*ruff, "--output-format", "concise"], capture_output=True, text=True)
    assert "E402" not in seen.stdout
    subprocess.run([*ruff, "--fix"], capture_output=True)
    assert not left()


def test_the_advice_names_both_lines_where_the_ways_part_in_another_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    make(tmp_path, IN_ANOTHER_FILE)
    monkeypatch.chdir(tmp_path)
    (found,) = left()
    assert found.path == "core/config.py"
    assert found.advice == "Call grow() (train.py:6) above train.py:1, which imports core/yolov4.py"


def test_without_unsafe_fixes_nothing_moves(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    make(tmp_path, {"train.py": FLAT})
    monkeypatch.chdir(tmp_path)
    (outcome,) = run([("train.py", True)], RunContext(fix=True, write=True))
    assert outcome.old is None
    assert [found.withheld for found in outcome.findings] == ["unsafe: needs --unsafe-fixes"]
