"""Files are found as git would see them."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tfmemlint.sources import walk


@pytest.fixture
def tree(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def put(*paths: str, text: str = "") -> None:
    for path in paths:
        Path(path).parent.mkdir(parents=True, exist_ok=True)
        Path(path).write_text(text)


def files(*paths: str, exclude: tuple[str, ...] = (), respect_gitignore: bool = True) -> list[str]:
    found = walk(paths or (".",), exclude=exclude, respect_gitignore=respect_gitignore)
    assert found.problems == []
    return [path.replace(os.sep, "/") for path in found.files]


def test_other_files_and_the_usual_directories_are_left_out(tree: Path) -> None:
    put(
        "a.py", "a.txt", "b/c.pyi", "b/d.ipynb", ".venv/x.py", "build/x.py", "n/node_modules/x.py", "b/__pycache__/x.py"
    )
    put("env/pyvenv.cfg", "env/lib/x.py")
    assert files() == ["a.py", "b/c.pyi"]


def test_ignore_files_count_down_to_the_file(tree: Path) -> None:
    Path(".git").mkdir()
    put("keep.py", "gen.py", "sub/gen.py", "sub/keep.py", "sub/local.py", "out/x.py", "sub/out/y.py")
    put(".gitignore", text="gen.py\n/out/\n# keep.py\n")
    put("sub/.gitignore", text="!gen.py\nlocal.py\n")
    assert files() == ["keep.py", "sub/gen.py", "sub/keep.py", "sub/out/y.py"]


def test_ignore_files_above_the_start_count(tree: Path) -> None:
    put(".git/info/exclude", text="secret.py\n")
    put(".gitignore", text="gen.py\n")
    put("sub/gen.py", "sub/secret.py", "sub/keep.py")
    assert files("sub") == ["sub/keep.py"]


def test_ignore_files_outside_a_repository_count_too(tree: Path) -> None:
    put("a.py", "b.py")
    put(".gitignore", text="b.py\n")
    assert files() == ["a.py"]


def test_ignore_files_can_be_left_aside(tree: Path) -> None:
    put("a.py", "b.py")
    put(".gitignore", text="b.py\n")
    assert files(respect_gitignore=False) == ["a.py", "b.py"]


def test_a_file_that_is_named_is_taken(tree: Path) -> None:
    put("gen.py", "script")
    put(".gitignore", text="gen.py\n")
    assert files("gen.py", "script") == ["gen.py", "script"]


def test_what_is_excluded_is_left_out_even_when_named(tree: Path) -> None:
    put("a.py", "old/b.py", "src/old/c.py", "src/d_test.py")
    assert files(".", exclude=("old/", "*_test.py")) == ["a.py"]
    assert files("a.py", "old/b.py", exclude=("old",)) == ["a.py"]


def test_each_file_once(tree: Path) -> None:
    put("a/b.py")
    Path("a/again.py").symlink_to("b.py")
    Path("link").symlink_to("a")
    assert len(files("a", "a/b.py", "./a/b.py", "link")) == 1


@pytest.mark.parametrize("loop", ["a/loop", "a/b/loop"])
def test_a_loop_of_links_ends(tree: Path, loop: str) -> None:
    put("a/b/c.py")
    Path(loop).symlink_to("../" * loop.count("/") + "a")
    Path("self").symlink_to("self")
    assert files("a") == ["a/b/c.py"]


def test_the_order_does_not_depend_on_the_file_system(tree: Path) -> None:
    put("b.py", "a.py", "c/d.py", "c/a.py", "aa/z.py")
    assert files() == files(".") and files("c", "a.py") == ["c/a.py", "c/d.py", "a.py"]


def test_problems_are_told(tree: Path) -> None:
    Path("dangling").symlink_to("nowhere")
    put("a.py")
    Path("empty").mkdir()
    found = walk(["missing", "dangling", "empty", "a.py"])
    assert [path for path, _ in found.problems] == ["missing", "dangling"]
    assert found.empty == ["empty"]
    assert found.files == ["a.py"]
