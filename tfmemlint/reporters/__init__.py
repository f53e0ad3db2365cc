"""Reports: for people (``full``, ``concise``, ``grouped``) and for programs (all others)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence

TYPE_CHECKING = False  # a run that finds nothing imports no report
if TYPE_CHECKING:
    from typing import IO

    from tfmemlint.knowledge.releases import Target
    from tfmemlint.model.finding import Finding
    from tfmemlint.reporters.paint import Line
    from tfmemlint.reporters.summary import Summary
    from tfmemlint.rulekit.rule import Rule
    from tfmemlint.sources import Source

__all__ = ["close", "render", "statistics"]


def render(
    findings: Sequence[Finding],
    sources: Mapping[str, Source],
    *,
    output_format: str,
    stream: IO[str],
    color: bool | None = None,
    rules: Mapping[str, Rule],
    verbose: bool = False,
    quiet: bool = False,
    summary: Summary,
    target_of: Callable[[str], Target] | None = None,
    suppressed: Sequence[Finding] = (),
    not_followed: Sequence[tuple[str, str]] = (),
) -> None:
    """Print ``findings`` to ``stream`` in their order and, in formats for people, the closing lines.

    Args:
        findings: the remaining findings, in the order to print.
        sources: the texts of the files, by the paths of the findings; a finding without a text is printed without an
            excerpt.
        output_format: one of `FORMATS`.
        color: True for colour; None for colour on a terminal, NO_COLOR and FORCE_COLOR permitting.
        rules: by code, for the links.
        verbose: print how many files were checked.
        quiet: print findings only.
        summary: the result of the run; its ``unsafe`` decides whether an unsafe fix counts as available.
        target_of: returns the release that a file was judged for, by its path; the newest by default. For
            ``corrections``.
        suppressed: the findings that comments silence, for the formats that show them.
        not_followed: the files that were not followed to their end, each with the reason. Formats for people have their
            number in the closing lines.

    Raises:
        ValueError: the format is not in `FORMATS`.
    """
    from tfmemlint.knowledge.releases import Target
    from tfmemlint.reporters.formats import Report, format_named
    from tfmemlint.reporters.paint import columns, painter, write

    chosen = format_named(output_format)
    if not chosen.for_people:
        judged_for = target_of or (lambda _: Target.newest())
        write(stream, chosen.write(Report(findings, sources, rules, judged_for, suppressed, not_followed)))
        return
    paint = painter(stream, color)
    if findings:
        from tfmemlint.reporters import people

        width = columns(stream)
        if output_format == "grouped":
            paint(people.grouped(findings, rules, summary.unsafe))
            findings = ()
        for finding in findings:
            if output_format == "concise":
                paint([people.header(finding, rules, summary.unsafe)])
            else:
                paint([*people.full(finding, sources, rules, unsafe=summary.unsafe, width=width), []])
    if not quiet:
        paint(summary.lines(reasons_shown=output_format == "full", verbose=verbose))


def close(summary: Summary, stream: IO[str], *, color: bool | None = None, verbose: bool = False) -> None:
    """Print the closing lines alone, as after ``--statistics`` or ``fix --diff``."""
    from tfmemlint.reporters.paint import painter

    painter(stream, color)(summary.lines(reasons_shown=False, verbose=verbose))


def statistics(
    findings: Iterable[Finding],
    stream: IO[str],
    output_format: str = "full",
    *,
    unsafe: bool = False,
    color: bool | None = None,
) -> None:
    """Print how often each rule fires, the most frequent first: as a table, or as JSON if the format is JSON."""
    from tfmemlint.reporters.paint import Segment, painter, write
    from tfmemlint.reporters.people import applicable

    every = list(findings)
    names = {finding.code: finding.name for finding in every}
    from tfmemlint.reporters.formats import format_named

    fixable = Counter(finding.code for finding in every if applicable(finding.fix, unsafe))
    counts = sorted(Counter(finding.code for finding in every).items(), key=lambda item: (-item[1], item[0]))
    if format_named(output_format).is_json:
        import json

        rows = [
            {
                "code": code,
                "name": names[code],
                "count": count,
                "fixable": fixable[code] == count,
                "fixable_count": fixable[code],
            }
            for code, count in counts
        ]
        write(stream, (json.dumps(rows, indent=2) if rows else "[]") + "\n")
        return
    digits = max((len(str(count)) for _, count in counts), default=0)
    lines: list[Line] = []
    for code, count in counts:
        mark = "[*]" if fixable[code] == count else "[-]" if fixable[code] else "[ ]"
        if not fixable:
            mark = ""
        severities = {finding.severity.value for finding in every if finding.code == code}
        style = next(each for each in ("error", "warning", "advice") if each in severities)
        line = [Segment(f"  {count:>{digits}}  ", "label"), Segment(code, style), Segment("  ")]
        lines.append(
            [
                *line,
                *([Segment(mark, "mark" if "*" in mark else "dim"), Segment(" ")] if mark else []),
                Segment(names[code]),
            ]
        )
    painter(stream, color)(lines)
