"""Fix the programs of a document, one after the other, and explain the fixes of its findings."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Callable, Sequence
from itertools import islice
from typing import TYPE_CHECKING

from tfmemlint.engine.document_judge import DocumentJudge, in_document, place_of
from tfmemlint.engine.fix_file import fix_text
from tfmemlint.fixes.compute_fix import Options, compute
from tfmemlint.fixes.loop import Fixed
from tfmemlint.sources.documents.document import Document

if TYPE_CHECKING:
    from tfmemlint.model.finding import Finding, Fix
    from tfmemlint.sources import Source
    from tfmemlint.sources.documents.snippet import Snippet


def fix_document(document: Document, judge: DocumentJudge) -> Fixed:
    """Return a document after the fixes of its programs."""
    keep = judge.context.keep
    done = Fixed(document.text)
    reasons: dict[object, str] = {}
    number = 0
    while (snippet := _snippet(document, number)) is not None:
        number += 1
        if not any(finding.fixable for finding in keep(judge.find_in_snippet(snippet))):
            continue
        fixed = fix_text(snippet, _checker(judge), judge.target_of(snippet), judge.context_of(snippet))
        gone = _gone_but_told(document, snippet, fixed.text) if _is_rebuilt(fixed.applied, judge) else ""
        if gone:
            reason = _TOLD.format(gone)
            reasons.update(
                (place_of(in_document(finding, snippet)), reason) for finding in keep(judge.find_in_snippet(snippet))
            )
            continue
        if fixed.text != snippet.text:
            document = document.replace_text(snippet.as_file(fixed.text))  # type: ignore[assignment]
            done.applied += [in_document(finding, snippet) for finding in fixed.applied]
            done.needs |= fixed.needs
        now = _snippet(document, number - 1) or snippet
        reasons.update(
            (place_of(in_document(finding, now)), finding.withheld) for finding in fixed.findings if finding.withheld
        )
    done.text = document.text
    for finding in keep(judge.find(document)):
        done.findings.append(dataclasses.replace(finding, withheld=reasons.get(place_of(finding), "")))
    return done


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
    for match in _INLINE_CODE.finditer(document.prose(list(document.snippets()))):
        names: list[str] = _IDENTIFIER.findall(match[1] or match[2])
        for name in names:
            if name in gone:
                return name
    return ""


def _checker(judge: DocumentJudge) -> Callable[[Source], list[Finding]]:
    def check(snippet: Source) -> list[Finding]:
        return judge.context.keep(judge.find_in_snippet(snippet))  # type: ignore[arg-type]

    return check


def _snippet(document: Document, number: int) -> Snippet | None:
    """Return one of the programs of a document, by its number from 0."""
    return next(islice(document.snippets(), number, None), None)


def explain_document(
    document: Document, findings: Sequence[Finding], judge: DocumentJudge, options: Options
) -> list[Finding]:
    """Return the findings with their fixes, as edits of the document, or with the reasons why they have none."""
    from tfmemlint.fixes.edits import apply, difference

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
                text = snippet.as_file(new)
                fix = dataclasses.replace(computed.fix, edits=difference(document.text, text))
            except ValueError as error:
                withheld = str(error)
        explained.append(dataclasses.replace(finding, fix=fix, withheld=withheld))
    return explained
