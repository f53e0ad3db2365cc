"""What strangers have put below ``.git`` ends no reading of the past, and takes neither time nor memory without end."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.safety.hostile_repositories import BAD, committed, git
from tfmemlint.history import objects, store
from tfmemlint.history.errors import HistoryError, TooLargeError
from tfmemlint.history.objects import History

pytest.importorskip("dulwich")
CODE = "import tensorflow as tf\ntf.config.set_memory_limit(1)\n"
PIPES: dict[str, Callable[[Path], Path]] = {
    "HEAD": lambda top: top / ".git" / "HEAD",
    "a branch": lambda top: top / ".git" / "refs" / "heads" / "main",
    "packed references": lambda top: top / ".git" / "packed-refs",
    "alternates": lambda top: top / ".git" / "objects" / "info" / "alternates",
    "a commit": lambda top: top / ".git" / "objects" / _head(top)[:2] / _head(top)[2:],
    "an index of a pack": lambda top: _packed(top, ".idx"),
    "a pack": lambda top: _packed(top, ".pack"),
    "a commit graph": lambda top: top / ".git" / "objects" / "info" / "commit-graph",
    "the mark of a shallow clone": lambda top: top / ".git" / "shallow",
    "the configuration": lambda top: top / ".git" / "config",
}
"""Files that are read by whoever asks for a commit."""


def _head(top: Path) -> str:
    return git(top, "rev-parse", "HEAD").strip()


def _packed(top: Path, ending: str) -> Path:
    git(top, "gc", "-q")
    return next((top / ".git" / "objects" / "pack").glob(f"*{ending}"))


def _since(top: Path, revision: str = "HEAD") -> str:
    """Return what a check of what the working tree brings says; it fails where that takes more than two minutes."""
    command = [sys.executable, "-m", "tfmemlint", "check", "--no-cache", "--since", revision, "."]
    done = subprocess.run(command, cwd=top, capture_output=True, text=True, timeout=120)
    assert "Traceback" not in done.stderr
    assert done.returncode in (1, 2)
    return done.stdout + done.stderr


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no named pipes on this system")
@pytest.mark.parametrize(
    "kind", [kind if kind in ("a branch", "a pack") else pytest.param(kind, marks=pytest.mark.slow) for kind in PIPES]
)
def test_a_named_pipe_is_not_waited_for(kind: str, tmp_path: Path) -> None:
    top = tmp_path / "top"
    committed(top)
    (top / "more.py").write_text(CODE)
    path = PIPES[kind](top)
    path.parent.mkdir(exist_ok=True)
    path.unlink(missing_ok=True)
    os.mkfifo(path)
    said = _since(top)
    assert "is no regular file" in said or "no such commit" in said or "TFM202" in said


def test_folders_of_objects_that_name_each_other_are_looked_into_once(tmp_path: Path) -> None:
    # Each names the next one twice, and itself: 2 ** 30 ways.
    top = tmp_path / "top"
    committed(top)
    folder = top / ".git" / "objects"
    for number in range(30):
        following = tmp_path / f"o{number}"
        following.mkdir()
        (folder / "info").mkdir(exist_ok=True)
        (folder / "info" / "alternates").write_text(f"{following}\n{following}\n{folder}\n")
        folder = following
    with pytest.raises(HistoryError):
        History(str(top)).commit("0123456789" * 4)
    assert History(str(top)).commit("HEAD") == _head(top)


def test_an_object_of_another_folder_is_found(tmp_path: Path) -> None:
    committed(tmp_path / "first")
    git(tmp_path, "clone", "-q", "--shared", "first", "second")
    second = History(str(tmp_path / "second"))
    assert [file.path for file in second.files(second.commit("HEAD"))] == ["train.py"]


@pytest.mark.parametrize("packed", [False, True])
def test_an_object_that_is_too_large_is_not_made(packed: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    top, out = tmp_path / "top", tmp_path / "out"
    committed(top, **{"large.py": f"# {'x' * 5_000}\n"})
    if packed:
        # As a delta, too: of a text that is nearly the same.
        committed(top, **{"large.py": f"# {'x' * 5_000}\n", "larger.py": f"# {'x' * 5_000}y\n{BAD}"})
        git(top, "repack", "-q", "-a", "-d", "-f")
    for module in (store, objects):
        monkeypatch.setattr(module, "LIMIT_BYTES", 2_000)
    history = History(str(top))
    files = history.files(history.commit("HEAD"))
    for file in files:
        if file.path.startswith("large"):
            with pytest.raises(TooLargeError):
                history.read(file)
    out.mkdir()
    history.write(files, str(out), lambda path: True)
    assert (out / "train.py").read_text() == BAD
    assert (out / "large.py").stat().st_size == 2_001, "a check says of it, too, that it is too large"


def test_a_few_trees_are_not_any_number_of_files(tmp_path: Path) -> None:
    # Ten levels of folders, each with ten times the next one: 10 ** 10 files in eleven trees.
    committed(tmp_path)
    tree = git(tmp_path, "rev-parse", "HEAD^{tree}").strip()
    for _ in range(10):
        rows = "".join(f"040000 tree {tree}\td{number}\n" for number in range(10))
        made = subprocess.run(["git", "mktree"], cwd=tmp_path, input=rows, capture_output=True, text=True, check=True)
        tree = made.stdout.strip()
    commit = git(tmp_path, "commit-tree", "-m", "many", tree).strip()
    with pytest.MonkeyPatch.context() as patch, pytest.raises(HistoryError, match="more than 1000 files"):
        patch.setattr(objects, "MAX_FILES", 1_000)
        History(str(tmp_path)).files(commit)


def test_one_content_of_many_files_does_not_fill_the_disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    top, out = tmp_path / "top", tmp_path / "out"
    committed(top, **{f"m{number}.py": "x" * 1_000 for number in range(20)})
    monkeypatch.setattr(objects, "MAX_WRITTEN_BYTES", 5_000)
    history = History(str(top))
    out.mkdir()
    with pytest.raises(HistoryError, match="larger than"):
        history.write(history.files(history.commit("HEAD")), str(out), lambda path: True)
    assert sum(path.stat().st_size for path in out.iterdir()) <= 5_000


def test_a_large_file_that_git_ignores_is_not_copied(tmp_path: Path) -> None:
    top = tmp_path / "top"
    committed(top, **{".gitignore": "large.py\n"})
    (top / "more.py").write_text(CODE)
    with (top / "large.py").open("wb") as file:
        file.truncate(2**40)
    said = _since(top)
    assert "TFM202" in said and "large.py" not in said
