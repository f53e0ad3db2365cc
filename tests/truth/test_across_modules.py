"""Projects before and after configuration was moved above an import, on the installed TensorFlow."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.fixes.moving import ENVIRONMENT, MOVES
from tests.fixes.projects import BUILD, fix, make
from tests.truth.harness import SECONDS, failure, has
from tfmemlint.verify.edge import Edge
from tfmemlint.verify.result import Result

pytestmark = pytest.mark.slow

_LAUNCHER = """\
import runpy, sys
sys.path.insert(0, {root!r})
runpy.run_path({path!r}, run_name="__main__")
"""


def _run(edge: Edge, root: Path, gpus: int) -> Result:
    code = _LAUNCHER.format(root=str(root), path=str(root / "train.py"))
    return edge.run(code, gpus=gpus, cwd=root, filename="launcher.py", timeout=SECONDS)


@pytest.mark.parametrize("gpus", [1, 2])
@pytest.mark.parametrize("case", MOVES)
def test_what_raised_has_memory_growth_when_it_was_moved(
    case: str, gpus: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, edge: Edge
) -> None:
    make(tmp_path, {"train.py": MOVES[case][0], "core/model.py": BUILD})
    monkeypatch.chdir(tmp_path)
    assert failure(_run(edge, tmp_path, gpus)).startswith("RuntimeError: Physical devices cannot be modified")
    assert fix()
    result = _run(edge, tmp_path, gpus)
    assert not failure(result)
    assert has(result, {"allow_growth": True})
    # Without a GPU it runs as before.
    assert not failure(_run(edge, tmp_path, 0))


def test_a_variable_that_was_moved_is_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, edge: Edge) -> None:
    make(tmp_path, {"train.py": ENVIRONMENT})
    monkeypatch.chdir(tmp_path)
    before = _run(edge, tmp_path, 2)
    assert not failure(before)
    assert has(before, {"visible": [0, 1]})
    fix()
    after = _run(edge, tmp_path, 2)
    assert not failure(after)
    assert has(after, {"visible": [0]})
