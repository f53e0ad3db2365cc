"""Fix one file: its fixes are made, proven if that is asked for, and written."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from tfmemlint.engine.results import FileResult
from tfmemlint.fixes.compute_fix import Options
from tfmemlint.fixes.finding_places import Place, place
from tfmemlint.fixes.loop import Fixed, Planner, fix_source
from tfmemlint.sources.kinds import PYTHON

if TYPE_CHECKING:
    from tfmemlint.engine.context import Prover, RunContext
    from tfmemlint.engine.subject import Subject
    from tfmemlint.knowledge.releases import Target
    from tfmemlint.model.finding import Finding, Span
    from tfmemlint.sources import Source

MAX_PROOFS = 4
"""Times that a file is proven anew without the fixes that did not take effect; after that none is made. Each proof runs
the program. A bound without a deeper reason."""


def fix_subject(subject: Subject, context: RunContext) -> FileResult:
    """Fix what can be fixed in a file, and return the result.

    Raises:
        Unreadable: the file is no text.
    """
    source = subject.source
    result = FileResult(subject.path, candidate=True, source=source)
    result.findings = first = subject.check(context)
    result.notes = tuple(dict.fromkeys(subject.gave_up))
    if not any(finding.fixable for finding in first):
        return result
    fixed = subject.apply_fixes(dataclasses.replace(context, ask=None, prove=None))
    if fixed.text != source.text:
        result.problem = objection(subject.path, context) if context.write else outside(subject.path, context)
        if result.problem:
            return result
    if fixed.text != source.text and (context.ask is not None or context.prove is not None):
        fixed = subject.apply_fixes(context)
    return _written(result, source, fixed, write=context.write)


def _written(result: FileResult, source: Source, fixed: Fixed, *, write: bool) -> FileResult:
    if fixed.text != source.text:
        result.problem = _replace(result, source, fixed.text, write=write)
        if result.problem:
            return result
        result.old = source
    result.source, result.findings, result.applied = source.replace_text(fixed.text), fixed.findings, fixed.applied
    return result


def objection(path: str, context: RunContext) -> str:
    """Return why a file is not to be written, or ""."""
    from tfmemlint.fixes import git

    return outside(path, context) or ("" if context.allow_dirty else git.objection(path))


def outside(path: str, context: RunContext) -> str:
    """Return why a file is neither to be written nor to be quoted, or ""."""
    from tfmemlint.fixes.write import OUTSIDE
    from tfmemlint.sources.walking import leads_outside

    return OUTSIDE if context.named and leads_outside(path, context.named) else ""


def _replace(result: FileResult, source: Source, text: str, *, write: bool) -> str:
    """Write the file with another text, if it is still the one that was read; return why it was left, or ""."""
    from tfmemlint.fixes.write import CHANGED, ChangedError, replace_file

    try:
        data = source.encode(text)
        if write:
            others = replace_file(result.path, data, expected=source.encode(source.text))
            if others:
                names = "another name" if others == 1 else f"{others} other names"
                result.remark = f"is a file of its own now: it had {names} (hard links), with the old text still"
    except ChangedError:
        return CHANGED
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        return f"could not be written, and was left unchanged: {reason}"
    return ""


def fix_text(
    source: Source,
    check: Callable[[Source], list[Finding]],
    target: Target,
    context: RunContext,
    plan: Planner | None = None,
) -> Fixed:
    """Return one text after its fixes, those that were proven and agreed to where the context asks for that.

    Args:
        source: the text.
        check: returns the findings to report in a text that stands in its place.
        target: the release that the fixes are for.
        context: its rules, and what it allows.
        plan: asked for what no rule can fix.
    """
    rules = context.rules_for(source.path)
    options = context.fix_options()

    def fixed_with(options: Options) -> Fixed:
        return fix_source(source, rules=rules, target=target, check=check, options=options, plan=plan)

    fixed = fixed_with(options)
    if context.prove is not None and source.language == PYTHON:
        fixed, options = _proven(source, check(source), fixed, options, fixed_with, context.prove)
    if context.ask is not None and fixed.text != source.text:
        fixed = fixed_with(dataclasses.replace(options, ask=context.ask))
    return fixed


def _proven(
    source: Source,
    first: Sequence[Finding],
    fixed: Fixed,
    options: Options,
    fixed_with: Callable[[Options], Fixed],
    prove: Prover,
) -> tuple[Fixed, Options]:
    """Return the text without the fixes of which a run shows that the intent does not take effect."""
    refused: dict[Place, str] = {}
    for number in range(MAX_PROOFS + 1):
        unproven = prove(source, fixed.text) if fixed.text != source.text else []
        more: dict[Place, str] = {}
        for intent in unproven:
            about = [finding for finding in first if finding.fixable and _touches(finding, intent.span)]
            if not about and not intent.before:
                # It did not take effect before, and no fix is about it.
                continue
            more.update((place(finding), intent.reason) for finding in about or first)
        if not more:
            break
        if number == MAX_PROOFS or more.keys() <= refused.keys():
            more = {place(finding): unproven[0].reason for finding in first}
        refused |= more
        options = dataclasses.replace(options, refused=refused)
        fixed = fixed_with(options)
    return fixed, options


def _touches(finding: Finding, span: Span) -> bool:
    spans = (finding.span, *finding.anchors.values())
    return any(each.row <= span.end_row and span.row <= each.end_row for each in spans)
