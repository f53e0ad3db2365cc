"""Fixes are tried, kept where they help, and undone where they don't."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, ClassVar

import libcst as cst

from tfmemlint.fixes.compute_fix import Options, compute
from tfmemlint.fixes.editor import Editor
from tfmemlint.fixes.loop import Fixed, fix_source
from tfmemlint.interpreter.program import Program
from tfmemlint.knowledge.releases import Target
from tfmemlint.model.finding import Applicability, Finding, Severity, Span
from tfmemlint.rulekit.rule import Rule
from tfmemlint.sources import Source, decode

UNSAFE = Options(unsafe=True)


class Word(Rule):
    """Every call of one name is wrong, and becomes a call of another."""

    code = "T1"
    name = "word"
    severity = Severity.ERROR
    fixable = "always"
    wrong: ClassVar[str] = "bad"
    right: ClassVar[str] = "good()"
    safe: ClassVar[bool] = True

    def check(self, program: Program) -> Iterator[Finding]:
        """Not used here."""
        return iter(())

    def found(self, source: Source) -> Iterator[Finding]:
        """The calls in a text."""
        for row, line in enumerate(source.text.split("\n"), 1):
            for match in re.finditer(rf"\b{self.wrong}\(\)", line):
                span = Span(row, match.start() + 1, row, match.end() + 1)
                yield Finding(self.code, self.name, self.severity, source.path, span, f"{self.wrong}!", fixable=True)

    def fix(self, finding: Finding, editor: Editor) -> None:
        """The other name."""
        editor.replace(editor.call_at(finding.span, self.wrong), self.right)
        editor.applicability = Applicability.SAFE if self.safe else Applicability.UNSAFE


def rule(**fields: Any) -> Word:
    """A rule with other fields."""
    made: type[Word] = type("Other", (Word,), fields)
    return made()


def fixed(text: str, *rules: Word, options: Options = UNSAFE) -> Fixed:
    """The outcome for a text."""

    def check(source: Source) -> list[Finding]:
        return sorted((one for each in rules for one in each.found(source)), key=lambda one: one.sort_key)

    source = decode("f.py", text.encode())
    outcome = fix_source(source, rules=rules, target=Target.newest(), check=check, options=options)
    again = decode("f.py", outcome.text.encode())
    assert fix_source(again, rules=rules, target=Target.newest(), check=check, options=options).text == outcome.text
    return outcome


def test_a_fix_that_leaves_the_finding_is_undone() -> None:
    outcome = fixed("bad()\n", rule(right="other(bad())"))
    assert outcome.text == "bad()\n"
    assert [finding.withheld for finding in outcome.findings] == ["the finding would still be there"]
    assert not outcome.applied


def test_a_fix_that_brings_another_error_is_undone() -> None:
    outcome = fixed("bad()\n", rule(right="worse()"), rule(code="T2", wrong="worse", right="worse(1, worse())"))
    assert outcome.text == "bad()\n"
    assert outcome.findings[0].withheld == "the fix would bring T2: worse!"


def test_an_error_that_can_be_mended_in_turn_is_no_obstacle() -> None:
    outcome = fixed("bad()\n", rule(right="worse()"), rule(code="T2", wrong="worse", right="good()"))
    assert outcome.text == "good()\n"
    assert [fix.code for fix in outcome.applied] == ["T1", "T2"]


def test_fixes_that_undo_each_other_come_to_an_end() -> None:
    kinds = rule(right="worse()", severity=Severity.WARNING), rule(code="T2", wrong="worse", right="bad()")
    outcome = fixed("bad()\n", *kinds)
    assert outcome.text in ("bad()\n", "worse()\n")
    assert [finding.withheld for finding in outcome.findings] != [""]


def test_an_unsafe_fix_is_made_only_when_asked_for() -> None:
    outcome = fixed("bad()\n", rule(safe=False), options=Options())
    assert outcome.text == "bad()\n"
    (left,) = outcome.findings
    assert left.withheld == "unsafe: needs --unsafe-fixes"
    assert fixed("bad()\n", rule(safe=False)).text == "good()\n"


def test_a_rule_that_crashes_withholds_its_fix_only() -> None:
    def crash(self: Word, finding: Finding, editor: Editor) -> None:
        raise KeyError("oops")

    outcome = fixed("bad()\nevil()\n", rule(fix=crash), rule(code="T2", wrong="evil"))
    assert outcome.text == "bad()\ngood()\n"
    assert outcome.findings[0].withheld == "the rewriter failed: KeyError: 'oops'"


def test_a_fix_that_does_not_parse_is_withheld() -> None:
    outcome = fixed("bad().x = 1\n", rule(fix=lambda self, finding, editor: _spoil(editor)))
    assert outcome.text == "bad().x = 1\n"
    assert outcome.findings[0].withheld == "the new code would not parse"


def _spoil(editor: Editor) -> None:
    editor.replace(editor.node_at(Span(1, 1, 1, 8), cst.Attribute), "3")


def test_every_finding_of_a_line_is_fixed() -> None:
    outcome = fixed("f(bad(), bad())\nbad()\n" * 20, rule())
    assert outcome.text == "f(good(), good())\ngood()\n" * 20
    assert len(outcome.applied) == 60
    assert outcome.findings == []


def test_fixes_that_add_the_same_import_add_it_once() -> None:
    def imported(self: Word, finding: Finding, editor: Editor) -> None:
        call = editor.call_at(finding.span)
        editor.replace(call, f"{editor.tf('tf.config.x')}()")
        editor.needs.add("tensorflow")

    outcome = fixed("import os\n\nbad()\nx = 1\nbad()\n", rule(fix=imported))
    assert outcome.text == "import os\nimport tensorflow as tf\n\ntf.config.x()\nx = 1\ntf.config.x()\n"
    assert outcome.needs == {"tensorflow"}


def test_a_computed_fix_is_a_difference_of_lines() -> None:
    one = rule()
    source = decode("f.py", b"a()\nbad()\n")
    (finding,) = one.found(source)
    done = compute(source, finding, one, Target.newest(), Options())
    assert done.fix is not None
    assert [(edit.span, edit.content) for edit in done.fix.edits] == [(Span(2, 1, 3, 1), "good()\n")]
