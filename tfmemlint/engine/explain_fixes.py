"""Say of the findings that are left what a fix would do, or why there is none."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from tfmemlint.engine.fix_file import outside
from tfmemlint.engine.subjects import subject_of_result

if TYPE_CHECKING:
    from tfmemlint.engine.context import RunContext
    from tfmemlint.engine.results import FileResult, ProgramResult

MAX_EXPLAINED_FINDINGS = 40
"""Findings for which a report for people says what the fix would do. Nobody reads more than that one by one, and each
takes 7 ms at the median of the fixtures, of which checking one takes 1 ms."""


def explain_results(results: list[FileResult], context: RunContext, programs: Sequence[ProgramResult] = ()) -> None:
    """Give the findings their fixes, or the reasons why they have none, where the context asks for that."""
    if context.fix or context.explain_fixes == "never":
        return
    fixable = sum(finding.fixable for result in results for finding in result.findings)
    if not fixable or (context.explain_fixes == "few" and fixable > MAX_EXPLAINED_FINDINGS):
        return
    from tfmemlint.project.importers import nothing_is_written

    with nothing_is_written():
        for result in results:
            if result.source is not None and result.findings and not outside(result.path, context):
                own = context.at(result.path)
                result.findings = subject_of_result(result).explain(result.findings, own.fix_options(), own)
        if programs:
            from tfmemlint.engine.program_repairs import explain_across

            explain_across(results, programs, context)
