"""Modules that import each other: each is followed up to a bound, and the report names those that are not."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.safety.attacks import mesh
from tfmemlint.cli.main import main
from tfmemlint.engine import find_programs

MODULES = 12


@pytest.mark.parametrize(("limit", "followed"), [((MODULES - 1) * MODULES, False), (MODULES * MODULES, True)])
def test_a_circle_that_is_too_large_is_named(
    limit: int, followed: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for name, content in mesh(MODULES).items():
        (tmp_path / name).write_text(content)
    monkeypatch.setattr(find_programs, "MAX_IMPORTS_IN_CIRCLE", limit)
    monkeypatch.chdir(tmp_path)
    main(["check", "--no-cache", "-v", "."])
    said = capsys.readouterr().err
    expected = f"m3.py: not followed to the end: it is one of {MODULES} modules that import each other in circles"
    assert (expected in said) is not followed
