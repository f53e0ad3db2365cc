"""docs/api.md: every example runs, and every name and field is on the page, and on the Chinese one."""

from __future__ import annotations

import dataclasses
import doctest
import re
from pathlib import Path

import pytest

import tfmemlint
from tests.checkout import ROOT

PAGE = ROOT / "docs" / "api.md"
CHINESE = ROOT / "docs" / "zh" / "api.md"


def test_every_example_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "pyproject.toml").touch()
    monkeypatch.chdir(tmp_path)
    found = doctest.testfile(str(PAGE), module_relative=False, encoding="utf-8")
    assert (found.failed, found.attempted >= 30) == (0, True)


def test_every_example_is_tried() -> None:
    """An example without a prompt would not run."""
    blocks = re.findall(r"^```python\n(.*?)^```", PAGE.read_text(encoding="utf-8"), re.DOTALL | re.MULTILINE)
    assert len(blocks) > 8
    assert all(block.startswith(">>> ") and block.endswith("\n\n") for block in blocks)


@pytest.mark.parametrize("page", [PAGE, CHINESE], ids=["English", "Chinese"])
@pytest.mark.parametrize("name", sorted(set(tfmemlint.__all__) - {"__version__"}))
def test_every_name_and_field_is_on_the_page(name: str, page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    part = getattr(tfmemlint, name)
    assert f"`{name}`" in text or f"`tfmemlint.{name}`" in text
    if dataclasses.is_dataclass(part):
        (row,) = re.findall(rf"^\| `{name}` \|(.*)\|$", text, re.MULTILINE)
        listed = set(re.findall(r"`(\w+)`", re.sub(r"\([^)]*\)|\uff08[^\uff09]*\uff09", "", row))) - {"clean"}
        assert listed == {field.name for field in dataclasses.fields(part)}
