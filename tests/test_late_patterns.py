"""Regular expressions that are compiled when they are first used."""

from __future__ import annotations

import importlib
import re
from pathlib import Path

import pytest

from tests.checkout import ROOT
from tfmemlint.model.patterns import late_pattern

MODULES = sorted(
    ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")
    for path in Path(ROOT, "tfmemlint").rglob("*.py")
    if path.name != "patterns.py" and "late_pattern(" in path.read_text(encoding="utf-8")
)


def test_it_has_what_a_pattern_has() -> None:
    late, plain = late_pattern(r"(?P<word>a+)(b)?", re.IGNORECASE), re.compile(r"(?P<word>a+)(b)?", re.IGNORECASE)
    assert (late.pattern, late.flags, late.groups) == (plain.pattern, plain.flags, plain.groups)
    for text in ("xAAb", "aab a", ""):
        assert late.findall(text) == plain.findall(text)
        assert late.sub("-", text) == plain.sub("-", text)
        assert bool(late.match(text)) == bool(plain.match(text))
    assert late_pattern(rb"\d+").findall(b"1 22") == [b"1", b"22"]


def test_what_is_no_expression_is_said_when_it_is_first_used() -> None:
    wrong = late_pattern("(")
    with pytest.raises(re.error):
        wrong.search("")


@pytest.mark.parametrize("name", MODULES)
def test_every_late_pattern_is_a_regular_expression(name: str) -> None:
    kind = type(late_pattern(""))
    found = [value for value in vars(importlib.import_module(name)).values() if isinstance(value, kind)]
    assert found, "no pattern is where it was found in the text"
    for pattern in found:
        assert pattern.flags >= 0, "asking for it compiles the expression"
