"""What a person has written is never lost: not what an editor saves meanwhile, not what lies behind a link."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.safety.hostile_repositories import BAD, FIXED
from tfmemlint.cli.main import main
from tfmemlint.fixes import git, write
from tfmemlint.fixes.write import CHANGED, OUTSIDE, ChangedError, replace_file, sweep

NOTEBOOK = json.dumps(
    {
        "cells": [
            {"cell_type": "code", "source": BAD.splitlines(keepends=True), "metadata": {}, "outputs": []},
        ],
        "metadata": {},
        "nbformat": 4,
        "nbformat_minor": 5,
    },
    indent=1,
)
FILES = {
    "train.py": BAD,
    "train.ipynb": NOTEBOOK,
    "README.md": f"# Train\n\n```python\n{BAD}```\n",
    "page.rst": "Train\n\n.. code-block:: python\n\n" + "".join(f"   {line}" for line in BAD.splitlines(keepends=True)),
    "Dockerfile": "FROM tensorflow/tensorflow:2.15.0-gpu\nENV TF_FORCE_GPU_ALLOW_GROWTH=True\nCMD python train.py\n",
    "run.sh": "#!/bin/sh\nexport TF_FORCE_GPU_ALLOW_GROWTH=True\npython train.py\n",
    "compose.yaml": "services:\n  train:\n    image: tensorflow/tensorflow:2.15.0-gpu\n    environment:\n"
    "      TF_FORCE_GPU_ALLOW_GROWTH: 'True'\n    command: python train.py\n",
    ".env": "TF_FORCE_GPU_ALLOW_GROWTH=True\n",
    "doc.py": 'def train():\n    """Train.\n\n'
    + "".join(f"    >>> {line}" for line in BAD.splitlines(keepends=True) if line.strip())
    + '    """\n',
}
"""One file of each kind, each with a fix."""


@pytest.fixture(autouse=True)
def _directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    write._sweep_directory.cache_clear()


def meanwhile(monkeypatch: pytest.MonkeyPatch, act: Callable[[str], object]) -> None:
    """Act when the fixes of a file are ready, and it is about to be written."""

    def objection(path: str) -> str:
        act(path)
        return ""

    monkeypatch.setattr(git, "objection", objection)


@pytest.mark.parametrize("name", FILES)
def test_each_of_these_files_is_fixed(name: str) -> None:
    Path(name).write_text(FILES[name])
    assert main(["fix", "--no-cache", "-q", "--unsafe-fixes", name]) in (0, 1)
    assert Path(name).read_text() != FILES[name]


@pytest.mark.parametrize("name", FILES)
@pytest.mark.parametrize("how", ["in place", "renamed", "same length", "removed", "replaced by a directory"])
def test_what_an_editor_saves_meanwhile_is_left(
    name: str, how: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    path = Path(name)
    path.write_text(FILES[name])
    saved = FILES[name] + "# mine\n"

    def save(_: str) -> None:
        if how == "in place":
            path.write_text(saved)
        elif how == "same length":
            found = path.stat()
            path.write_text(saved[: len(FILES[name]) - 1].swapcase() + "\n")
            os.utime(path, ns=(found.st_atime_ns, found.st_mtime_ns))
        else:
            path.unlink()
            if how == "renamed":
                Path("other").write_text(saved)
                Path("other").rename(path)
            elif how.endswith("directory"):
                path.mkdir()

    meanwhile(monkeypatch, save)
    assert main(["fix", "--no-cache", "-q", "--unsafe-fixes", name]) == 2
    said = capsys.readouterr().err
    assert f"{name}: " in said
    if how in ("in place", "renamed"):
        assert path.read_text() == saved
        assert CHANGED in said
    elif how == "same length":
        assert path.read_text().lower().startswith(FILES[name][:40].lower())
        assert CHANGED in said
    assert litter() == []
    assert path.exists() or how == "removed"


def test_one_file_that_changes_does_not_keep_others_from_being_fixed(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("a.py", "b.py", "c.py"):
        Path(name).write_text(BAD)
    meanwhile(monkeypatch, lambda path: Path("b.py").write_text("mine") if path == "b.py" else None)
    assert main(["fix", "--no-cache", "-q", "."]) == 2
    assert [Path(name).read_text() for name in ("a.py", "b.py", "c.py")] == [FIXED, "mine", FIXED]


def test_a_module_of_a_program_that_changes_meanwhile(monkeypatch: pytest.MonkeyPatch) -> None:
    Path("main.py").write_text("import tensorflow as tf\nimport core\n\nx = tf.constant(1)\ncore.grow()\n")
    Path("core.py").write_text(
        "import tensorflow as tf\n\n\ndef grow():\n" + "".join(f"    {line}\n" for line in BAD.splitlines()[2:])
    )
    meanwhile(monkeypatch, lambda path: Path(path).write_text("mine") if path == "core.py" else None)
    assert main(["fix", "--no-cache", "-q", "."]) == 2
    assert Path("core.py").read_text() == "mine"


def test_an_encoding_that_does_not_come_back_is_left(capsys: pytest.CaptureFixture[str]) -> None:
    """UTF-7 has many ways to write one text."""
    data = b"# -*- coding: utf-7 -*-\n" + BAD.replace('"GPU"', "+ACIARwBQAFUAIg-").encode()
    Path("a.py").write_bytes(data)
    assert main(["fix", "--no-cache", "-q", "a.py"]) == 2
    assert Path("a.py").read_bytes() == data
    assert "a.py: " in capsys.readouterr().err


def test_mixed_line_ends_are_kept_in_code_and_in_docstrings() -> None:
    """The docstrings of a file are fixed after its code: two writes, of which the second goes by the first."""
    lines = [
        b"def train():\r\n",
        b"    '''Train.\n",
        b"\r\n",
        b"    >>> import tensorflow as tf\n",
        b"    >>> strategy = tf.distribute.MirroredStrategy()\r\n",
        b"    >>> gpus = strategy.extended.list_physical_devices('GPU')\n",
        b"    '''\n",
        b"import tensorflow as tf\r\n",
        b"\n",
        b"strategy = tf.distribute.MirroredStrategy()\r\n",
        b'gpus = strategy.extended.list_physical_devices("GPU")\n',
        b"last = 1",
    ]
    Path("a.py").write_bytes(b"".join(lines))
    assert main(["fix", "--no-cache", "-q", "--unsafe-fixes", "a.py"]) in (0, 1)
    new = Path("a.py").read_bytes().splitlines(keepends=True)
    changed = [(a, b) for a, b in zip(lines, new, strict=True) if a != b]
    assert len(changed) == 2
    assert [(a[-2:] == b"\r\n") == (b[-2:] == b"\r\n") for a, b in changed] == [True, True]


# Links


def outside(name: str = "outside.py") -> Path:
    path = Path("..", name).absolute()
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(BAD)
    return path


@pytest.mark.parametrize("relative", [True, False])
def test_a_link_to_a_file_outside_is_not_followed(relative: bool, capsys: pytest.CaptureFixture[str]) -> None:
    target = outside()
    Path("a.py").symlink_to("../outside.py" if relative else target)
    assert main(["fix", "--no-cache", "-q", "."]) == 2
    assert target.read_text() == BAD
    assert f"a.py: {OUTSIDE}" in capsys.readouterr().err
    assert Path("a.py").is_symlink()


@pytest.mark.parametrize("depth", [1, 2])
def test_a_link_to_a_directory_outside_is_not_followed(depth: int, capsys: pytest.CaptureFixture[str]) -> None:
    target = outside("other/deep/train.py")
    Path("folder").symlink_to(target.parents[depth - 1])
    assert main(["fix", "--no-cache", "-q"]) == 2
    assert target.read_text() == BAD
    assert OUTSIDE in capsys.readouterr().err


def test_a_chain_of_links_is_followed_to_its_end() -> None:
    target = outside()
    Path("b.py").symlink_to(target)
    Path("a.py").symlink_to("b.py")
    assert main(["fix", "--no-cache", "-q", "."]) == 2
    assert target.read_text() == BAD


def test_a_link_to_a_home_directory_stays_out(tmp_path: Path) -> None:
    target = outside("home/.env")
    target.write_text(FILES[".env"])
    Path(".env").symlink_to(target)
    assert main(["fix", "--no-cache", "-q", "--unsafe-fixes", "."]) == 0
    assert target.read_text() == FILES[".env"]
    assert Path(".env").is_symlink()


@pytest.mark.parametrize("how", ["the link", "the target", "the link's directory", "the target's directory", "both"])
def test_what_is_named_is_fixed_through_links(how: str) -> None:
    target = outside("other/train.py")
    Path("a.py").symlink_to(target)
    Path("folder").symlink_to(target.parent)
    named = {
        "the link": ["a.py"],
        "the target": [".", str(target)],
        "the link's directory": ["folder"],
        "the target's directory": [str(target.parent)],
        "both": [".", "../other"],
    }[how]
    assert main(["fix", "--no-cache", "-q", *named]) == 0
    assert target.read_text() == FIXED
    assert Path("a.py").is_symlink()


def test_a_link_within_what_is_named_is_followed() -> None:
    Path("sub").mkdir()
    Path("sub/train.py").write_text(BAD)
    Path("a.py").symlink_to("sub/train.py")
    assert main(["fix", "--no-cache", "-q", "."]) == 0
    assert Path("sub/train.py").read_text() == FIXED
    assert Path("a.py").is_symlink()


def test_a_tree_that_is_reached_by_a_link_itself(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "linked").symlink_to(tmp_path / "here")
    Path("a.py").write_text(BAD)
    monkeypatch.chdir(tmp_path / "linked")
    assert main(["fix", "--no-cache", "-q", "."]) == 0
    Path("a.py").write_text(BAD)
    assert main(["fix", "--no-cache", "-q", str(tmp_path / "linked")]) == 0
    assert Path("a.py").read_text() == FIXED


def test_a_module_of_a_program_that_lies_outside_by_a_link() -> None:
    late = "import tensorflow as tf\n\n\ndef grow():\n    for gpu in tf.config.list_physical_devices('GPU'):\n"
    late += "        tf.config.experimental.set_memory_growth(gpu, 'yes')\n"
    target = outside("other/__init__.py")
    target.write_text(late)
    Path("core").symlink_to(target.parent)
    Path("main.py").write_text("import tensorflow as tf\nimport core\n\nx = tf.constant(1)\ncore.grow()\n")
    main(["fix", "--no-cache", "-q", "--unsafe-fixes", "main.py"])
    assert target.read_text() == late


def test_the_other_names_of_a_file_keep_its_text(capsys: pytest.CaptureFixture[str]) -> None:
    Path("a.py").write_text(BAD)
    Path("../second.py").hardlink_to("a.py")
    assert main(["fix", "--no-cache", "a.py"]) == 0
    assert (Path("a.py").read_text(), Path("../second.py").read_text()) == (FIXED, BAD)
    assert "a.py: is a file of its own now: it had another name (hard links)" in capsys.readouterr().err
    assert main(["fix", "--no-cache", "a.py"]) == 0
    assert "hard link" not in capsys.readouterr().err


# What is left beside a file


def killed_run(name: str) -> None:
    """A run that dies as it is about to rename."""
    code = (
        "import os, signal, pathlib, sys; from tfmemlint.fixes import write\n"
        "write._is_still = lambda *_: os.kill(os.getpid(), signal.SIGKILL)\n"
        f"write.replace_file({name!r}, b'new', b'old')"
    )
    assert subprocess.run([sys.executable, "-c", code]).returncode == -9


def litter() -> list[str]:
    return [path.name for path in Path().iterdir() if path.name.startswith(".tfmemlint-")]


def test_the_next_run_sweeps_what_a_killed_one_has_left() -> None:
    Path("a.py").write_text(BAD)
    killed_run("a.py")
    assert len(litter()) == 1
    assert Path("a.py").read_text() == BAD
    assert main(["check", "--no-cache", "-q", "."]) == 1
    assert main(["fix", "--diff", "--no-cache", "-q", "."]) in (0, 1)
    assert len(litter()) == 1  # neither of these writes anything
    assert main(["fix", "--no-cache", "-q", "a.py"]) == 0
    assert litter() == []


def test_it_is_swept_where_nothing_is_left_to_fix() -> None:
    Path("a.py").write_text(BAD)
    killed_run("a.py")
    Path("a.py").write_text(FIXED)
    assert main(["fix", "--no-cache", "-q", "."]) == 0
    assert litter() == []


def test_only_its_own_is_swept(tmp_path: Path) -> None:
    machine = write.this_machine()
    running = subprocess.Popen(["sleep", "60"])
    gone = subprocess.Popen(["true"])
    gone.wait()
    kept = [
        f".tfmemlint-{machine}-{running.pid}-abc.tmp",  # its process is there
        f".tfmemlint-{machine}-{os.getpid()}-abc.tmp",
        f".tfmemlint-{'0' * 12}-{gone.pid}-abc.tmp",  # another machine's
        f".tfmemlint-{machine}-{gone.pid}-abc.tmp.py",
        f".tfmemlint-{machine}-{gone.pid}.tmp",
        ".tfmemlint-notes.tmp",
        ".a.py.xyz.tmp",
        f".tfmemlint-{machine}-99999999999-abc.tmp",
    ]
    try:
        for name in kept:
            Path(name).write_text("")
        Path(f".tfmemlint-{machine}-{gone.pid}-dir.tmp").mkdir()
        Path(f".tfmemlint-{machine}-{gone.pid}-link.tmp").symlink_to(kept[0])
        Path(f".tfmemlint-{machine}-{gone.pid}-abc.tmp").write_text("")
        before = set(Path().iterdir())
        Path("a.py").write_text(BAD)
        assert main(["fix", "--no-cache", "-q", "."]) == 0
        assert before - set(Path().iterdir()) == {Path(f".tfmemlint-{machine}-{gone.pid}-abc.tmp")}
        sweep(Path("nonexistent"))
    finally:
        running.kill()
        running.wait()


@pytest.mark.parametrize("length", [200, 240, 243, 250, 255])
def test_names_may_be_as_long_as_names_may_be(length: int) -> None:
    path = Path("n" * (length - 3) + ".py")
    path.write_text(BAD)
    assert main(["fix", "--no-cache", "-q", "."]) == 0
    assert path.read_text() == FIXED
    assert litter() == []


def test_names_of_many_bytes_are_no_trouble() -> None:
    path = Path("é" * 126 + ".py")
    path.write_text(BAD)
    assert main(["fix", "--no-cache", "-q", "."]) == 0
    assert path.read_text() == FIXED


# One call


def test_the_expected_content_is_compared(tmp_path: Path) -> None:
    path = tmp_path / "a"
    path.write_bytes(b"old")
    with pytest.raises(ChangedError):
        replace_file(path, b"new", b"older")
    with pytest.raises(ChangedError):
        replace_file(path, b"new", b"ol")
    assert path.read_bytes() == b"old"
    assert replace_file(path, b"new", b"old") == 0
    assert path.read_bytes() == b"new"


def test_a_fifo_in_its_place_is_no_trap(tmp_path: Path) -> None:
    path = tmp_path / "a"
    os.mkfifo(path)
    with pytest.raises(OSError, match="not a regular file"):
        replace_file(path, b"new", b"old")


@pytest.mark.skipif(not hasattr(os, "setxattr"), reason="this system has no extended attributes")
def test_extended_attributes_are_kept(tmp_path: Path) -> None:
    path = tmp_path / "a"
    path.write_bytes(b"old")
    try:
        os.setxattr(path, "user.note", b"mine")
    except OSError:
        pytest.skip("this file system has no extended attributes")
    replace_file(path, b"new", b"old")
    assert os.getxattr(path, "user.note") == b"mine"


def test_an_editor_that_saves_all_the_time_loses_nothing(tmp_path: Path) -> None:
    """Each save is there at the end, or was seen by the tool before it wrote."""
    path = tmp_path / "a"
    path.write_bytes(b"0")
    lost = 0
    for number in range(200):
        before = path.read_bytes()
        if number % 2:
            path.write_bytes(b"saved %d" % number)
        try:
            replace_file(path, b"fixed %d" % number, before)
            lost += number % 2
        except ChangedError:
            assert path.read_bytes() == b"saved %d" % number
    assert lost == 0
