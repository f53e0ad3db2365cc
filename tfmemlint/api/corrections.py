"""Corrections as the command writes them (docs/corrections.md), for a text or for files."""

from __future__ import annotations

import os

from tfmemlint.api.convert import sources_of
from tfmemlint.api.functions import runs
from tfmemlint.api.request import Codes, Options, Paths, analysis, parse_source


def corrections(
    source: str | Paths,
    *,
    path: str | os.PathLike[str] | None = None,
    target_version: str | None = None,
    select: Codes | None = None,
) -> str:
    """Return the JSON of ``check --output-format corrections``; arguments and errors are those of `tfmemlint.check`.

    Paths must have one configuration file in common: the others are left out.
    """
    from tfmemlint.reporters.cells import in_cells
    from tfmemlint.reporters.corrections import write_corrections
    from tfmemlint.reporters.formats import Report
    from tfmemlint.rulekit.rule import rules

    with analysis():
        given = parse_source(source, path)
        options = Options(select=select, target_version=target_version)
        results, context, _ = runs(given, options, explain_fixes="always")[0]
        found = [finding for result in results for finding in result.findings]
        found.sort(key=lambda finding: finding.sort_key)
        findings, sources = in_cells(found, sources_of(results, found, context))
        by_code = {rule.code: rule for rule in rules()}
        return write_corrections(Report(findings, sources, by_code, context.target_of))
