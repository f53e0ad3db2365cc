"""Projects within projects: each directory is walked through once, and each program is still found."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.processor_time import assert_linear
from tfmemlint.api import check
from tfmemlint.cli.main import main
from tfmemlint.engine import project_files

MAIN = "import tensorflow as tf\nimport setup_gpus\n\ntf.zeros([1])\nsetup_gpus.grow()\n"
MODULE = """\
import tensorflow as tf

def grow():
    for gpu in tf.config.list_physical_devices("GPU"):
        tf.config.experimental.set_memory_growth(gpu, True)
"""


def _project(place: Path) -> Path:
    """A project with one program of two files, which sets memory growth too late."""
    place.mkdir(parents=True, exist_ok=True)
    (place / "requirements.txt").write_text("tensorflow==2.15\n")
    (place / "main.py").write_text(MAIN)
    (place / "setup_gpus.py").write_text(MODULE)
    return place / "setup_gpus.py"


def _late(*paths: Path) -> set[Path]:
    return {Path(finding.place.path) for finding in check(list(paths)).findings if finding.code == "TFM101"}


def test_programs_of_nested_projects_are_found(tmp_path: Path) -> None:
    expected = {_project(tmp_path / name) for name in ("", "a", "a/b", "a/b/c", "ab", "d")}
    assert _late(tmp_path) == expected


def test_a_nested_project_that_a_walk_from_above_leaves_out_is_found_where_it_is_named(tmp_path: Path) -> None:
    outer, inner = _project(tmp_path), _project(tmp_path / "build" / "inner")
    assert _late(tmp_path) == {outer}
    assert _late(tmp_path, inner.with_name("main.py")) == {outer, inner}


def test_a_nested_project_with_a_link_to_what_is_beside_it_is_found(tmp_path: Path) -> None:
    outer, inner = _project(tmp_path), _project(tmp_path / "a" / "inner")
    shared = tmp_path / "shared"
    shared.mkdir()
    inner.rename(shared / "setup_gpus.py")
    (inner.parent / "deep").mkdir()
    try:
        (inner.parent / "deep" / "shared").symlink_to(shared)
    except OSError:
        pytest.skip("this system makes no links")
    main = inner.parent / "deep" / "main.py"
    main.write_text(MAIN.replace("import setup_gpus", "from shared import setup_gpus"))
    assert outer in _late(tmp_path)
    assert len(_late(tmp_path)) == 2


def test_a_nested_project_is_found_in_one_that_is_too_large(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(project_files, "LARGEST_PROJECT", 5)
    outer, inner, deep = (_project(tmp_path / name) for name in ("", "a", "a/b"))
    outer.rename(tmp_path / "other.py")
    outer.with_name("main.py").write_text(MAIN.replace("setup_gpus", "other"))
    for number in range(4):
        (tmp_path / f"module{number}.py").write_text("")
    assert _late(*(module.with_name("main.py") for module in (outer, inner, deep))) == {inner, deep}


def test_the_depth_of_nested_projects_costs_no_square(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    def nested(name: str, depth: int) -> Path:
        place = tmp_path / name
        for _ in range(depth):
            _project(place)
            place /= "d"
        return tmp_path / name

    some, more = nested("some", 30), nested("more", 60)
    arguments = ["check", "--no-cache", "--output-format", "concise"]
    assert_linear(lambda: main([*arguments, str(some)]), lambda: main([*arguments, str(more)]))
    assert capsys.readouterr().out.count("TFM101") % 30 == 0
