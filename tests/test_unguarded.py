"""No fix brings a GPU that may not be there."""

from __future__ import annotations

from pathlib import Path

from tests.fixture_files import fixture_paths, read_text, strip_markers
from tests.for_each import for_each_file
from tfmemlint.interpreter import analyze
from tfmemlint.knowledge.releases import Target
from tfmemlint.rulekit.rule import rules
from tfmemlint.sources import Source

UNGUARDED = next(rule for rule in rules() if rule.code == "TFM313")
RENUMBERED = "TFM308"
"""Its fix gives an index that is there another number: whether there is such a GPU was not asked before either."""
FIXED = [
    path
    for path in fixture_paths("bad")
    if path.with_name(f"{path.stem}.fixed.py").exists() and path.parent.name != RENUMBERED
]


def _found(text: str) -> int:
    return len({finding.span for finding in UNGUARDED.check(analyze(Source("program.py", text), Target.newest()))})


@for_each_file(FIXED)
def test_a_fixed_program_takes_no_first_gpu_without_asking_that_did_ask_before(path: Path) -> None:
    before = strip_markers(read_text(path))[0]
    assert _found(read_text(path.with_name(f"{path.stem}.fixed.py"))) <= _found(before)
