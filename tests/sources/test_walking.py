"""Files are found as git would see them."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from tfmemlint.sources import walk
from tfmemlint.sources.gitattributes import Marks
from tfmemlint.sources.walking import Choice, Excluding


@pytest.fixture
def tree(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def put(*paths: str, text: str = "") -> None:
    for path in paths:
        Path(path).parent.mkdir(parents=True, exist_ok=True)
        Path(path).write_text(text)


def files(*paths: str, exclude: tuple[str, ...] = (), respect_gitignore: bool = True) -> list[str]:
    found = walk(
        paths or (".",), Choice(exclude=(Excluding(".", tuple(exclude)),), respect_gitignore=respect_gitignore)
    )
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


def test_generated_and_vendored_files_are_left_out_as_they_are_marked(tree: Path) -> None:
    put("a.py", "gen/b.py", "gen/own.py", "gen/deep/c.py", "lib/d.py", "lib/e.py", "doc/f.py", "g_pb2.py", "x/g_pb2.py")
    put(
        ".gitattributes",
        text="*.py text eol=lf\n"
        "gen/** linguist-generated\n"
        "gen/own.py -linguist-generated\n"
        "/lib/d.py linguist-vendored=true\n"
        "lib/e.py linguist-vendored=false\n"
        "doc/** linguist-documentation\n"
        "*_pb2.py linguist-generated # as it is made\n",
    )
    assert files() == ["a.py", "doc/f.py", "gen/own.py", "lib/e.py"]
    assert walk((".",)).marked == 5
    assert len(walk((".",), Choice(respect_gitattributes=False)).files) == 9


def test_marks_of_deeper_directories_come_after_those_above(tree: Path) -> None:
    put("a/gen.py", "a/b/gen.py", "a/b/c/gen.py")
    put(".gitattributes", text="gen.py linguist-generated\n")
    put("a/b/.gitattributes", text="gen.py -linguist-generated\n")
    put("a/b/c/.gitattributes", text="gen.py linguist-generated\n")
    assert files() == ["a/b/gen.py"]
    Path(".git").mkdir()
    assert files("a/b") == ["a/b/gen.py"]


def test_marks_above_the_start_count(tree: Path) -> None:
    put(".git/info/attributes", text="last.py linguist-generated\n")
    put(
        ".gitattributes",
        text="sub/gen.py linguist-generated\n/gen.py linguist-generated\nlast.py -linguist-generated\n",
    )
    put("sub/gen.py", "sub/keep.py", "sub/last.py")
    assert files("sub") == ["sub/keep.py"]


def test_a_pattern_of_a_directory_says_nothing_of_what_is_in_it(tree: Path) -> None:
    put("gen/a.py", "own/a.py")
    put(".gitattributes", text="gen linguist-generated\nown/ linguist-generated\n!a.py linguist-generated\n")
    assert files() == ["gen/a.py", "own/a.py"]


def test_stars_stop_at_slashes_and_two_of_them_do_not(tree: Path) -> None:
    put("a/b/c.py", "a/c.py", "c.py", "d/x/y/z.py", "e1.py", "e2.py", "with space.py")
    put(
        ".gitattributes",
        text="a/*.py linguist-generated\nd/**/z.py linguist-generated\ne[!2].py linguist-generated\n"
        '"with space.py" linguist-generated\n',
    )
    assert files() == ["c.py", "e2.py", "a/b/c.py"]


def test_a_macro_stands_for_what_it_says(tree: Path) -> None:
    put("a.py", "b.py")
    put(".gitattributes", text="[attr]made linguist-generated -diff\na.py made\n")
    assert files() == ["b.py"]


def test_directories_that_linguist_takes_for_vendored_are_not_entered(tree: Path) -> None:
    put("a.py", "vendor/b.py", "src/third_party/c.py", "3rdparty/d.py", "vendored/e.py", "my_vendor/f.py", "deps/g.py")
    assert files() == ["a.py", "deps/g.py", "my_vendor/f.py", "vendored/e.py"]
    assert walk((".",)).marked == 3
    assert files("vendor") == ["vendor/b.py"]
    assert files("vendor/b.py") == ["vendor/b.py"]


def test_a_vendored_directory_can_be_claimed(tree: Path) -> None:
    put("vendor/a.py", "third_party/b.py")
    put(".gitattributes", text="vendor/** -linguist-vendored\nthird_party -linguist-vendored\n")
    assert files() == ["third_party/b.py", "vendor/a.py"]


def test_a_file_that_is_named_is_read_whatever_its_marks(tree: Path) -> None:
    put("gen.py")
    put(".gitattributes", text="gen.py linguist-generated\n")
    assert files() == []
    assert files("gen.py") == ["gen.py"]


PATTERNS = (
    *(
        "a.py",
        "/a.py",
        "*.py",
        "/*.py",
        "b/*.py",
        "b/**",
        "**/a.py",
        "b/**/a.py",
        "b/c",
        "b/",
        "c/a.py",
        "/b/c/*",
        "?.py",
    ),
    *(
        "[ab].py",
        "[!a].py",
        "[^a].py",
        "b/*/a.py",
        "*",
        "**",
        "/**",
        "**/c/**",
        "b*",
        "*/a.py",
        "\\*.py",
        "a\\.py",
        "A.py",
    ),
    *(
        '"a.py"',
        '"sp ace.py"',
        "#a.py",
        "\\#a.py",
        "[a",
        "b//a.py",
        "./a.py",
        "***.py",
        "b/c/**",
        "a.p[x-z]",
        "[z-a].py",
    ),
)
PATHS = (
    "a.py",
    "b.py",
    "b/a.py",
    "b/c/a.py",
    "b/c/d/a.py",
    "c/a.py",
    "sp ace.py",
    "#a.py",
    "A.py",
    "b/c.py",
    "bb/x.pyi",
)


@pytest.mark.skipif(shutil.which("git") is None, reason="git itself is asked")
def test_patterns_mean_what_they_mean_to_git(tree: Path) -> None:
    subprocess.run(["git", "init", "-q", "."], check=True)
    for pattern in PATTERNS:
        Path(".gitattributes").write_text(f"{pattern} linguist-generated\n")
        told = subprocess.run(
            ["git", "-c", "core.ignorecase=false", "check-attr", "-z", "linguist-generated", "--", *PATHS],
            check=True,
            capture_output=True,
            text=True,
        ).stdout.split("\0")
        by_git = {path: value == "set" for path, _, value in zip(told[::3], told[1::3], told[2::3], strict=False)}
        marks = Marks(".")
        with os.scandir(".") as entries:
            marks.enter(".", list(entries))
        assert {path: marks.leaves_out(path) for path in PATHS} == by_git, pattern
