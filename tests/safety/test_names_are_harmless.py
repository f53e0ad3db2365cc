"""Names of files that strangers chose act on no terminal and begin no line of their own in what a command prints."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.tool_server import merged_report, run_tool
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
CRASHED = 3
FORBIDDEN = (b"\x1b", b"\r", "\u202e".encode(), "\x9b".encode(), b"\xff")

COMMANDS = (
    *(("check", "--output-format", name, "FILE") for name in FORMATS),
    ("check", "-v", "FILE"),
    ("check", "-v", "."),
    ("check", "--show-target", "."),
    ("check", "--show-target", "--output-format", "json", "."),
    ("check", "--statistics", "FILE"),
    ("check", "MISSING"),
    ("check", "OPTION"),
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
    names = {"FILE": path, "MISSING": f"{path}.missing", "OPTION": f"--{path}"}
    done = run_tool(folder, [names.get(word, word) for word in command], CODE.encode())
    assert done.returncode != CRASHED, done.stderr
    for shown in (done.stdout, done.stderr):
        assert b"Traceback" not in shown
        assert not [sign for sign in FORBIDDEN if sign in shown], shown
        assert not [
            line
            for line in shown.splitlines()
            if line.startswith((b"::error::name", b"::error::x", b"::warning::evil"))
        ]


PAGES = (
    ("plan", "--html", "OUT", "FILE"),
    pytest.param(("verify", "-v", "--device", "edge", "--html", "OUT", "FILE"), marks=pytest.mark.tensorflow),
)
"""Commands that write a page, and print."""


@pytest.mark.slow
@pytest.mark.parametrize("command", PAGES, ids=" ".join)
def test_no_name_acts_in_a_page(command: tuple[str, ...], tree: tuple[Path, str], tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    folder, path = tree
    out = tmp_path / "page.html"
    done = run_tool(folder, [{"FILE": path, "OUT": str(out)}.get(word, word) for word in command])
    assert done.returncode != CRASHED, done.stderr
    for shown in (done.stdout, done.stderr, out.read_bytes()):
        assert not [sign for sign in FORBIDDEN if sign in shown], shown


@pytest.mark.parametrize("output_format", [name for name in FORMATS if name != "corrections"])
def test_no_name_in_a_merged_report_acts(output_format: str, tree: tuple[Path, str]) -> None:
    done = merged_report(*tree, output_format)
    for shown in (done.stdout, done.stderr):
        assert not [sign for sign in FORBIDDEN if sign in shown], shown


def test_no_name_acts_in_what_estate_writes(tree: tuple[Path, str]) -> None:
    pytest.importorskip("pyarrow")
    pytest.importorskip("psutil")
    folder, path = tree
    clones = folder / "clones"
    (folder / path).parent.rename(clones)
    # The name of a repository may be as hostile as that of a file.
    (clones / path.rpartition("/")[0]).mkdir()
    hostile = clones / path.rpartition("/")[0] / "a.py"
    hostile.write_text(CODE)
    top = clones / f"{path.rpartition('/')[0]}2"
    top.mkdir()
    (top / "a.py").write_text(CODE)
    (clones / Path(path).name).rename(top / Path(path).name)
    done = run_tool(folder, ["estate", "clones", "--out", "out", "--serial"])
    assert done.returncode == 1, done.stderr
    written = ((folder / "out" / name).read_bytes() for name in ("index.html", "estate.sarif"))
    for shown in (done.stdout, done.stderr, *written):
        assert not [sign for sign in FORBIDDEN if sign in shown], shown


def test_a_diff_names_files_as_git_does() -> None:
    diff = unified_diff('a"\n\x1b\u00e9\udcff', "x\n", "y\n")
    assert diff.splitlines()[0] == '--- "a\\"\\012\\033\u00e9\\377"'
    assert unified_diff("a b.py", "x\n", "y\n").startswith("--- a b.py\n+++ a b.py\n")
