"""Findings about TensorFlow in text that cannot be parsed as a program: names and values in sentences, in code that
does not parse, in comments of configuration files.

Each finding has the code of the rule that knows the defect. A sentence is less certain evidence than a program, so all
findings are warnings. A sentence that says that a name does not exist, a quoted error, a question and a list of removed
names are left alone.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Collection, Iterable, Sequence
from typing import TYPE_CHECKING

from tfmemlint.model.patterns import late_pattern
from tfmemlint.model.text_defect import TextDefect
from tfmemlint.text_checks.mention import Mention

if TYPE_CHECKING:
    from tfmemlint.knowledge.releases import Target
    from tfmemlint.model.finding import Finding
    from tfmemlint.rulekit.rule import Rule

_COMMENT = late_pattern(r"(?:^|(?<=\s))#.*")
_COMMENTS = ("<!--", "..", "#", "//", "[//]", "{/*")
"""The first characters of comment lines in documents of all kinds."""

__all__ = ["Mention", "findings", "mentions"]


def mentions(
    text: str,
    target: Target,
    *,
    whole: str | None = None,
    code: Collection[int] = (),
    own: Collection[str] = (),
) -> list[Mention]:
    """Return the defects in a text, in the order of rows and columns.

    Args:
        text: the text; rows that were checked in another way may be empty.
        target: the release that it is for.
        whole: the whole text that contains ``text`` and shows its subject; ``text`` by default.
        code: rows that are known to be code.
        own: variables that something other than TensorFlow reads.
    """
    from tfmemlint.text_checks import apis, broken, values, variables
    from tfmemlint.text_checks.reading import Reading

    reading = Reading(text, text if whole is None else whole, code)
    if not reading.about_tensorflow:
        return []
    found: list[Mention] = []
    for scan in (apis.scan, values.scan, broken.scan):
        found += scan(reading, target)
    # The readers of configuration files accept such a line as it is meant, so it is searched for in all of them.
    everywhere = reading if whole is None else Reading(whole, whole, code)
    found += variables.two_on_a_line(everywhere)
    found += variables.scan(reading, own)
    return _once(found)


def findings(
    path: str,
    text: str,
    rules: Iterable[Rule],
    target: Target,
    *,
    whole: str | None = None,
    code: Collection[int] = (),
    own: Collection[str] = (),
) -> list[Finding]:
    """Return `mentions` as findings of those ``rules`` that know the defects; unreadable code is always reported."""
    from tfmemlint.model.codes import RUN_CODES
    from tfmemlint.rulekit.rule import rules as all_rules

    found = mentions(text, target, whole=whole, code=code, own=own)
    if not found:
        return []
    reporters = {
        **_reporters(rule for rule in all_rules() if rule.code in RUN_CODES),
        **_reporters(rules),
    }
    reported = [mention.as_finding(path, reporters[mention.defect]) for mention in found if mention.defect in reporters]
    return [finding for finding in reported if not silenced(text if whole is None else whole, finding)]


def _reporters(rules: Iterable[Rule]) -> dict[TextDefect, Rule]:
    """Return the rule that reports each defect."""
    return {defect: rule for rule in rules for defect in rule.text_defects}


def in_comments(path: str, text: str, rules: Iterable[Rule], target: Target) -> list[Finding]:
    """Return the made-up names in the comments of a configuration file: advice, as in comments of Python."""
    from tfmemlint.model.finding import Severity
    from tfmemlint.text_checks import apis
    from tfmemlint.text_checks.reading import Reading

    reporter = _reporters(rules).get(TextDefect.MADE_UP_MENTION)
    if reporter is None or "tf." not in text:
        return []
    lines = []
    for line in text.split("\n"):
        comment = _COMMENT.search(line)
        # As a sentence: the comment's mark would make it code.
        lines.append(" " * (comment.start() + 1) + comment[0][1:] if comment is not None else "")
    reading = Reading("\n".join(lines), text)
    found = [mention for mention in apis.scan(reading, target) if mention.defect is not TextDefect.OTHER_RELEASE]
    reported = [
        dataclasses.replace(mention.as_finding(path, reporter), severity=Severity.ADVICE) for mention in _once(found)
    ]
    return [finding for finding in reported if not silenced(text, finding)]


def silenced(text: str, finding: Finding) -> bool:
    """True if a comment silences a finding: in its line, or above the paragraph that it is in
    (``<!-- tfmemlint: ignore[TFM208] -->``)."""
    if "tfmemlint:" not in text:
        return False
    from tfmemlint.sources.documents.block_builder import codes_in

    lines = text.split("\n")
    row = finding.span.row - 1
    codes = list(codes_in(lines[row]))
    while row > 0 and lines[row - 1].strip():
        row -= 1
        codes += codes_in(lines[row]) if lines[row].lstrip().startswith(_COMMENTS) else ()
    while row > 0 and not lines[row - 1].strip():
        row -= 1
    if row > 0 and lines[row - 1].lstrip().startswith(_COMMENTS):
        codes += codes_in(lines[row - 1])
    return any(code == "*" or finding.code.startswith(code) for code in codes)


def _once(found: Sequence[Mention]) -> list[Mention]:
    """Return the mentions without those at the same place as an earlier one."""
    kept: list[Mention] = []
    places: dict[tuple[int, int], list[Mention]] = {}
    for mention in found:
        # Only mentions nearby can be at the same place.
        row, stretch = mention.span.row, mention.span.column // 512
        near = [earlier for at in (stretch - 1, stretch, stretch + 1) for earlier in places.get((row, at), ())]
        if not any(mention.span.contains(earlier.span) or earlier.span.contains(mention.span) for earlier in near):
            places.setdefault((row, stretch), []).append(mention)
            kept.append(mention)
    return sorted(kept, key=lambda mention: (mention.span, mention.defect))
