"""What git has of a file is read from its index, and git agrees."""

from __future__ import annotations

import os
import random
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.safety.hostile_repositories import BAD, committed, configure, git, touch
from tfmemlint.fixes.git import UNCOMMITTED, UNKNOWN, UNTRACKED, objection


@pytest.fixture(autouse=True)
def _no_settings_of_the_user(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    for name in ("XDG_CONFIG_HOME", "GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE"):
        monkeypatch.delenv(name, raising=False)


def as_git_says(path: Path) -> str:
    """The objection that follows from `git status`."""
    done = subprocess.run(
        ["git", "-C", str(path.parent), "status", "--porcelain", "-z", "--", f"./{path.name}"],
        capture_output=True,
        text=True,
        env={**os.environ, "GIT_CONFIG_NOSYSTEM": "1"},
    )
    states = [entry[:2] for entry in done.stdout.split("\0") if entry]
    if "??" in states:
        return UNTRACKED
    return UNCOMMITTED if any(state[1:].strip() for state in states) else ""


@pytest.mark.parametrize("version", [2, 3, 4])
@pytest.mark.parametrize("format_", ["sha1", "sha256"])
def test_every_version_of_the_index_is_read(tmp_path: Path, version: int, format_: str) -> None:
    rng = random.Random(version)
    top = tmp_path / "top"
    top.mkdir()
    git(top, "init", "-q", f"--object-format={format_}")
    configure(top, f"[index]\n\tversion = {version}\n")
    names = {f"{'d' * rng.randint(1, 9)}/{'é' * rng.randint(0, 2)}{'n' * rng.randint(1, 90)}{n}.py" for n in range(60)}
    names.add("with space.py")
    for name in sorted(names):
        (top / name).parent.mkdir(parents=True, exist_ok=True)
        (top / name).write_text(name, encoding="utf-8")
    git(top, "add", "-A")
    for name in sorted(names):
        path = top / name
        state = rng.choice(["as it is", "changed", "touched", "not staged", "new"])
        if state == "changed":
            path.write_text(name[::-1], encoding="utf-8")
        elif state == "touched":
            touch(path)
        elif state == "not staged":
            git(top, "rm", "-q", "--cached", name)
        elif state == "new":
            path = path.with_name(f"new{path.name}")
            path.write_text("")
        assert objection(str(path)) == as_git_says(path), (name, state)


def test_what_is_staged_is_git_s(tmp_path: Path) -> None:
    path = committed(tmp_path)
    path.write_text("changed\n")
    assert objection(str(path)) == UNCOMMITTED
    git(tmp_path, "add", "train.py")
    assert objection(str(path)) == "" == as_git_says(path)
    path.write_text("changed again\n")
    assert objection(str(path)) == UNCOMMITTED == as_git_says(path)


def test_outside_of_git_nothing_is_said(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text("")
    assert objection(str(tmp_path / "a.py")) == ""
    (tmp_path / ".git").mkdir()
    assert objection(str(tmp_path / "a.py")) == ""
    (tmp_path / ".git").rmdir()
    (tmp_path / ".git").write_text("gitdir: /nonexistent\n")
    assert objection(str(tmp_path / "a.py")) == ""


def test_a_repository_without_an_index_has_nothing(tmp_path: Path) -> None:
    git(tmp_path, "init", "-q")
    (tmp_path / "a.py").write_text("")
    assert objection(str(tmp_path / "a.py")) == UNTRACKED == as_git_says(tmp_path / "a.py")


@pytest.mark.parametrize(
    ("place", "pattern", "ignored"),
    [
        (".gitignore", "*.py", True),
        (".gitignore", "/train.py", False),
        (".gitignore", "sub/", True),
        (".gitignore", "sub/deep/", True),
        (".gitignore", "*.py\n!train.py", False),
        (".gitignore", "sub/\n!sub/deep/train.py", True),
        ("sub/.gitignore", "deep", True),
        ("sub/.gitignore", "/train.py", False),
        ("sub/deep/.gitignore", "/train.py", True),
        ("sub/deep/.gitignore", "!train.py", False),
        (".git/info/exclude", "train.*", True),
        ("../.config/git/ignore", "deep/", True),
    ],
)
def test_what_is_ignored_needs_no_git(tmp_path: Path, place: str, pattern: str, ignored: bool) -> None:
    top = tmp_path / "top"
    top.mkdir()
    git(top, "init", "-q")
    path = top / "sub" / "deep" / "train.py"
    path.parent.mkdir(parents=True)
    path.write_text("")
    (top / place).parent.mkdir(parents=True, exist_ok=True)
    (top / place).write_text(pattern + "\n")
    assert objection(str(path)) == as_git_says(path) == ("" if ignored else UNTRACKED)


def test_the_users_own_ignore_file_counts(tmp_path: Path) -> None:
    top = tmp_path / "top"
    top.mkdir()
    git(top, "init", "-q")
    (top / "a.py").write_text("")
    (tmp_path / ".gitconfig").write_text("[core]\n\texcludesFile = ~/mine\n")
    (tmp_path / "mine").write_text("a.*\n")
    assert objection(str(top / "a.py")) == "" == as_git_says(top / "a.py")


def test_a_linked_working_tree_and_a_submodule(tmp_path: Path) -> None:
    committed(tmp_path / "main")
    git(tmp_path / "main", "worktree", "add", "-q", "../linked")
    git(
        tmp_path / "main",
        "-c",
        "protocol.file.allow=always",
        "submodule",
        "--quiet",
        "add",
        str(tmp_path / "main"),
        "in",
    )
    for path in (tmp_path / "linked" / "train.py", tmp_path / "main" / "in" / "train.py"):
        assert objection(str(path)) == "" == as_git_says(path)
        path.write_text("changed\n")
        assert objection(str(path)) == UNCOMMITTED == as_git_says(path)
    assert objection(str(tmp_path / "main" / "train.py")) == ""


def test_a_link_is_judged_by_where_it_leads(tmp_path: Path) -> None:
    path = committed(tmp_path / "top")
    (tmp_path / "link.py").symlink_to(path)
    (tmp_path / "folder").symlink_to(tmp_path / "top")
    assert objection(str(tmp_path / "link.py")) == objection(str(tmp_path / "folder" / "train.py")) == ""
    path.write_text("changed\n")
    assert objection(str(tmp_path / "link.py")) == objection(str(tmp_path / "folder" / "train.py")) == UNCOMMITTED


def test_a_merge_that_is_not_finished(tmp_path: Path) -> None:
    path = committed(tmp_path)
    git(tmp_path, "checkout", "-q", "-b", "other")
    path.write_text("theirs\n")
    git(tmp_path, "commit", "-q", "-a", "-m", "theirs")
    git(tmp_path, "checkout", "-q", "main")
    path.write_text("ours\n")
    git(tmp_path, "commit", "-q", "-a", "-m", "ours")
    subprocess.run(
        ["git", "-C", str(tmp_path), "-c", "user.name=a", "-c", "user.email=a@b", "merge", "other"], capture_output=True
    )
    assert objection(str(path)) == UNCOMMITTED == as_git_says(path)


def test_a_file_that_is_only_announced(tmp_path: Path) -> None:
    committed(tmp_path)
    path = tmp_path / "new.py"
    path.write_text(BAD)
    git(tmp_path, "add", "-N", "new.py")
    assert objection(str(path)) == UNCOMMITTED == as_git_says(path)


def test_a_hook_has_an_index_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = committed(tmp_path)
    shutil.copy(tmp_path / ".git" / "index", tmp_path / ".git" / "next-index")
    path.write_text("changed\n")
    git(tmp_path, "add", "train.py", GIT_INDEX_FILE=".git/next-index")
    assert objection(str(path)) == UNCOMMITTED
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("GIT_INDEX_FILE", ".git/next-index")
    assert objection(str(path)) == ""


def test_a_working_tree_apart_from_its_repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = committed(tmp_path / "top")
    (tmp_path / "top" / ".git").rename(tmp_path / "kept")
    assert objection(str(path)) == ""
    monkeypatch.setenv("GIT_DIR", str(tmp_path / "kept"))
    monkeypatch.setenv("GIT_WORK_TREE", str(tmp_path / "top"))
    assert objection(str(path)) == ""
    path.write_text("changed\n")
    assert objection(str(path)) == UNCOMMITTED == as_git_says(path)


def test_line_ends_that_git_stores_differently_are_no_change(tmp_path: Path) -> None:
    path = committed(tmp_path, **{".gitattributes": "*.py text eol=crlf\n"})
    path.unlink()
    git(tmp_path, "checkout", "-q", "train.py")
    assert b"\r\n" in path.read_bytes()
    assert objection(str(touch(path))) == "" == as_git_says(path)
    path.write_bytes(path.read_bytes() + b"# mine\r\n")
    assert objection(str(path)) == UNCOMMITTED == as_git_says(path)


def test_a_filtered_file_counts_as_changed_unless_its_time_and_size_say_otherwise(tmp_path: Path) -> None:
    git(tmp_path, "init", "-q")
    configure(tmp_path, '[filter "shout"]\n\tclean = tr a-z A-Z\n\tsmudge = tr A-Z a-z\n')
    (tmp_path / ".gitattributes").write_text("*.py filter=shout\n")
    path = touch(tmp_path / "a.py") if (tmp_path / "a.py").write_text("x = 1\n") else tmp_path
    git(tmp_path, "add", "-A")
    assert objection(str(path)) == "" == as_git_says(path)
    os.utime(path, (1_500_000_000, 1_500_000_000))
    assert objection(str(path)) == UNCOMMITTED  # git would ask the filter, and find nothing


@pytest.mark.parametrize("data", [b"", b"DIRC", b"DIRC\0\0\0\x09\0\0\0\0" + b"\0" * 20, b"\0" * 100])
def test_an_index_that_cannot_be_read_is_an_objection(tmp_path: Path, data: bytes) -> None:
    path = committed(tmp_path)
    whole = (tmp_path / ".git" / "index").read_bytes()
    for broken in (data, whole[: len(whole) // 2], whole[:-21], whole.replace(b"TREE", b"link")):
        (tmp_path / ".git" / "index").write_bytes(broken)
        assert objection(str(path)) == UNKNOWN, broken
    (tmp_path / ".git" / "index").unlink()
    os.mkfifo(tmp_path / ".git" / "index")
    assert objection(str(path)) == UNKNOWN


def test_a_split_index_is_an_objection(tmp_path: Path) -> None:
    path = committed(tmp_path)
    git(tmp_path, "update-index", "--split-index")
    assert objection(str(path)) == UNKNOWN


def test_any_damage_to_an_index_is_no_crash(tmp_path: Path) -> None:
    path = committed(tmp_path, **{f"m{number}.py": str(number) for number in range(9)})
    whole = (tmp_path / ".git" / "index").read_bytes()
    rng = random.Random(3)
    for _ in range(300):
        data = bytearray(whole)
        for _ in range(rng.randint(1, 4)):
            data[rng.randrange(len(data))] = rng.randrange(256)
        (tmp_path / ".git" / "index").write_bytes(bytes(data))
        assert objection(str(path)) in ("", UNCOMMITTED, UNTRACKED, UNKNOWN)
