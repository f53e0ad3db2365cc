"""Findings for people: with source, trace and advice, or one line each."""

from __future__ import annotations

import textwrap
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from tfmemlint.model.finding import Applicability, Finding, Fix, Step
from tfmemlint.reporters.excerpt import excerpt, one_line
from tfmemlint.reporters.language import translate
from tfmemlint.reporters.paint import Line, Segment, printable

if TYPE_CHECKING:
    from tfmemlint.rulekit.rule import Rule
    from tfmemlint.sources import Source

PLAIN_WIDTH = 120
"""Columns of an excerpt if the output is not a terminal."""
_LABEL = 12
"""Columns of a label: those of the longest one, and an indent of two."""


def header(finding: Finding, rules: Mapping[str, Rule], unsafe: bool) -> Line:
    """Return ``path:row:column: error: TFM101 [*] message``.

    Place and severity are as compilers write them, which editors and CI read without being told how.
    """
    rule = rules.get(finding.code)
    line = [
        Segment(printable(finding.path), "path"),
        Segment(f"{_cell(finding)}:{finding.span.row}:{finding.span.column}: ", "mark"),
        Segment(translate(f"{finding.severity.value}:"), finding.severity.value),
        Segment(" "),
        Segment(finding.code, finding.severity.value, rule.url() if rule is not None else ""),
    ]
    if applicable(finding.fix, unsafe):
        line += [Segment(" "), Segment("[*]", "mark")]
    return [*line, Segment(f" {printable(translate(finding.message))}")]


def grouped(findings: Sequence[Finding], rules: Mapping[str, Rule], unsafe: bool) -> Iterator[Line]:
    """Yield the findings below the names of their files."""
    path = None
    for finding in findings:
        if finding.path != path:
            if path is not None:
                yield []
            path = finding.path
            yield [Segment(f"{printable(path)}:", "path")]
        place, *rest = header(finding, rules, unsafe)[1:]
        yield [Segment(f"  {place.text.lstrip(':')}", place.style), *rest]
    yield []


def applicable(fix: Fix | None, unsafe: bool) -> bool:
    """Return True if the fixer would apply ``fix``, with ``--unsafe-fixes`` or without."""
    if fix is None:
        return False
    return fix.applicability is Applicability.SAFE or (unsafe and fix.applicability is Applicability.UNSAFE)


def full(
    finding: Finding, sources: Mapping[str, Source], rules: Mapping[str, Rule], *, unsafe: bool, width: int | None
) -> Iterator[Line]:
    """Yield a finding with its source, its trace and its advice; ``width`` is the terminal's, None without a
    terminal."""
    style = finding.severity.value
    yield header(finding, rules, unsafe)
    place = f"{finding.path}{_cell(finding)}"
    source = sources.get(place)
    drawn = excerpt(source.lines, finding.span, width=width or PLAIN_WIDTH, style=style) if source is not None else None
    if drawn is not None:
        yield from drawn.lines
    shown = {(place, row) for row in drawn.rows} if drawn is not None else set()
    if finding.intent is not None:
        yield from _labelled("intent", finding.intent.describe(), width)
    if finding.outcome:
        yield from _labelled("TensorFlow", finding.outcome.removeprefix("TensorFlow "), width)
    if finding.advice:
        yield from _labelled("help", finding.advice, width)
    label = "trace"
    for step in finding.trace:
        yield from _step(label, step, sources, shown, width)
        label = ""
    for note in finding.notes:
        yield from _labelled("note", note, width)
    if finding.fix is not None:
        yield from _labelled("fix", _fix_words(finding.fix), width, "mark")
    if finding.withheld and finding.withheld != finding.advice:
        yield from _labelled("fix", f"withheld: {finding.withheld}", width, "mark")


def _cell(finding: Finding) -> str:
    return "" if finding.cell is None else f":cell {finding.cell}"


def _fix_words(fix: Fix) -> str:
    remarks = [] if fix.applicability is Applicability.SAFE else [_RISK[fix.applicability]]
    return f"{fix.message} ({'; '.join(remarks)})" if remarks else fix.message


_RISK = {Applicability.UNSAFE: "unsafe", Applicability.DISPLAY: "to be done by hand"}


def _wide(text: str) -> int:
    """Return how many columns a text takes beyond one for each character: those of Chinese take two."""
    return 0 if text.isascii() else sum(unicodedata.east_asian_width(letter) in "WF" for letter in text)


def _step(
    label: str, step: Step, sources: Mapping[str, Source], shown: set[tuple[str, int]], width: int | None
) -> Iterator[Line]:
    yield from _labelled(label, f"{step.path}:{step.span.row}:{step.span.column}: {translate(step.words)}", width)
    source = sources.get(step.path)
    place = (step.path, step.span.row)
    if source is None or place in shown or not 1 <= step.span.row <= len(source.lines):
        return
    shown.add(place)
    number = f"{step.span.row} | "
    indent = " " * (_LABEL + 4)
    room = (width or PLAIN_WIDTH) - len(indent) - len(number)
    text = one_line(source.lines[step.span.row - 1], step.span.column, room)
    yield [Segment(indent), Segment(number, "frame"), Segment(text, "dim")]


def _labelled(label: str, text: str, width: int | None, style: str = "label") -> Iterator[Line]:
    """Yield a label and its text; on a terminal the continuation of a long text is indented to its start."""
    shown, text = translate(f"{label}:"), printable(translate(text))
    head = Segment(f"{shown} ".rjust(_LABEL + 2 - _wide(shown)) if label else " " * (_LABEL + 2), style)
    if width is None or len(text) <= width - _LABEL - 2:
        yield [head, Segment(text)]
        return
    room = max(20, width - _LABEL - 2)
    first, *rest = textwrap.wrap(text, room, break_long_words=False, break_on_hyphens=False) or [""]
    yield [head, Segment(first)]
    for line in rest:
        yield [Segment(" " * (_LABEL + 2)), Segment(line)]
