"""What a text says of TensorFlow where it can't be read as a program: names and values in sentences, in code that does
not parse, in comments of configuration files.

Each thing that is wrong has the code of the rule that knows it. What a sentence says is less certain than what a
program does, so that all of it are warnings; and a sentence that says of a name that it does not exist, a quoted error,
a question, a list of what was removed are left alone.
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Collection, Iterable, Sequence
from typing import TYPE_CHECKING

from tfmemlint.model.text_defect import TextDefect
from tfmemlint.text_checks.mention import Mention

if TYPE_CHECKING:
    from tfmemlint.knowledge.releases import Target
    from tfmemlint.model.finding import Finding
    from tfmemlint.rulekit.rule import Rule

_COMMENT = re.compile(r"(?:^|(?<=\s))#.*")
_COMMENTS = ("<!--", "..", "#", "//", "[//]", "{/*")
"""How lines begin that documents of all kinds have their comments in."""

__all__ = ["Mention", "findings", "mentions"]


def mentions(
    text: str,
    target: Target,
    *,
    whole: str | None = None,
    code: Collection[int] = (),
    own: Collection[str] = (),
) -> list[Mention]:
    """What is wrong in a text, in the order of its rows and columns.

    Args:
        text: the text; rows in which other things have been looked at may be empty.
        target: the release that it is for.
        whole: the whole text that ``text`` is a part of, in which it is told what it is about; ``text`` by default.
        code: rows that are known to be code. own: variables that are read by somebody else than TensorFlow.
    """
    from tfmemlint.text_checks import apis, broken, values, variables
    from tfmemlint.text_checks.reading import Reading

    reading = Reading(text, text if whole is None else whole, code)
    if not reading.about_tensorflow:
        return []
    found: list[Mention] = []
    for look in (apis.look, values.look, broken.look):
        found += look(reading, target)
    # Those who read configuration files take such a line as it is meant: it is looked for in all of them.
    everywhere = reading if whole is None else Reading(whole, whole, code)
    found += variables.two_on_a_line(everywhere)
    found += variables.look(reading, own)
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
    """The same as findings of those of ``rules`` that know them; what can't be read is always said."""
    from tfmemlint.model.codes import RUN_CODES
    from tfmemlint.rulekit.rule import rules as all_rules

    found = mentions(text, target, whole=whole, code=code, own=own)
    if not found:
        return []
    reporters = {
        **_reporters(rule for rule in all_rules() if rule.code in RUN_CODES),
        **_reporters(rules),
    }
    told = [one.as_finding(path, reporters[one.defect]) for one in found if one.defect in reporters]
    return [finding for finding in told if not silenced(text if whole is None else whole, finding)]


def _reporters(rules: Iterable[Rule]) -> dict[TextDefect, Rule]:
    """The rule that reports each defect."""
    return {defect: rule for rule in rules for defect in rule.text_defects}


def in_comments(path: str, text: str, rules: Iterable[Rule], target: Target) -> list[Finding]:
    """The made-up names that are mentioned in the comments of a configuration file: advice, as in those of Python."""
    from tfmemlint.model.finding import Severity
    from tfmemlint.text_checks import apis
    from tfmemlint.text_checks.reading import Reading

    reporter = _reporters(rules).get(TextDefect.MADE_UP_MENTION)
    if reporter is None or "tf." not in text:
        return []
    lines = []
    for line in text.split("\n"):
        comment = _COMMENT.search(line)
        # As a sentence: that it is one of code goes without saying.
        lines.append(" " * (comment.start() + 1) + comment[0][1:] if comment is not None else "")
    reading = Reading("\n".join(lines), text)
    found = [one for one in apis.look(reading, target) if one.defect is not TextDefect.OTHER_RELEASE]
    told = [dataclasses.replace(one.as_finding(path, reporter), severity=Severity.ADVICE) for one in _once(found)]
    return [finding for finding in told if not silenced(text, finding)]


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
    """One of those at the same place: the first that was found."""
    kept: list[Mention] = []
    places: dict[tuple[int, int], list[Mention]] = {}
    for one in found:
        # Only what stands close by can be at the same place.
        row, stretch = one.span.row, one.span.column // 512
        near = [other for at in (stretch - 1, stretch, stretch + 1) for other in places.get((row, at), ())]
        if not any(one.span.contains(other.span) or other.span.contains(one.span) for other in near):
            places.setdefault((row, stretch), []).append(one)
            kept.append(one)
    return sorted(kept, key=lambda one: (one.span, one.defect))
