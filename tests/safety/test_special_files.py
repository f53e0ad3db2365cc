"""Files of a checked tree that are no regular files, or declare what no text is in, end no run and cost no file."""

from __future__ import annotations

import ast
import os
from pathlib import Path

import pytest

from tests.tool_server import run_tool

ROOT = Path(__file__).resolve().parents[2]
CODE = "import tensorflow as tf\n\ntf.config.set_memory_limit(0.5)\n"

NAMES = (
    ".editorconfig",
    ".env",
    ".git/info/exclude",
    ".gitattributes",
    ".gitignore",
    ".pre-commit-config.yaml",
    "Dockerfile",
    "README.md",
    "docker-compose.yml",
    "environment.yml",
    "pyproject.toml",
    "requirements.txt",
    "requirements/base.txt",
    "ruff.toml",
    "run.sh",
    "setup.cfg",
    "setup.py",
    "tox.ini",
)
"""Files that a run reads for itself, or as something to check."""

READERS = (
    "tfmemlint/config",
    "tfmemlint/deployment",
    "tfmemlint/engine",
    "tfmemlint/facts",
    "tfmemlint/fixes",
    "tfmemlint/interpreter",
    "tfmemlint/plans",
    "tfmemlint/project",
    "tfmemlint/sources",
    "tfmemlint/text_checks",
)
"""The packages that read files of a checked tree."""


def _check(tree: Path) -> str:
    """Return what a check of ``tree`` prints, which has findings."""
    done = run_tool(tree, ["check", "--output-format", "concise", "."])
    assert done.returncode == 1, done
    assert b"Traceback" not in done.stderr
    return done.stdout.decode()


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no named pipes on this system")
@pytest.mark.parametrize("kind", ["fifo", "device"])
def test_only_regular_files_are_opened(tmp_path: Path, kind: str) -> None:
    """All at once: one of them that is waited for, or read to its end, ends the test by the server's time limit."""
    (tmp_path / "train.py").write_text(CODE)
    for name in NAMES:
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        if kind == "fifo":
            os.mkfifo(path)
        else:
            path.symlink_to("/dev/zero")
    out = _check(tmp_path)
    assert "train.py:3:1: error: TFM202" in out
    assert "TFM900" not in out


@pytest.mark.parametrize("encoding", ["undefined", "punycode", "idna", "rot13", "hex", "unicode_escape", "no-such"])
def test_an_encoding_that_no_text_is_in_costs_its_file_only(tmp_path: Path, encoding: str) -> None:
    (tmp_path / "odd.py").write_text(f"# -*- coding: {encoding} -*-\n{CODE}")
    (tmp_path / "train.py").write_text(CODE)
    out = _check(tmp_path)
    assert "train.py:3:1: error: TFM202" in out
    assert "odd.py:" in out or encoding in ("idna",)
    assert "TFM900" not in out


def test_no_file_of_a_tree_is_opened_by_another_door() -> None:
    """`open`, `Path.read_bytes` and `Path.read_text` follow a FIFO until it answers; `sources.regular` does not."""
    found = []
    for path in (path for folder in READERS for path in sorted((ROOT / folder).rglob("*.py"))):
        name = path.relative_to(ROOT).as_posix()
        if name == "tfmemlint/sources/regular.py" or "/templates/" in name:
            continue
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            match node:
                case ast.Call(func=ast.Name("open")) | ast.Call(func=ast.Attribute(attr="read_bytes" | "read_text")):
                    found.append(f"{name}:{node.lineno}")
    assert found == [], "use tfmemlint.sources.regular.read_regular"


@pytest.mark.slow
@pytest.mark.parametrize("function", ["loads", "read_string", "read_file"])
def test_no_table_is_parsed_by_another_door(function: str) -> None:
    """`tomllib` and `configparser` take any time and memory; `sources.config_files.tables` bounds both."""
    found = []
    for path in (path for folder in READERS for path in sorted((ROOT / folder).rglob("*.py"))):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            match node:
                case ast.Call(func=ast.Attribute(ast.Name(owner), name)) if name == function and owner != "json":
                    found.append(path.relative_to(ROOT).as_posix())
    assert set(found) <= {"tfmemlint/sources/config_files/tables.py"}, "use parse_toml and parse_ini"
