"""The findings to report, of all that were found in one text: each once, without those that comments silence."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from typing import TYPE_CHECKING

from tfmemlint.engine.trouble import trouble
from tfmemlint.model.codes import RUN_CODES, UNKNOWN_CODE, UNUSED
from tfmemlint.model.finding import Finding, Severity, Span
from tfmemlint.sources.suppressions import Suppressions, read_suppressions

if TYPE_CHECKING:
    from tfmemlint.rulekit.rule import Rule
    from tfmemlint.sources import Source

_GRAVITY = {Severity.ERROR: 0, Severity.WARNING: 1, Severity.ADVICE: 2}


def dedupe_and_suppress(source: Source, found: Sequence[Finding], rules: Sequence[Rule]) -> list[Finding]:
    """Return the findings to report in one text, in order, and those about its comments."""
    suppressions = read_suppressions(source.text, python=source.language == "python")
    if suppressions.skip_file:
        return []
    kept = _suppress(dedupe(found, rules), suppressions, rules, source)
    return sorted(kept, key=lambda finding: finding.sort_key)


def dedupe(found: Sequence[Finding], rules: Sequence[Rule]) -> list[Finding]:
    """Return one finding a place: of equal ones the gravest with the shortest trace, of related ones the most specific.

    ``rules`` say which findings supersede which: at their own place, and at the anchors whose names begin with
    "covers".
    """
    best: dict[tuple[str, str, Span], Finding] = {}
    for finding in found:
        key = (finding.code, finding.path, finding.span)
        known = best.get(key)
        if known is None or _weight(finding) < _weight(known):
            best[key] = finding
    kept = list(best.values())
    by_code = {rule.code: rule.supersedes for rule in rules}
    # What lies within a finding begins within it: the others need not be compared.
    kept_by_place = sorted(kept, key=lambda finding: (finding.span.row, finding.span.column))
    starts = [(finding.span.row, finding.span.column) for finding in kept_by_place]
    superseded: set[int] = set()
    for outer in kept_by_place:
        covered = [span for name, span in outer.anchors.items() if name.startswith("covers")]
        for span in (outer.span, *covered):
            first, last = (
                bisect_left(starts, (span.row, span.column)),
                bisect_right(starts, (span.end_row, span.end_column)),
            )
            for inner in kept_by_place[first:last]:
                if not span.contains(inner.span):
                    continue
                if inner.code in by_code.get(outer.code, ()):
                    superseded.add(id(inner))
                if span is outer.span and outer.code in by_code.get(inner.code, ()):
                    superseded.add(id(outer))
    return [finding for finding in kept if id(finding) not in superseded]


def _weight(finding: Finding) -> tuple[int, int, str]:
    return _GRAVITY[finding.severity], len(finding.trace), finding.message


def _suppress(
    found: Sequence[Finding], suppressions: Suppressions, rules: Sequence[Rule], source: Source
) -> list[Finding]:
    """Return the findings that no comment silences, and those about the comments themselves."""
    if not suppressions.comments:
        return list(found)
    kept: list[Finding] = []
    used: set[str] = set()
    for finding in found:
        comment = suppressions.for_finding(finding)
        if comment is None or finding.code in RUN_CODES:
            kept.append(finding)
        else:
            used.update(f"{comment.row}:{span}" for code, span in comment.codes if finding.code.startswith(code))
    from tfmemlint.rulekit.rule import codes as all_codes

    known = all_codes()
    for comment in suppressions.comments:
        for code, span in comment.codes:
            if not code.startswith("TFM"):
                continue
            if not any(each.startswith(code) for each in known):
                message = f"{code} in this comment is no rule: it silences nothing"
                kept.extend(trouble(rules, UNKNOWN_CODE, source.path, span, message))
            elif f"{comment.row}:{span}" not in used and any(rule.code.startswith(code) for rule in rules):
                message = f"{code} is silenced here, and nothing of the kind is found here"
                kept.extend(trouble(rules, UNUSED, source.path, span, message))
    return kept
