"""What files are called."""

from __future__ import annotations

from pathlib import Path

import pytest

from tfmemlint.project.listing import called


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")


def test_what_is_below_goes_by_its_path_from_here() -> None:
    below = Path("a") / "b.py"
    assert called(str(below)) == called(str(Path.cwd() / below)) == called(str(Path("x") / ".." / below)) == str(below)


def test_a_directory_whose_name_begins_with_dots_is_below() -> None:
    below = Path("..data") / "a.py"
    assert called(str(Path.cwd() / below)) == str(below)


def test_what_is_elsewhere_goes_by_its_whole_path() -> None:
    elsewhere = Path.cwd().parent / "a.py"
    assert called(str(elsewhere)) == called(str(Path("..") / "a.py")) == str(elsewhere)


def test_a_link_stays_one() -> None:
    (Path.cwd().parent / "a.py").touch()
    try:
        Path("b.py").symlink_to(Path("..") / "a.py")
    except OSError:
        pytest.skip("no links can be made here")
    assert called("b.py") == "b.py"
