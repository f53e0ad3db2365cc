"""The findings to report, of all that were found in one text: each once, without those that comments silence."""

from __future__ import annotations

import dataclasses
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from tfmemlint.engine.trouble import trouble
from tfmemlint.model.codes import NO_REASON, RUN_CODES, UNKNOWN_CODE, UNUSED
from tfmemlint.model.finding import Finding, Severity, Span
from tfmemlint.sources.suppressions import (
    FILE_IGNORE,
    IGNORE,
    NOQA,
    SKIP_FILE,
    WORDS,
    Suppressions,
    read_suppressions,
)

if TYPE_CHECKING:
    from tfmemlint.rulekit.rule import Rule
    from tfmemlint.sources import Source

_NOT_A_LIST = "The rules of this comment are not in [ and ]: it silences {what}"
_GRAVITY = {Severity.ERROR: 0, Severity.WARNING: 1, Severity.ADVICE: 2}


def dedupe_and_suppress(
    source: Source, found: Sequence[Finding], rules: Sequence[Rule], *, keep_suppressed: bool = False
) -> list[Finding]:
    """Return the findings to report in one text, in order, and those about its comments.

    Args:
        source: the text.
        found: all that was found; what other rules than ``rules`` found only says which comments are used.
        rules: the selected rules.
        keep_suppressed: also return what comments silence, marked so.
    """
    suppressions = read_suppressions(source.text, python=source.language == "python")
    if suppressions.skip_file:
        return []
    if suppressions.has_names:
        from tfmemlint.rulekit.rule import rules as all_rules

        suppressions = suppressions.with_codes({rule.name: rule.code for rule in all_rules()})
    codes = {rule.code for rule in rules} | RUN_CODES
    selected = dedupe([finding for finding in found if finding.code in codes], rules)
    others = [finding for finding in found if finding.code not in codes]
    kept = [
        *_suppress(selected, suppressions, keep=keep_suppressed),
        *_about_comments(selected + others, suppressions, rules, source),
    ]
    return sorted(kept, key=lambda finding: finding.sort_key)


def judges_comments(text: str, rules: Sequence[Rule], *, python: bool = True) -> bool:
    """Return True if it has to be known what every rule finds in a text: its comments silence some, and whether they
    are needed is asked."""
    return any(rule.code == UNUSED for rule in rules) and bool(read_suppressions(text, python=python).comments)


def unselected(rules: Sequence[Rule]) -> list[Rule]:
    """Return all other rules."""
    from tfmemlint.rulekit.rule import rules as all_rules

    codes = {rule.code for rule in rules}
    return [rule for rule in all_rules() if rule.code not in codes]


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


def _suppress(found: Sequence[Finding], suppressions: Suppressions, *, keep: bool) -> Iterator[Finding]:
    """Yield the findings that no comment silences, and with ``keep`` the others, marked."""
    for finding in found:
        comment = None if finding.code in RUN_CODES else suppressions.for_finding(finding)
        if comment is None:
            yield finding
        elif keep:
            yield dataclasses.replace(finding, suppressed=comment.reason)


def _about_comments(
    found: Sequence[Finding], suppressions: Suppressions, rules: Sequence[Rule], source: Source
) -> Iterator[Finding]:
    """Yield what is wrong with the comments themselves: unknown words and codes, lists that are none, those that
    silence nothing, those without a reason."""
    for word, span in suppressions.unknown:
        message = f"{word!r} after tfmemlint: means nothing{_near_word(word)}"
        yield from trouble(rules, UNKNOWN_CODE, source.path, span, message)
    if not suppressions.comments:
        return
    used = {
        (comment.row, span)
        for finding in found
        if (comment := suppressions.for_finding(finding)) is not None and finding.code not in RUN_CODES
        for code, span in comment.codes
        if finding.code.startswith(code)
    }
    from tfmemlint.rulekit.rule import codes as all_codes

    known = all_codes()
    for comment in suppressions.comments:
        own = [code for code, _ in comment.codes if comment.word != NOQA or code.startswith("TFM")]
        if comment.broken:
            message = _NOT_A_LIST.format(what=f"{', '.join(own)} only" if own else "nothing")
            yield from trouble(rules, UNKNOWN_CODE, source.path, comment.span, message)
        if not comment.reason and (own or (comment.word != NOQA and not comment.codes and not comment.listed)):
            message = f"This comment silences {', '.join(own) or 'everything'} and gives no reason"
            yield from trouble(rules, NO_REASON, source.path, comment.span, message)
        for code, span in comment.codes:
            if comment.word == NOQA and not code.startswith("TFM"):
                continue
            if not any(each.startswith(code) for each in known):
                message = f"{code} in this comment is not a rule: it silences nothing{_near_rule(code)}"
                yield from trouble(rules, UNKNOWN_CODE, source.path, span, message)
            elif (comment.row, span) not in used:
                where = "in this file" if comment.word == FILE_IGNORE else "here"
                message = f"{code} is silenced here, but nothing {where} triggers it"
                for finding in trouble(rules, UNUSED, source.path, span, message):
                    yield dataclasses.replace(finding, fixable=True)


def _near_word(word: str) -> str:
    import difflib

    meant = {"disable": IGNORE, "noqa": IGNORE, "skip": SKIP_FILE, "file-skip": SKIP_FILE, "off": IGNORE}
    near = difflib.get_close_matches(word.lower().replace("_", "-"), WORDS, n=1)
    found = meant.get(word.lower()) or (near[0] if near else "")
    return f"; did you mean {found}?" if found else f"; there are {', '.join(WORDS)}"


def _near_rule(code: str) -> str:
    import unicodedata

    from tfmemlint.config.selection import suggestion
    from tfmemlint.rulekit.rule import rules as all_rules

    near = suggestion(unicodedata.normalize("NFKC", code), all_rules())
    return f"; did you mean {near}?" if near else ""
