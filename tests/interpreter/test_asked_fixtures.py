"""Which fixtures of ``conftest.py`` the tests of a file get."""

from __future__ import annotations

from pathlib import Path
from textwrap import dedent

import pytest

from tests.project.trees import write
from tfmemlint.engine.context import RunContext
from tfmemlint.engine.run import run
from tfmemlint.sources import walk

CONFTEST = """
    import pytest
    import tensorflow as tf


    @pytest.fixture
    def limited():
        tf.constant(1)
        tf.config.set_logical_device_configuration(tf.config.list_physical_devices("GPU")[0], [])
    """
"""Its fixture configures a GPU too late, if some test gets it."""


@pytest.mark.parametrize(
    ("tests", "gets"),
    [
        ("def test(): ...", False),
        ("def helper(limited): ...\n\n\ndef test(): ...", False),
        ("def test(limited): ...", True),
        ("class Test:\n    def test(self, limited): ...", True),
        ("def test(): ...\n\n\nif True:\n    pass\nelse:\n    def test_more(limited): ...", True),
        ("def test(): ...\n\n\ntry:\n    pass\nexcept ValueError:\n    def test_more(limited): ...", True),
        ("def test(): ...\n\n\nmatch 1:\n    case 1:\n        def test_more(limited): ...", True),
        ('import pytest\n\n\n@pytest.mark.usefixtures("limited")\ndef test(): ...', True),
        ('import pytest\n\npytestmark = [pytest.mark.usefixtures("limited")]\n\n\ndef test(): ...', True),
    ],
)
def test_a_fixture_runs_where_a_test_asks_for_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, tests: str, gets: bool
) -> None:
    write(tmp_path / "pyproject.toml", '[project]\nname = "it"\n')
    write(tmp_path / "conftest.py", dedent(CONFTEST))
    write(tmp_path / "test_it.py", tests + "\n")
    monkeypatch.chdir(tmp_path)
    results = run([(name, False) for name in walk(["."]).files], RunContext(explain_fixes="never"))
    steps = [step.words for result in results for each in result.findings for step in each.trace]
    assert any("pytest calls the fixture limited()" in words for words in steps) is gets
