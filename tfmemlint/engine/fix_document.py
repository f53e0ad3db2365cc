"""Fix the programs of a document, one after the other, and explain the fixes of its findings."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING

from tfmemlint.engine.document_judge import DocumentJudge, in_document, place_of
from tfmemlint.engine.fix_file import fix_text
from tfmemlint.fixes.compute_fix import Options, compute
from tfmemlint.fixes.loop import Fixed
from tfmemlint.model.finding import Edit, Span
from tfmemlint.sources.documents.document import Document
from tfmemlint.sources.documents.snippet import RowsChange, with_changes

if TYPE_CHECKING:
    from tfmemlint.model.finding import Finding, Fix
    from tfmemlint.sources import Source
    from tfmemlint.sources.documents.snippet import Snippet


def fix_document(document: Document, judge: DocumentJudge) -> Fixed:
    """Return a document after the fixes of its programs.

    Each is fixed as it stands in the document, and the document is read again once: a document costs its length.
    """
    keep = judge.context.keep
    done = Fixed(document.text)
    reasons: dict[int, dict[_Place, str]] = {}
    changes: list[RowsChange] = []
    for number, snippet in enumerate(document.snippets()):
        found = keep(judge.find_in_snippet(snippet))
        if not any(finding.fixable for finding in found):
            continue
        fixed = fix_text(snippet, _checker(judge), judge.target_of(snippet), judge.context_of(snippet))
        gone = _gone_but_told(document, snippet, fixed.text) if _is_rebuilt(fixed.applied, judge) else ""
        if gone:
            reason = _TOLD.format(gone)
            reasons[number] = {_place_in(snippet.text, finding): reason for finding in found}
            continue
        if fixed.text != snippet.text:
            changes += snippet.changed_rows(fixed.text)
            done.applied += [in_document(finding, snippet) for finding in fixed.applied]
            done.needs |= fixed.needs
        reasons[number] = {
            _place_in(fixed.text, finding): finding.withheld for finding in fixed.findings if finding.withheld
        }
    if changes:
        document = document.replace_text(with_changes(document.text, changes))  # type: ignore[assignment]
    done.text = document.text
    done.findings = _with_reasons(document, judge, reasons)
    return done


_Place = tuple[str, str, int, int]


def _place_in(text: str, finding: Finding) -> _Place:
    """Return what a finding is known by within a program, wherever in the document the program is."""
    span = finding.span
    line = text.split("\n", span.row)[span.row - 1] if span.row <= text.count("\n") + 1 else ""
    return finding.code, line, span.column, span.end_column


def _with_reasons(document: Document, judge: DocumentJudge, reasons: dict[int, dict[_Place, str]]) -> list[Finding]:
    """Return the findings of a document, with the reasons why they are not fixed.

    Args:
        document: as it is now.
        judge: of the document.
        reasons: for the programs, by their number.
    """
    numbers: dict[tuple[int, ...], int] = {}
    if any(reasons.values()):
        numbers = {_rows_of(snippet): number for number, snippet in enumerate(document.snippets())}
    found: list[Finding] = []
    for placed in judge.find_placed(document):
        withheld = ""
        if placed.snippet is not None and placed.inner is not None:
            known = reasons.get(numbers.get(_rows_of(placed.snippet), -1))
            withheld = known.get(_place_in(placed.snippet.text, placed.inner), "") if known else ""
        found.append(dataclasses.replace(placed.finding, withheld=withheld))
    return judge.context.keep(found)


def _rows_of(snippet: Snippet) -> tuple[int, ...]:
    return tuple(block.rows[0] for block in snippet.blocks)


_TOLD = "the text around the code speaks of {}, which would be gone"
_INLINE_CODE = re.compile(r"``([^`\n]+)``|`([^`\n]+)`")
_IDENTIFIER = re.compile(r"[A-Za-z_]\w*")


def _is_rebuilt(findings: Sequence[Finding], judge: DocumentJudge) -> bool:
    """Return True if a fix puts other code in the place of TF1's, rather than another name in the place of a wrong one:
    a wrong name in the text around it is a finding of its own."""
    codes = {rule.code for rule in judge.rules if rule.of_another_release}
    return any(finding.code in codes for finding in findings)


def _gone_but_told(document: Document, snippet: Snippet, new: str) -> str:
    """Return a name that the code loses and the text of the document speaks of; "" if there is none."""
    gone = set(_IDENTIFIER.findall(snippet.text)) - set(_IDENTIFIER.findall(new))
    return next((name for name in _names_told(document) if name in gone), "")


@lru_cache(maxsize=2)
def _names_told(document: Document) -> tuple[str, ...]:
    """Return the names that are written as code in the text around the programs, in their order."""
    told = _INLINE_CODE.finditer(document.prose(document.snippets()))
    return tuple(dict.fromkeys(name for match in told for name in _IDENTIFIER.findall(match[1] or match[2])))


def _checker(judge: DocumentJudge) -> Callable[[Source], list[Finding]]:
    def check(snippet: Source) -> list[Finding]:
        return judge.context.keep(judge.find_in_snippet(snippet))  # type: ignore[arg-type]

    return check


def explain_document(
    document: Document, findings: Sequence[Finding], judge: DocumentJudge, options: Options
) -> list[Finding]:
    """Return the findings with their fixes, as edits of the document, or with the reasons why they have none."""
    from tfmemlint.fixes.edits import apply

    rows = document.text.split("\n")
    by_code = {rule.code: rule for rule in judge.rules}
    known = {place_of(placed.finding): placed for placed in judge.find_placed(document)}
    explained: list[Finding] = []
    for finding in findings:
        placed = known.get(place_of(finding))
        if placed is None or placed.snippet is None or placed.inner is None or finding.code not in by_code:
            explained.append(finding)
            continue
        snippet = placed.snippet
        computed = compute(snippet, placed.inner, by_code[finding.code], judge.target_of(snippet), options)
        fix: Fix | None = None
        withheld = computed.withheld
        if computed.fix is not None:
            try:
                new = apply(snippet.text, computed.fix.edits)
                gone = _gone_but_told(document, snippet, new) if _is_rebuilt([finding], judge) else ""
                if gone:
                    raise ValueError(_TOLD.format(gone))
                edits = [edit for change in snippet.changed_rows(new) for edit in _edits(rows, change)]
                fix = dataclasses.replace(computed.fix, edits=tuple(edits))
            except ValueError as error:
                withheld = str(error)
        explained.append(dataclasses.replace(finding, fix=fix, withheld=withheld))
    return explained


def _edits(rows: Sequence[str], change: RowsChange) -> Iterator[Edit]:
    """Yield the edits of a text, of which the lines are given, that make a change."""
    from tfmemlint.fixes.edits import difference

    # With a line below them, whole lines differ: the last line of a text has no end to put others behind.
    last = min(change.last + 1, len(rows))
    old, below = rows[change.first : last], rows[change.last : last]
    for edit in difference("\n".join(old), "\n".join([*change.lines, *below])):
        span = edit.span
        moved = Span(span.row + change.first, span.column, span.end_row + change.first, span.end_column)
        yield dataclasses.replace(edit, span=moved)
