"""Code as people write it that must stay silent: nothing is found in any file of ``fixtures/silence``.

A folder is one kind of such code. Where a file has code that advice is rightly about (an old alias), its line says so
with ``# expect:``; by default, nothing is found there either.
"""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from tests.fixture_files import SILENCE, read_text, silent_paths, strip_markers
from tfmemlint.engine.check_source import check_source
from tfmemlint.knowledge.releases import Target
from tfmemlint.model.finding import Severity
from tfmemlint.rulekit.rule import rules
from tfmemlint.sources import Source

SPELLINGS = 5
"""How many files each folder has, at least."""


def _named(path: Path) -> str:
    return str(path.relative_to(SILENCE))


@pytest.mark.parametrize("path", silent_paths(), ids=_named)
def test_nothing_is_found(path: Path) -> None:
    text, expectations, header = strip_markers(read_text(path))
    target = Target.parse(header["target"]) if "target" in header else Target.newest()
    found = check_source(Source(path.name, text), rules(), target)
    told = "\n".join(f"{finding.span.row}: {finding.code} {finding.message}" for finding in found)
    assert not [finding for finding in found if finding.severity is not Severity.ADVICE], told
    expected = Counter((row, code) for row, codes in expectations.items() for code in codes)
    assert Counter((finding.span.row, finding.code) for finding in found) == expected, told


def test_each_kind_is_written_in_several_ways() -> None:
    few = {folder.name: len(list(folder.glob("*.py"))) for folder in SILENCE.iterdir()}
    assert {name: count for name, count in few.items() if count < SPELLINGS} == {}
