"""What a branch brings: ``check --since``."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.safety.hostile_repositories import git
from tfmemlint.cli.main import main
from tfmemlint.history.objects import History, PastFile

CLEAN, FOUND, FAILED = 0, 1, 2
LATE = """\
import tensorflow as tf

tf.zeros([1])
gpus = tf.config.list_physical_devices("GPU")
tf.config.experimental.set_memory_growth(gpus[0], True)
"""
SECOND = "tf.config.experimental.set_memory_growth(gpus[1], True)\n"
MAIN = "from setup_gpus import grow\nfrom model import build\n\ngrow()\nbuild()\n"
GROW = """\
import tensorflow as tf

def grow():
    for gpu in tf.config.list_physical_devices("GPU"):
        tf.config.experimental.set_memory_growth(gpu, True)
"""
MODEL = "import tensorflow as tf\n\ndef build():\n    return tf.zeros([1])\n"
STARTS = MODEL + "\nFIRST = tf.ones([1])\n"


def commit(message: str = "more") -> None:
    git(Path(), "add", "-A")
    git(Path(), "commit", "-q", "-m", message)


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A repository with an old finding, and a program without one, on the branch ``topic``."""
    top = tmp_path / "project"
    top.mkdir()
    monkeypatch.chdir(top)
    git(top, "init", "-q")
    for name, text in {"late.py": LATE, "main.py": MAIN, "setup_gpus.py": GROW, "model.py": MODEL}.items():
        (top / name).write_text(text)
    (top / "pyproject.toml").write_text("")
    commit("first")
    git(top, "checkout", "-q", "-b", "topic")
    return top


def check(capsys: pytest.CaptureFixture[str], *words: str, since: str = "main") -> tuple[int, list[str], str]:
    """Return the exit code, the places of what is found, and what is said besides."""
    code = main(["check", "--no-cache", "--output-format", "concise", "--jobs", "1", "--since", since, *words])
    captured = capsys.readouterr()
    return code, [line.partition(" ")[0] for line in captured.out.splitlines() if " TFM" in line], captured.err


def test_old_findings_are_quiet_and_new_ones_are_not(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert check(capsys)[:2] == (CLEAN, [])
    (project / "late.py").write_text(
        "# moved\n\n" + LATE.replace("set_memory_growth(gpus[0],", "set_memory_growth(\n gpus[0],")
    )
    code, found, said = check(capsys)
    assert (code, found) == (CLEAN, []) and "1 left out, as" in said
    (project / "late.py").write_text(LATE + SECOND)
    assert check(capsys)[:2] == (FOUND, ["late.py:6:1:"]), "what is not committed is a part of the branch"
    commit()
    assert check(capsys)[:2] == (FOUND, ["late.py:6:1:"])
    assert check(capsys, since="HEAD")[:2] == (CLEAN, [])
    for revision in (
        "HEAD~1",
        "HEAD^",
        "HEAD~",
        "topic^1",
        "HEAD^0~1",
        "main",
        "refs/heads/main",
        git(project, "rev-parse", "main").strip(),
    ):
        assert check(capsys, since=revision)[:2] == (FOUND, ["late.py:6:1:"]), revision


def test_a_changed_module_is_judged_in_its_programs(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (project / "model.py").write_text(STARTS)
    code, found, _ = check(capsys)
    assert code == FOUND and found == ["setup_gpus.py:5:9:"], "a file that did not change has what is new"
    assert check(capsys, "main.py")[1] == found
    assert check(capsys, "late.py")[:2] == (CLEAN, [])


def test_what_the_other_branch_brings_is_not_asked_for(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    git(project, "checkout", "-q", "main")
    (project / "late.py").write_text("import tensorflow as tf\n")
    commit("mended there")
    git(project, "checkout", "-q", "topic")
    assert check(capsys)[:2] == (CLEAN, []), "the branch has left main before it was mended"


def test_a_moved_file_brings_nothing(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (project / "sub").mkdir()
    (project / "late.py").rename(project / "sub" / "later.py")
    assert check(capsys)[:2] == (CLEAN, [])
    (project / "sub" / "later.py").write_text(LATE + SECOND)
    assert check(capsys)[1] == ["sub/later.py:6:1:"]
    (project / "sub" / "later.py").rename(project / "new.py")
    (project / "late.py").write_text(LATE)
    assert len(check(capsys)[1]) == 2, "a copy brings what is in it"


def test_a_folder_and_a_file_below_the_top(
    project: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (project / "sub").mkdir()
    shutil.copy(project / "late.py", project / "sub" / "old.py")
    commit()
    git(project, "branch", "-f", "main")
    (project / "sub" / "old.py").write_text(LATE + SECOND)
    (project / "sub" / "new.py").write_text(LATE)
    monkeypatch.chdir(project / "sub")
    assert check(capsys)[1] == ["new.py:5:1:", "old.py:6:1:"]
    assert check(capsys, "old.py")[1] == ["old.py:6:1:"]
    assert check(capsys, str(project / "sub" / "old.py"))[1] == [f"{project / 'sub' / 'old.py'}:6:1:"]
    assert check(capsys, "--shard", "1/1", "old.py")[1] == ["old.py:6:1:"]


def test_modules_that_git_ignores_are_there_on_both_sides(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (project / ".gitignore").write_text("model.py\n")
    git(project, "rm", "-q", "--cached", "model.py")
    commit()
    (project / "model.py").write_text(STARTS)
    git(project, "branch", "-f", "main")
    assert check(capsys)[:2] == (CLEAN, []), "the base has the finding, too"


def test_packed_objects_and_linked_trees_are_read(
    project: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    git(project, "gc", "-q", "--aggressive", "--prune=now")
    git(project, "pack-refs", "--all")
    assert check(capsys)[:2] == (CLEAN, [])
    git(project, "worktree", "add", "-q", "../linked", "main")
    monkeypatch.chdir(project.parent / "linked")
    Path("late.py").write_text(LATE + SECOND)
    assert check(capsys)[1] == ["late.py:6:1:"]


def test_a_clone_without_its_past_compares_with_the_revision(
    project: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (project / "late.py").write_text(LATE + SECOND)
    commit()
    git(tmp_path, "clone", "-q", "--depth", "1", "--no-single-branch", f"file://{project}", "clone")
    monkeypatch.chdir(tmp_path / "clone")
    assert check(capsys, since="origin/main")[1] == ["late.py:6:1:"]


@pytest.mark.parametrize(
    "revision", ["nonexistent", "", "HEAD~99", "--help", "main..topic", "@{upstream}", "\udcff", ":/x"]
)
def test_a_revision_that_is_none_is_an_error(project: Path, revision: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check", f"--since={revision}"]) == FAILED
    captured = capsys.readouterr()
    assert "--since" in captured.err and "passed" not in captured.out


def test_no_repository_and_a_broken_one_are_errors(
    project: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for path in (project / ".git" / "objects").glob("??/*"):
        path.chmod(0o600)
        path.write_bytes(b"\0" * 40)
    assert check(capsys)[0] == FAILED
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path / "elsewhere")
    code, _, said = check(capsys)
    assert code == FAILED and "no git repository" in said


def test_without_dulwich_it_says_what_to_install(
    project: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for name in [name for name in sys.modules if name.partition(".")[0] == "dulwich"]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "dulwich", None)
    code, _, said = check(capsys)
    assert code == FAILED and "pip install 'tfmemlint[since]'" in said


@pytest.mark.parametrize("words", [("--fix",), ("-",), ("--update-baseline",)])
def test_what_needs_all_findings_is_refused(
    project: Path, words: tuple[str, ...], capsys: pytest.CaptureFixture[str]
) -> None:
    code, _, said = check(capsys, *words)
    assert code == FAILED and words[0] in said


def test_names_that_lead_elsewhere_are_not_written(project: Path, tmp_path: Path) -> None:
    history = History(str(project))
    content = history.files(history.commit("main"))[0].content
    names = ("../out.py", "/abs.py", ".git/config", "a/../../b.py", ".GIT/hooks/x", "a//b.py", "c:d.py", "ok/fine.py")
    files = [PastFile(name, 0o100644, content) for name in names]
    top = tmp_path / "written" / "top"
    top.mkdir(parents=True)
    history.write(files, str(top), lambda _: True)
    written = [path.relative_to(tmp_path / "written") for path in (tmp_path / "written").rglob("*") if path.is_file()]
    assert written == [Path("top/ok/fine.py")]


def test_links_that_lead_outside_are_not_made(project: Path, tmp_path: Path) -> None:
    (project / "etc").symlink_to("/etc")
    (project / "above").symlink_to("../..")
    (project / "beside.py").symlink_to("late.py")
    commit()
    history = History(str(project))
    top = tmp_path / "top"
    top.mkdir()
    history.write(history.files(history.commit("HEAD")), str(top), lambda _: True)
    assert not (top / "etc").exists() and not (top / "above").exists()
    assert (top / "beside.py").read_text() == LATE


def test_the_folder_of_a_killed_run_is_swept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from tfmemlint.fixes.write import this_machine
    from tfmemlint.history.scratch import scratch_folder

    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    gone = subprocess.run([sys.executable, "-c", "import os; print(os.getpid())"], capture_output=True, check=True)
    dead, own = int(gone.stdout), this_machine()
    kept = [
        f"tfmemlint-since-{own}-{os.getpid()}-x",
        f"tfmemlint-since-{'0' * 12}-{dead}-x",
        f"tfmemlint-estate-{own}-{dead}-x",
        f"tfmemlint-since-{own}-{dead}",
        f"x-tfmemlint-since-{own}-{dead}-x",
    ]
    outside = tmp_path / "outside"
    for name in (*kept, "outside", f"tfmemlint-since-{own}-{dead}-x"):
        (tmp_path / name / "inner").mkdir(parents=True)
    (tmp_path / f"tfmemlint-since-{own}-{dead}-y").symlink_to(outside)
    with scratch_folder("since") as made:
        assert list(Path(made).iterdir()) == []
        there = {path.name for path in tmp_path.iterdir()} - {Path(made).name}
        assert there == {*kept, "outside", f"tfmemlint-since-{own}-{dead}-y"}
    assert not os.path.lexists(made)
    assert (outside / "inner").is_dir()
