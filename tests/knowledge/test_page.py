"""The page that counts names, and the measured names behind the table."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from types import ModuleType

import pytest

from tests.checkout import ROOT
from tfmemlint.knowledge import names
from tfmemlint.knowledge.releases import KNOWN, Target


def load(path: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(autouse=True)
def tools(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "path", [str(ROOT / "tools" / "knowledge"), *sys.path])


def test_the_page_is_what_the_tool_makes() -> None:
    made = load(ROOT / "tools" / "make_knowledge.py").page()
    assert (ROOT / "docs" / "knowledge.md").read_text(encoding="utf-8") == made, "run tools/make_knowledge.py"


def test_the_table_of_names_is_what_the_measured_names_make() -> None:
    ranges = load(ROOT / "tools" / "knowledge" / "make_names.py").load()
    assert {f"{place}.{child}" for place in names.places() for child in names.members(place, Target.newest())} == {
        name for name, (_, last) in ranges.items() if last == KNOWN[-1]
    }
    for name, span in list(ranges.items())[::37]:
        assert names.ranges(name) == (span,)
