"""What a fix keeps, whatever the code (``tools/fix_properties.py``), on this project's own fixtures."""

from __future__ import annotations

import importlib.util
import shutil
import sys
from pathlib import Path
from types import ModuleType

import pytest

from tests import fixture_runs
from tests.fixture_files import FIXTURES, ROOT, encoding_of, fixture_paths


@pytest.fixture(scope="module")
def properties() -> ModuleType:
    spec = importlib.util.spec_from_file_location("fix_properties", ROOT / "tools" / "fix_properties.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["fix_properties"] = module
    spec.loader.exec_module(module)
    return module


SLOW = ["legacy", "articles"]


_ABOUT_COMMENTS = {f"TFM90{number}" for number in range(10)}


def _rules_with_fixtures() -> list[str]:
    return sorted({path.parent.name for path in fixture_paths("bad")} - _ABOUT_COMMENTS)


@pytest.mark.parametrize("code", _rules_with_fixtures())
def test_nothing_is_lost_in_the_fixtures_of_a_rule(code: str, properties: ModuleType) -> None:
    """That a second fix changes nothing is held where each fixed side is judged; a fix of a rule about the comments
    that silence rules takes comments away."""
    for path in (each for each in fixture_paths("bad") if each.parent.name == code):
        encoding = encoding_of(path)
        before, after = fixture_runs.read_fixture(path)[path.name], fixture_runs.fix(path).texts[path.name]
        problems = list(properties.untrue(before.encode(encoding), after.encode(encoding)))
        assert problems == [], path
        assert after == before or fixture_runs.check(path).code == 1, f"{path} is changed, and nothing is found in it"


@pytest.mark.parametrize("kind", [*(pytest.param(kind, marks=pytest.mark.slow) for kind in SLOW), "TFM60[1-3]"])
def test_nothing_is_lost_in_folders_of_files(kind: str, properties: ModuleType, tmp_path: Path) -> None:
    for folder in FIXTURES.glob(kind):
        shutil.copytree(folder, tmp_path / folder.name)
    seen = properties.tried(tmp_path)
    assert seen.problems == []
    assert seen.changed, "there is nothing to see"


@pytest.mark.parametrize(
    ("old", "new", "problem"),
    [
        (b"x = 1  # one\n", b"x = 1\n", "lost comments: # one"),
        (b"x = 1\r\n", b"x = 1\n", "line ends were CRLF, and are LF"),
        (b"\xef\xbb\xbfx = 1\n", b"x = 1\n", "byte order mark"),
        (b"# coding: latin-1\nx = 1\n", b"x = 1\n# coding: latin-1\n", "encoding was iso-8859-1"),
        (b"x = 1\n", b"x = \n", "does not parse"),
        (b"x = 1\n", b"x = 1", "the end of its last line"),
    ],
)
def test_what_is_lost_is_seen(old: bytes, new: bytes, problem: str, properties: ModuleType) -> None:
    assert any(problem in one for one in properties.untrue(old, new))
