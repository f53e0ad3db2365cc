"""Many findings in one file: the file is parsed once a round, and checked twice."""

from __future__ import annotations

from collections import Counter

import libcst as cst
import pytest

from tests.processor_time import assert_linear
from tfmemlint.engine.check_source import check_source
from tfmemlint.fixes.compute_fix import Options
from tfmemlint.fixes.concrete_tree import tree_of
from tfmemlint.fixes.loop import fix_source
from tfmemlint.knowledge.releases import Target
from tfmemlint.model.finding import Finding, Severity
from tfmemlint.rulekit.rule import rules
from tfmemlint.sources import Source

DEFAULT = [rule for rule in rules() if rule.severity is not Severity.ADVICE]
LATE = """
gpus_{0} = tf.config.list_physical_devices("GPU")
for gpu in gpus_{0}:
    tf.config.experimental.set_memory_growth(gpu, True)
"""
NEVER_RUN = """
def work_{0}():
    x = tf.zeros([{0}])
    for gpu in tf.config.list_physical_devices("GPU"):
        tf.config.experimental.set_memory_growth(gpu, True)
    return x

"""
BROKEN_LINES = "tf.config.experimental.set_memory_limit(0, 0 * {0} + 1024)\n"
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


def _fix(count: int, start: str, each: str) -> None:
    source = Source("many.py", HEAD + start + "".join(each.format(number) for number in range(count)))
    fixed = fix_source(
        source,
        rules=DEFAULT,
        target=Target.newest(),
        check=lambda source: check_source(source, DEFAULT, Target.newest()),
        options=Options(unsafe=True),
    )
    # Calls that set the same value again are right as soon as the first of them is in time.
    assert fixed.applied and not fixed.findings


@pytest.mark.slow
@pytest.mark.parametrize(
    ("start", "each"),
    [
        pytest.param("START = tf.zeros([2])\n", LATE, id="late calls"),
        pytest.param("", NEVER_RUN, id="functions that nothing calls"),
        pytest.param("", BROKEN_LINES, id="new code in several lines"),
    ],
)
def test_twice_as_many_findings_cost_twice_as_much(start: str, each: str) -> None:
    assert_linear(lambda: _fix(60, start, each), lambda: _fix(120, start, each))
