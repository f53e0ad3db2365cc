"""Mending one file: its fixes are made, proven where that is asked for, and written."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from tfmemlint.engine.job import drop_unselected_advice, rules_for, target_of
from tfmemlint.fixes.loop import Fixed, Options, Place, compute, fix_source, place
from tfmemlint.sources.documents.blocks import PYTHON

if TYPE_CHECKING:
    from tfmemlint.engine.job import FileResult, Job, Unproven
    from tfmemlint.knowledge.releases import Target
    from tfmemlint.model.finding import Finding, Span
    from tfmemlint.sources import Source

_ROUNDS = 4
"""How often a file is proven anew without the fixes that did not do what they should."""


def fixed(outcome: FileResult, source: Source, job: Job, look: Callable[[Source], list[Finding]]) -> FileResult:
    """Mend what is wrong in a file; ``look`` tells what is wrong with a text that stands in its place."""
    first = look(source)
    if not any(finding.fixable for finding in first):
        outcome.findings = first
        return outcome
    mended = _mender(source, outcome.path, job, look)
    done = mended(dataclasses.replace(job, ask=None, prove=None))
    if done.text != source.text and job.write:
        outcome.problem = _objection(outcome.path, job)
        if outcome.problem:
            outcome.findings = first
            return outcome
    if done.text != source.text and (job.ask is not None or job.prove is not None):
        done = mended(job)
    return _written(outcome, source, first, done, job)


def _objection(path: str, job: Job) -> str:
    """Return why a file is not to be written, or ""."""
    from tfmemlint.fixes.git import objection
    from tfmemlint.fixes.write import OUTSIDE
    from tfmemlint.sources.walking import leads_outside

    if job.named and leads_outside(path, job.named):
        return OUTSIDE
    return "" if job.allow_dirty else objection(path)


def _mender(source: Source, path: str, job: Job, look: Callable[[Source], list[Finding]]) -> Callable[[Job], Fixed]:
    """What mends a text, by means of all that a job says of how."""
    rules = rules_for(job.selection, path)

    def one(source: Source, look: Callable[[Source], list[Finding]], job: Job, target: Target) -> Fixed:
        options = Options(job.unsafe, job.gpu_memory_mib, job.fix_only)

        def mended(options: Options) -> Fixed:
            return fix_source(source, rules=rules, target=target, check=look, options=options)

        done = mended(options)
        if job.prove is not None and source.language == PYTHON:
            done, options = _proven(source, look(source), done, options, mended, job.prove)
        if job.ask is not None and done.text != source.text:
            done = mended(dataclasses.replace(options, ask=_asked(job.ask)))
        return done

    if source.language == PYTHON:
        return lambda job: one(source, look, job, target_of(job, path))
    from tfmemlint.engine import documents
    from tfmemlint.engine.embedded import judge_of

    judge = judge_of(source, path, job)
    return lambda job: documents.fix(
        source,  # type: ignore[arg-type]
        judge,
        lambda snippet: one(
            snippet,
            lambda text: drop_unselected_advice(judge.in_snippet(text), job),  # type: ignore[arg-type]
            job,
            judge.target_of(snippet),
        ),
        lambda found: drop_unselected_advice(found, job),
    )


def _asked(ask: Callable[[str, Finding, str, str], bool]) -> Callable[[Finding, Source, Source], bool]:
    """Asks about a change as people see it: in the file, and by cells."""
    from tfmemlint.cli.prompt import as_shown

    return lambda finding, old, new: ask(*as_shown(finding, old, new))


def _written(outcome: FileResult, source: Source, first: list[Finding], done: Fixed, job: Job) -> FileResult:
    if done.text != source.text:
        outcome.problem = _replaced(outcome, source, done.text, write=job.write)
        if outcome.problem:
            outcome.findings = first
            return outcome
        outcome.old = source
    outcome.source, outcome.findings, outcome.applied = source.replace_text(done.text), done.findings, done.applied
    return outcome


def _replaced(outcome: FileResult, source: Source, text: str, *, write: bool) -> str:
    """Write the file with another text, if it is still the one that was read; return why it was left, or ""."""
    from tfmemlint.fixes.write import CHANGED, ChangedError, replace_file

    try:
        data = source.encode(text)
        if write:
            others = replace_file(outcome.path, data, expected=source.encode(source.text))
            if others:
                names = "another name" if others == 1 else f"{others} other names"
                outcome.remark = f"is a file of its own now: it had {names} (hard links), with the old text still"
    except ChangedError:
        return CHANGED
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        return f"could not be written, and is as it was: {reason}"
    return ""


def _proven(
    source: Source,
    first: Sequence[Finding],
    done: Fixed,
    options: Options,
    mended: Callable[[Options], Fixed],
    prove: Callable[[Source, str], list[Unproven]],
) -> tuple[Fixed, Options]:
    """The fixes without those of which a run shows that what was wanted does not take effect."""
    refused: dict[Place, str] = {}
    for number in range(_ROUNDS + 1):
        bad = prove(source, done.text) if done.text != source.text else []
        more: dict[Place, str] = {}
        for one in bad:
            mine = [finding for finding in first if finding.fixable and _touches(finding, one.span)]
            if not mine and not one.before:
                # It did not take effect before, and no fix is about it.
                continue
            more.update((place(finding), one.reason) for finding in mine or first)
        if not more:
            break
        if number == _ROUNDS or more.keys() <= refused.keys():
            more = {place(finding): bad[0].reason for finding in first}
        refused |= more
        options = dataclasses.replace(options, refused=refused)
        done = mended(options)
    return done, options


def _touches(finding: Finding, span: Span) -> bool:
    places = (finding.span, *finding.anchors.values())
    return any(one.row <= span.end_row and span.row <= one.end_row for one in places)


def explain(outcomes: list[FileResult], job: Job) -> None:
    """Give the findings their fixes, or the reasons why they have none."""
    from tfmemlint.rulekit.rule import rules

    by_code = {rule.code: rule for rule in rules()}
    options = Options(unsafe=job.unsafe, gpu_memory_mib=job.gpu_memory_mib)
    for outcome in outcomes:
        if outcome.source is not None and outcome.findings:
            if outcome.source.language != PYTHON:
                outcome.findings = _explained(outcome, job, options)
                continue
            target = target_of(job, outcome.path)
            outcome.findings = [
                compute(outcome.source, finding, by_code[finding.code], target, options) for finding in outcome.findings
            ]


def _explained(outcome: FileResult, job: Job, options: Options) -> list[Finding]:
    """The findings in a document, with their fixes."""
    from tfmemlint.engine import documents
    from tfmemlint.engine.embedded import judge_of

    assert outcome.source is not None
    judge = judge_of(outcome.source, outcome.path, job)
    return documents.explain(outcome.source, outcome.findings, judge, options)  # type: ignore[arg-type]
