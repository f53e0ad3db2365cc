"""Notebooks that show several ways to configure the GPUs, one in each cell: whoever reads them runs one of these."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from tfmemlint.fixes.compute_fix import withheld
from tfmemlint.fixes.finding_places import Place, place
from tfmemlint.model.finding import Finding
from tfmemlint.model.intent import Purpose

if TYPE_CHECKING:
    from tfmemlint.sources import Source

REASON = "the notebook shows several ways to configure the GPUs, each in a cell of its own"


def shown_ways(source: Source, findings: Sequence[Finding]) -> dict[Place, str]:
    """Return the late configurations of a notebook whose cells show different ways, with the reason to leave them.

    A GPU can't have memory growth and a limit, nor two limits: cells that ask for both are not to be run together.
    """
    if not hasattr(source, "cell_of"):
        return {}
    cells: dict[Purpose, set[int]] = {}
    late = [finding for finding in findings if "parting" in finding.details and finding.intent is not None]
    for finding in late:
        found = source.cell_of(finding.span.row)
        if found is not None and finding.intent is not None:
            cells.setdefault(finding.intent.purpose, set()).add(found[0])
    growth, limits = cells.get(Purpose.GROWTH, set()), cells.get(Purpose.LIMIT, set())
    if len(limits) > 1 or (growth and limits and growth != limits):
        return {place(finding): REASON for finding in late}
    return {}


def with_reasons(findings: Sequence[Finding], reasons: Mapping[Place, str]) -> list[Finding]:
    """Return findings, those with a reason to be left without a fix."""
    return [
        withheld(finding, reasons[place(finding)]) if place(finding) in reasons else finding for finding in findings
    ]
