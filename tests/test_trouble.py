"""What keeps the tool from its work on a file is a finding too: a rule that fails, a file that can't be read."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.fixture_files import FIXTURES
from tfmemlint.engine.check_source import check_source
from tfmemlint.engine.context import RunContext
from tfmemlint.engine.item import Item
from tfmemlint.engine.run import check_item, run
from tfmemlint.interpreter.program import Program
from tfmemlint.knowledge.releases import Target
from tfmemlint.model.finding import Finding, Severity
from tfmemlint.rulekit.rule import Rule, rules
from tfmemlint.sources import Source

UNREADABLE = {
    "binary.py": "null",
    "null_byte.py": "null",
    "wrong_encoding.py": "utf-8",
    "unknown_encoding.py": "encoding",
}
"""By file, a word of what is said about it."""


class Failing(Rule):
    """A rule that fails."""

    code = "TFM999"
    name = "failing"
    severity = Severity.ERROR

    def check(self, program: Program) -> Iterator[Finding]:
        """Fail on every program."""
        raise LookupError("no such thing")


def test_a_rule_that_fails_is_named_and_the_others_go_on() -> None:
    text = "import tensorflow as tf\ntf.config.experimental.set_memory_limit(1024)\n"
    found = check_source(Source("program.py", text), (*rules(), Failing()), Target.newest())
    assert [(finding.code, finding.span.row) for finding in found] == [("TFM900", 1), ("TFM202", 2)]
    assert "TFM999 failed on this file: LookupError: no such thing" in found[0].message
    assert "test_trouble.py" in found[0].message


def test_a_comment_does_not_silence_a_rule_that_fails() -> None:
    found = check_source(Source("program.py", "x = 1  # noqa\n"), (Failing(),), Target.newest())
    assert [finding.code for finding in found] == ["TFM900"]


@pytest.mark.parametrize("name", UNREADABLE)
def test_a_file_that_cannot_be_read_is_one_finding(name: str) -> None:
    path = FIXTURES / "TFM902" / name
    outcome = check_item(Item(str(path), path.read_bytes()), RunContext())
    assert [finding.code for finding in outcome.findings] == ["TFM902"]
    assert UNREADABLE[name] in outcome.findings[0].message.lower()


@pytest.mark.parametrize("name", UNREADABLE)
def test_a_file_that_cannot_be_read_is_not_changed(name: str, tmp_path: Path) -> None:
    data = (FIXTURES / "TFM902" / name).read_bytes()
    copy = tmp_path / name
    copy.write_bytes(data)
    check_item(Item(str(copy), data), RunContext(fix=True, write=True, unsafe=True))
    assert copy.read_bytes() == data


@pytest.mark.parametrize("path", sorted((FIXTURES / "TFM902").glob("ok_*.py")), ids=lambda path: path.name)
def test_an_unusual_encoding_that_is_declared_is_read(path: Path) -> None:
    outcome = check_item(Item(str(path), path.read_bytes()), RunContext())
    assert outcome.findings == []
    assert outcome.source is not None


def test_a_file_that_is_gone_is_reported_where_others_make_up_a_program(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    grow = "import tensorflow as tf\n\n\ndef grow(gpu):\n    tf.config.experimental.set_memory_growth(gpu, True)\n"
    Path("setup_gpu.py").write_text(grow, encoding="utf-8")
    Path("train.py").write_text("from setup_gpu import grow\n\ngrow(0)\n", encoding="utf-8")
    Path("gone.py").symlink_to("nowhere.py")
    results = run([(name, False) for name in ("gone.py", "setup_gpu.py", "train.py")], RunContext())
    assert any(result.program is not None or result.entries for result in results)
    assert [finding.code for result in results for finding in result.findings if result.path == "gone.py"] == ["TFM902"]
