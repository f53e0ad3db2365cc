"""A file is replaced whole, or left as it was."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tfmemlint.fixes.write import replace_file


def test_a_failure_leaves_the_file_and_nothing_beside_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "a.py"
    path.write_bytes(b"old")

    def broken(handle: int) -> None:
        raise OSError("disk full")

    monkeypatch.setattr(os, "fsync", broken)
    with pytest.raises(OSError, match="disk full"):
        replace_file(path, b"new")
    assert path.read_bytes() == b"old"
    assert list(tmp_path.iterdir()) == [path]


def test_the_mode_is_kept(tmp_path: Path) -> None:
    path = tmp_path / "a.py"
    path.write_bytes(b"old")
    path.chmod(0o751)
    replace_file(path, b"new\r\n")
    assert path.read_bytes() == b"new\r\n"
    assert path.stat().st_mode & 0o777 == 0o751


def test_the_target_of_a_link_is_replaced_not_the_link(tmp_path: Path) -> None:
    path, link = tmp_path / "a.py", tmp_path / "b.py"
    path.write_bytes(b"old")
    link.symlink_to(path.name)
    replace_file(link, b"new")
    assert link.is_symlink()
    assert path.read_bytes() == b"new"


def test_a_missing_file_is_not_made(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        replace_file(tmp_path / "a.py", b"new")
    assert list(tmp_path.iterdir()) == []
