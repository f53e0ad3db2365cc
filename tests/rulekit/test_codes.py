"""No code of a rule is known below the rules, but those of the run itself."""

from __future__ import annotations

import ast
import re

from tests.fixture_files import ROOT
from tfmemlint.model.text_defect import TextDefect
from tfmemlint.rulekit.rule import rules

_CODE = re.compile(r"TFM\d{3}")


def test_only_rules_and_the_codes_of_the_run_name_codes() -> None:
    named = []
    for path in sorted((ROOT / "tfmemlint").rglob("*.py")):
        if path == ROOT / "tfmemlint" / "model" / "codes.py":
            continue
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Constant) and isinstance(node.value, str) and _CODE.fullmatch(node.value):
                named.append(f"{path.relative_to(ROOT)}:{node.lineno}: {node.value}")
    assert named == [], "a rule says by an attribute of its own what others have to know of it (`rulekit/rule.py`)"


def test_each_defect_of_texts_is_reported_by_one_rule() -> None:
    reported = [defect for rule in rules() for defect in rule.text_defects]
    assert sorted(reported) == sorted(TextDefect)
