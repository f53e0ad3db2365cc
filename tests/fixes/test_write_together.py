"""Several files are replaced together, or none is; what a killed run has begun is completed."""

from __future__ import annotations

from pathlib import Path

import pytest

from tfmemlint.fixes import write_together
from tfmemlint.fixes.write import ChangedError
from tfmemlint.fixes.write_together import JOURNAL, complete_journal, replace_together


def _files(folder: Path) -> list[tuple[str, bytes, bytes]]:
    for name in ("a.py", "b.py"):
        (folder / name).write_bytes(b"old " + name.encode())
    return [(str(folder / name), b"old " + name.encode(), b"new " + name.encode()) for name in ("a.py", "b.py")]


def _content(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def test_all_files_are_replaced_and_nothing_is_left_beside_them(tmp_path: Path) -> None:
    replace_together(_files(tmp_path))
    assert _content(tmp_path) == {"a.py": b"new a.py", "b.py": b"new b.py"}


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


def test_the_next_run_completes_what_a_killed_run_has_begun(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    changes = _files(tmp_path)
    with monkeypatch.context() as patch:
        patch.setattr(write_together, "_complete", lambda journal: [])
        replace_together(changes)
    assert (tmp_path / JOURNAL).exists()
    assert _content(tmp_path)["a.py"] == b"old a.py"
    complete_journal(tmp_path)
    assert _content(tmp_path) == {"a.py": b"new a.py", "b.py": b"new b.py"}


def test_completing_leaves_a_file_that_somebody_has_changed_since(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    changes = _files(tmp_path)
    with monkeypatch.context() as patch:
        patch.setattr(write_together, "_complete", lambda journal: [])
        replace_together(changes)
    (tmp_path / "b.py").write_bytes(b"edited")
    complete_journal(tmp_path)
    assert _content(tmp_path) == {"a.py": b"old a.py", "b.py": b"edited"}
