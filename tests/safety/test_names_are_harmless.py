"""Names of files that strangers chose act on no terminal and begin no line of their own in what a command prints."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.tool_server import run_tool
from tfmemlint.reporters.diff import unified_diff
from tfmemlint.reporters.formats import FORMATS

NAME = "evil\x1b[31m\n::error::name\r\u202e\x9b2J.py"
BYTES = b"evil\x1b\xff\n::error::x.py"
CODE = """\
import os
import tensorflow as tf

gpus = tf.config.list_physical_devices("GPU")
tf.config.experimental.set_memory_growth(gpus, True)
os.environ["CUDA_VISIBLE_DEVICES"] = "0"
"""
FORBIDDEN = (b"\x1b", b"\r", "\u202e".encode(), "\x9b".encode(), b"\xff")

COMMANDS = (
    *(("check", "--output-format", name, "FILE") for name in FORMATS),
    ("check", "-v", "FILE"),
    ("check", "-v", "."),
    ("check", "--show-target", "."),
    ("check", "--show-target", "--output-format", "json", "."),
    ("check", "--statistics", "FILE"),
    ("check", "MISSING"),
    ("check", "--select", "MISSING", "FILE"),
    ("check", "--exclude", "MISSING", "FILE"),
    ("check", "--stdin-filename", "FILE", "-"),
    ("fix", "--diff", "FILE"),
    ("fix", "--diff", "--unsafe-fixes", "--output-format", "concise", "."),
    ("fix", "--show-fixes", "--unsafe-fixes", "."),
    ("fix", "MISSING"),
    ("plan", "FILE"),
    ("plan", "--json", "FILE"),
    ("plan", "MISSING"),
    ("debug", "events", "FILE"),
    ("debug", "events", "MISSING"),
    ("rule", "MISSING"),
)


@pytest.fixture(params=["text", "bytes"])
def tree(request: pytest.FixtureRequest, tmp_path: Path) -> tuple[Path, str]:
    """A directory with a hostile name in a hostile directory, and the path in it."""
    name = NAME if request.param == "text" else os.fsdecode(BYTES)
    path = Path(f"dir\x1b[2J\n::warning::{name[:6]}", name)
    try:
        (tmp_path / path).parent.mkdir()
        (tmp_path / path).write_text(CODE)
    except OSError:
        pytest.skip("this file system has no such names")
    return tmp_path, str(path)


@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
def test_no_name_acts_on_a_terminal(command: tuple[str, ...], tree: tuple[Path, str]) -> None:
    folder, path = tree
    names = {"FILE": path, "MISSING": f"{path}.missing"}
    done = run_tool(folder, [names.get(word, word) for word in command], CODE.encode())
    for shown in (done.stdout, done.stderr):
        assert b"Traceback" not in shown
        assert not [sign for sign in FORBIDDEN if sign in shown], shown
        assert not [
            line
            for line in shown.splitlines()
            if line.startswith((b"::error::name", b"::error::x", b"::warning::evil"))
        ]


def test_a_diff_names_files_as_git_does() -> None:
    diff = unified_diff('a"\n\x1b\u00e9\udcff', "x\n", "y\n")
    assert diff.splitlines()[0] == '--- "a\\"\\012\\033\u00e9\\377"'
    assert unified_diff("a b.py", "x\n", "y\n").startswith("--- a b.py\n+++ a b.py\n")
