"""Print what would lower a script's memory."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tfmemlint.fit.what_helps import ChangedRun
from tfmemlint.reporters.paint import Line, Segment, printable

if TYPE_CHECKING:
    from tfmemlint.fit.measure import FitResult


def lines_of(found: FitResult) -> list[Line]:
    """Return a line for each change with which the script was run, that with the lowest peak first."""
    if not found.helps:
        return []
    before = max((device.peak or 0 for device in found.measured.devices), default=0)
    lines: list[Line] = [[Segment("  "), Segment("what would help", "label"), Segment(" (each was run):")]]
    known = sorted((run for run in found.helps if run.peak), key=lambda run: run.peak or 0)
    lines += [_known(run, before) for run in known]
    lines += [
        [Segment(f"    {'':>12}  {run.change}: "), Segment(printable(run.problem), "dim")]
        for run in found.helps
        if not run.peak
    ]
    return lines


def _known(run: ChangedRun, before: int) -> Line:
    peak = run.peak or 0
    change = f"{(peak - before) / before:+.0%}" if before else ""
    style = "good" if peak < before * 0.99 else "error" if peak > before * 1.01 else "dim"
    fits = "" if run.fits else ", does not fit"
    return [
        Segment(f"    {f'{peak / 2**20:,.0f} MiB':>12}  {run.change} "),
        Segment(f"({change}{fits})", style),
        Segment(f": {run.words}", "dim"),
    ]
