"""Nothing of what is checked ever runs: not through git, not through Python's own search for modules."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from tests.safety.hostile_repositories import BUILDERS, FIXED
from tfmemlint.cli.main import main

COMMANDS = (
    ("check", "--no-cache"),
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
