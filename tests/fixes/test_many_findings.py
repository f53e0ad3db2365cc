"""Many findings in one file: the file is parsed once a round, and checked twice."""

from __future__ import annotations

from collections import Counter

import libcst as cst
import pytest

from tfmemlint.engine.check_source import check_source
from tfmemlint.fixes.concrete_tree import tree_of
from tfmemlint.fixes.loop import Options, fix_source
from tfmemlint.knowledge.releases import Target
from tfmemlint.model.finding import Finding, Severity
from tfmemlint.rulekit.rule import rules
from tfmemlint.sources import Source

DEFAULT = [rule for rule in rules() if rule.severity is not Severity.ADVICE]
HEAD = "import tensorflow as tf\n\n"
FUNCTION = 'def used_{}():\n    return tf.config.experimental.get_memory_info("GPU:0")["used"]\n\n\n'


@pytest.mark.parametrize("findings", [5, 40])
def test_the_file_is_parsed_once_and_only_what_changes_is_visited(
    findings: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    counts: Counter[str] = Counter()
    parse, visit = cst.parse_module, cst.FunctionDef._visit_and_replace_children

    def parsed(text: str) -> cst.Module:
        counts["parses"] += 1
        return parse(text)

    def visited(self: cst.FunctionDef, visitor: cst.CSTVisitorT) -> cst.FunctionDef:
        counts["functions"] += isinstance(visitor, cst.CSTTransformer)
        return visit(self, visitor)

    def check(source: Source) -> list[Finding]:
        counts["checks"] += 1
        return check_source(source, DEFAULT, Target.newest())

    tree_of.cache_clear()
    monkeypatch.setattr(cst, "parse_module", parsed)
    monkeypatch.setattr(cst.FunctionDef, "_visit_and_replace_children", visited)
    text = HEAD + "".join(FUNCTION.format(number) for number in range(findings))
    fixed = fix_source(
        Source("many.py", text), rules=DEFAULT, target=Target.newest(), check=check, options=Options(unsafe=True)
    )
    assert len(fixed.applied) == findings and not fixed.findings
    assert counts["checks"] == 2
    assert counts["parses"] == 1
    assert counts["functions"] <= 2 * findings, "each rewrite visits its own function"
