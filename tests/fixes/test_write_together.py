"""Several files are replaced together, or none is; what a killed run has begun is completed."""

from __future__ import annotations

import errno
import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tfmemlint.cli.main import main
from tfmemlint.fixes import write_together
from tfmemlint.fixes.write import ChangedError, this_machine
from tfmemlint.fixes.write_together import JOURNAL, complete_journal, replace_together


def _files(folder: Path) -> list[tuple[str, bytes, bytes]]:
    for name in ("a.py", "b.py"):
        (folder / name).write_bytes(b"old " + name.encode())
    return [(str(folder / name), b"old " + name.encode(), b"new " + name.encode()) for name in ("a.py", "b.py")]


def _content(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def _kill_after_the_journal(changes: list[tuple[str, bytes, bytes]], monkeypatch: pytest.MonkeyPatch) -> None:
    def kill(_: Path) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(write_together, "_complete", kill)
        with pytest.raises(KeyboardInterrupt):
            replace_together(changes)


def test_all_files_are_replaced_and_nothing_is_left_beside_them(tmp_path: Path) -> None:
    replace_together(_files(tmp_path))
    assert _content(tmp_path) == {"a.py": b"new a.py", "b.py": b"new b.py"}


def test_a_file_that_stays_as_it_is_does_not_keep_the_others_from_being_replaced(tmp_path: Path) -> None:
    same, first, second = (tmp_path / name for name in ("same.py", "first.py", "second.py"))
    for path in (same, first, second):
        path.write_bytes(b"old")
    replace_together([(str(same), b"old", b"old"), (str(first), b"old", b"new"), (str(second), b"old", b"new")])
    assert [path.read_bytes() for path in (same, first, second)] == [b"old", b"new", b"new"]
    assert sorted(path.name for path in tmp_path.iterdir()) == ["first.py", "same.py", "second.py"]


def test_a_file_that_has_changed_keeps_all_as_they_are(tmp_path: Path) -> None:
    changes = _files(tmp_path)
    (tmp_path / "b.py").write_bytes(b"edited")
    with pytest.raises(ChangedError):
        replace_together(changes)
    assert _content(tmp_path) == {"a.py": b"old a.py", "b.py": b"edited"}


def test_a_run_that_is_killed_before_the_journal_changes_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object) -> Path:
        raise KeyboardInterrupt

    monkeypatch.setattr(write_together, "_write_journal", fail)
    with pytest.raises(KeyboardInterrupt):
        replace_together(_files(tmp_path))
    assert _content(tmp_path) == {"a.py": b"old a.py", "b.py": b"old b.py"}


@pytest.mark.parametrize("number", range(2))
@pytest.mark.parametrize("code", [errno.EXDEV, errno.EACCES, errno.EBUSY, errno.ENOSPC])
def test_a_file_that_cannot_be_replaced_leaves_all_as_they_were(
    code: int, number: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    changes = _files(tmp_path)
    rename = Path.replace

    def refuse(self: Path, target: Path) -> Path:
        if Path(target).name == Path(changes[number][0]).name:
            raise OSError(code, os.strerror(code))
        return rename(self, target)

    monkeypatch.setattr(Path, "replace", refuse)
    with pytest.raises(OSError, match=os.strerror(code)):
        replace_together(changes)
    assert _content(tmp_path) == {"a.py": b"old a.py", "b.py": b"old b.py"}


@pytest.mark.parametrize("number", range(2))
def test_a_file_that_is_edited_while_the_new_texts_are_written_keeps_all_as_they_are(
    number: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    changes = _files(tmp_path)
    complete = write_together._complete

    def edit_first(journal: Path) -> object:
        Path(changes[number][0]).write_bytes(b"edited")
        return complete(journal)

    monkeypatch.setattr(write_together, "_complete", edit_first)
    with pytest.raises(ChangedError, match=Path(changes[number][0]).name):
        replace_together(changes)
    kept = {"a.py": b"old a.py", "b.py": b"old b.py"}
    assert _content(tmp_path) == kept | {Path(changes[number][0]).name: b"edited"}


def test_a_full_disk_leaves_all_as_they_were(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    changes = _files(tmp_path)
    for fails_at in range(1, 4):
        left = iter(range(1, fails_at))

        def sync(_: int, left: Iterator[int] = left) -> None:
            if next(left, None) is None:
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

        with monkeypatch.context() as patch:
            patch.setattr(os, "fsync", sync)
            with pytest.raises(OSError, match=os.strerror(errno.ENOSPC)):
                replace_together(changes)
        assert _content(tmp_path) == {"a.py": b"old a.py", "b.py": b"old b.py"}


def test_an_interrupted_change_waits_until_its_file_can_be_replaced(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _kill_after_the_journal(_files(tmp_path), monkeypatch)
    rename = Path.replace

    def refuse(self: Path, target: Path) -> Path:
        if Path(target).name == "b.py":
            raise OSError(errno.EACCES, os.strerror(errno.EACCES))
        return rename(self, target)

    with monkeypatch.context() as patch:
        patch.setattr(Path, "replace", refuse)
        complete_journal(tmp_path)
    assert _content(tmp_path)["b.py"] == b"old b.py"
    complete_journal(tmp_path)
    assert _content(tmp_path) == {"a.py": b"new a.py", "b.py": b"new b.py"}


def test_the_next_run_completes_what_a_killed_run_has_begun(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    changes = _files(tmp_path)
    _kill_after_the_journal(changes, monkeypatch)
    assert (tmp_path / JOURNAL).exists()
    assert _content(tmp_path)["a.py"] == b"old a.py"
    complete_journal(tmp_path)
    assert _content(tmp_path) == {"a.py": b"new a.py", "b.py": b"new b.py"}


def test_completing_leaves_a_file_that_somebody_has_changed_since(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    changes = _files(tmp_path)
    _kill_after_the_journal(changes, monkeypatch)
    (tmp_path / "b.py").write_bytes(b"edited")
    complete_journal(tmp_path)
    assert _content(tmp_path) == {"a.py": b"old a.py", "b.py": b"edited"}


LITTER = f".tfmemlint-{this_machine()}-1-x.tmp"
"""The name of a file that a killed run may have left."""

HOSTILE: dict[str, list[tuple[Any, Any]]] = {
    "a file of the tool's, outside": [("../outside/" + LITTER, "../outside/x.py")],
    "a file with a like name, outside": [("../outside/.tfmemlint-settings", "../outside/x.py")],
    "a file with a like name": [(".tfmemlint-settings", "x.py")],
    "any file": [("precious.txt", "x.py")],
    "through a link": [("link/" + LITTER, "link/x.py")],
    "by a way that leads out": [("inner/../../outside/" + LITTER, "inner/../../outside/x.py")],
    "a device": [("/dev/" + LITTER, "/dev/zero")],
    "a pipe": [(LITTER, "pipe")],
    "no name": [("a\0", "b\0")],
    "a name that is none": [("\ud800", "\ud800")],
    "a number": [(1, 2)],
    "a name that is too long": [("a" * 5000, "b" * 5000)],
}
"""What a journal that came with a tree may say: pairs of the new file and the one that it replaces."""


def _snapshot(top: Path) -> dict[str, bytes]:
    return {str(path): path.read_bytes() for path in top.rglob("*") if path.is_file() and path.name != JOURNAL}


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no named pipes on this system")
@pytest.mark.parametrize("kind", HOSTILE)
def test_a_journal_of_a_stranger_reaches_nothing(
    kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    project, outside = tmp_path / "project", tmp_path / "outside"
    for folder in (project / ".git", project / "inner", outside):
        folder.mkdir(parents=True)
    (project / "link").symlink_to(outside)
    os.mkfifo(project / "pipe")
    names = (LITTER, ".tfmemlint-settings", "precious.txt", "x.py")
    for path in (*(outside / name for name in names), *(project / name for name in names[1:])):
        path.write_text(path.name)

    def place(name: Any) -> Any:
        return str(project / name) if isinstance(name, str) else name

    entries = [{"new": place(n), "file": place(f), "old_digest": "", "new_digest": ""} for n, f in HOSTILE[kind]]
    (project / JOURNAL).write_text(json.dumps({"machine": this_machine(), "files": entries}))
    before = _snapshot(tmp_path)
    monkeypatch.chdir(project)
    assert main(["fix", "."]) == 0
    assert _snapshot(tmp_path) == before
    assert "tfmemlint:" not in capsys.readouterr().err


@pytest.mark.parametrize("text", ['"files"', "[]", "[1]", '{"files": 3}', "{}", "[" * 100_000, "\x00", ""])
def test_a_journal_that_is_none_is_passed_over(text: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / JOURNAL).write_text(text)
    monkeypatch.chdir(tmp_path)
    assert main(["fix", "."]) == 0


def test_the_first_file_may_be_in_a_package_of_which_another_is_outside(tmp_path: Path) -> None:
    files = [tmp_path / "app" / "settings.py", tmp_path / "serve.py"]
    files[0].parent.mkdir()
    (tmp_path / "app" / "__init__.py").write_bytes(b"")
    for file in files:
        file.write_bytes(b"old\n")
    replace_together([(str(file), b"old\n", b"new\n") for file in files])
    assert [file.read_bytes() for file in files] == [b"new\n", b"new\n"]
