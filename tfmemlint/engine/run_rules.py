"""Run rules on a program."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from tfmemlint.engine.trouble import internal_error

if TYPE_CHECKING:
    from tfmemlint.interpreter.program import Program
    from tfmemlint.model.finding import Finding
    from tfmemlint.rulekit.rule import Rule


def run_rules(program: Program, rules: Sequence[Rule]) -> Iterator[Finding]:
    """Yield what ``rules`` find in a program.

    In modules other than the one that is run, only rules about a whole program report: for all others, each module is
    checked on its own. A rule that fails is a finding itself, and the others go on.
    """
    for rule in rules:
        try:
            for finding in rule.check(program):
                if rule.whole_program or finding.path == program.source.path:
                    yield finding
        except Exception as error:  # a rule that fails must not take the run with it
            yield from internal_error(program.source.path, rule.code, error, rules)
