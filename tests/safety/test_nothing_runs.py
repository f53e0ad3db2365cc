"""Nothing of what is checked ever runs: not through git, not through Python's own search for modules."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.checkout import ROOT
from tests.safety.hostile_modules import plant
from tests.safety.hostile_repositories import BAD, BUILDERS, FIXED
from tfmemlint.cli.main import main

COMMANDS = (
    ("check", "--no-cache"),
    ("check", "--no-cache", "--since", "HEAD"),
    ("fix", "--diff", "--no-cache"),
    ("plan",),
    ("fix", "--no-cache"),
    ("fix", "--no-cache", "--allow-dirty"),
)


@pytest.mark.parametrize("name", BUILDERS)
def test_no_command_of_a_repository_runs(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    canary = tmp_path / "canary"
    top = tmp_path / "top"
    top.mkdir()
    path = BUILDERS[name](top, str(canary))
    canary.unlink(missing_ok=True)  # building it may well have run it
    for command in COMMANDS:
        for directory, target in ((top, "."), (path.parent, path.name), (tmp_path, str(path))):
            monkeypatch.chdir(directory)
            assert main([*command, target]) in (0, 1, 2)
            assert not canary.exists(), (command, directory)
    assert path.read_text().startswith(FIXED)


def test_the_repositories_are_hostile(tmp_path: Path) -> None:
    """At least those that act on `git status` do so when git is asked."""
    acting = []
    for name, build in BUILDERS.items():
        canary, top = tmp_path / f"{name}.canary", tmp_path / name
        top.mkdir()
        path = build(top, str(canary))
        canary.unlink(missing_ok=True)
        directory = path.parent
        subprocess.run(["git", "-C", str(directory), "status", "--porcelain"], capture_output=True)
        if canary.exists():
            acting.append(name)
    assert len(acting) >= 10, acting


# Python's own search for modules

LAZY = ("argparse", "concurrent", "difflib", "fractions", "json", "multiprocessing", "numbers", "textwrap", "tokenize")
"""Modules of the standard library that are imported when they are needed."""
FILES = {
    "a.py": BAD,
    "README.md": "```python\nimport tensorflow as tf\ntf.config.list_physical_devices('GPU')\n```\n",
    "compose.yaml": "services:\n  a:\n    environment:\n      TF_FORCE_GPU_ALLOW_GROWTH: 'True'\n",
    "pyproject.toml": "[tool.tfmemlint]\n",
    ".gitignore": "*.log\n",
}


INSTALLED = "import sys; del sys.path[0]; from tfmemlint.__main__ import main; sys.exit(main())"
"""The installed command has its own directory in front, not the working directory."""


@pytest.mark.slow
@pytest.mark.parametrize("path", ["", ":/nonexistent", ".", "HERE/sub"])
@pytest.mark.parametrize(
    "command", [("-m", "tfmemlint"), ("-c", "import sys; from tfmemlint.__main__ import main; main()")]
)
def test_no_module_of_the_working_directory_is_taken(tmp_path: Path, path: str, command: tuple[str, str]) -> None:
    here, canary = tmp_path / "here", tmp_path / "canary"
    (here / "sub").mkdir(parents=True)
    for name, text in FILES.items():
        (here / name).write_text(text, encoding="utf-8")
    # With PYTHONPATH, Python itself takes what it needs to start from there: only what comes later is this tool's.
    names = LAZY if not path and command[0] == "-m" else ()
    plant(here, canary, names)
    plant(here / "sub", canary, names)
    environment = {**os.environ, "PYTHONPATH": path.replace("HERE", str(here))}
    for words in (["check", "--no-cache", "."], ["plan", "a.py"], ["fix", "-q", "--no-cache", "."]):
        done = subprocess.run(
            [sys.executable, *command, *words], cwd=here, capture_output=True, text=True, env=environment
        )
        assert "taken" not in done.stderr, done.stderr
        assert "Traceback" not in done.stderr, done.stderr
        assert not canary.exists(), words
    assert (here / "a.py").read_text(encoding="utf-8") == FIXED


AUDITED = """
import os, sys
here = os.getcwd()
def watch(event, arguments):
    if event in ("subprocess.Popen", "os.exec", "os.posix_spawn", "os.system", "os.spawn", "pty.spawn", "os.startfile"):
        os.write(2, f"AUDIT started: {arguments}".encode())
    elif event.startswith("socket.") and event != "socket.__new__":
        os.write(2, f"AUDIT network: {event}".encode())
    elif event == "exec" and str(getattr(arguments[0], "co_filename", "")).startswith(here):
        os.write(2, f"AUDIT run: {arguments}".encode())
sys.path[:] = [place for place in sys.path if place]
sys.addaudithook(watch)
from tfmemlint.__main__ import main
sys.exit(main())
"""


@pytest.mark.slow
def test_no_process_is_started_and_no_code_of_the_project_is_run(tmp_path: Path) -> None:
    """Python says itself what is done: of programs in several files, in a hostile repository."""
    top = tmp_path / "top"
    top.mkdir()
    BUILDERS["a_clean_filter"](top, str(tmp_path / "canary"))
    (tmp_path / "canary").unlink(missing_ok=True)
    programs = ROOT / "fixtures" / "programs"
    for folder in sorted(programs.iterdir())[::25]:
        shutil.copytree(folder, top / folder.name)
    for words in (
        ["check", "."],
        ["check", "--since", "HEAD", "."],
        ["check", "."],
        ["plan", "."],
        ["fix", "--diff", "."],
        ["fix", "--allow-dirty", "."],
    ):
        done = subprocess.run(
            [sys.executable, "-c", AUDITED, *words],
            cwd=top,
            capture_output=True,
            text=True,
            env={**os.environ, "TFMEMLINT_CACHE_DIR": str(tmp_path / "cache")},
        )
        assert done.returncode in (0, 1), done.stderr
        assert "AUDIT" not in done.stderr, done.stderr
    assert not (tmp_path / "canary").exists()
