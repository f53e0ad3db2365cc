"""`check` and `fix` count the same findings in the same files."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import pytest

from tests.fixture_files import FIXTURES
from tests.fixture_runs import command


@pytest.mark.parametrize("options", [(), ("--unsafe-fixes",)])
def test_fix_finds_what_check_finds(options: tuple[str, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The growth of one GPU alone comes to light only when the call is in time: it is fixed, and not counted."""
    shutil.copytree(FIXTURES / "demo", tmp_path / "demo")
    monkeypatch.chdir(tmp_path)
    runs = [
        command(name, "--no-cache", *options, *more, "demo") for name, more in (("check", ()), ("fix", ("--diff",)))
    ]
    counts = [re.search(r"Found (.+?)(?: \(|\.$)", run.out + run.err, re.MULTILINE) for run in runs]
    assert all(counts)
    assert len({match[1] for match in counts if match is not None}) == 1
