"""What comes of files that are no Python, but may have some in them; and of the examples in docstrings."""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Callable
from typing import TYPE_CHECKING

from tfmemlint.engine.job import FileResult, drop_unselected_advice, rules_for, target_of
from tfmemlint.engine.run import explain_all
from tfmemlint.rulekit.triggers import may_matter
from tfmemlint.sources.kinds import PYTHON, kind_of
from tfmemlint.sources.suppressions import read_suppressions

if TYPE_CHECKING:
    from tfmemlint.engine.documents import Judge
    from tfmemlint.engine.job import Item, Job
    from tfmemlint.knowledge.releases import Target
    from tfmemlint.model.finding import Finding
    from tfmemlint.sources import Source


def judged(outcome: FileResult, item: Item, job: Job) -> FileResult:
    """The outcome of a document, or of a configuration file.

    Raises:
        Unreadable: it is no text.
    """
    from tfmemlint.sources import Unreadable
    from tfmemlint.sources.documents.document import decode_document

    known = item.known if isinstance(item.known, list) and not job.fix else None
    try:
        document = decode_document(item.path, item.data or b"", item.kind)
        return _outcome(outcome, document, job, known)
    except Unreadable:
        raise
    except Exception as error:  # one file must not take the run with it
        return _failed(outcome, job, error)


def add_examples(outcome: FileResult, job: Job) -> None:
    """Look at the examples in the docstrings of a file of Python as well."""
    source = outcome.source
    if source is None or source.language != PYTHON or kind_of(os.path.basename(source.path)) != PYTHON:
        return
    if outcome.problem or read_suppressions(source.text).skip_file:
        return
    # What was written just now is no change of somebody else's.
    own = dataclasses.replace(job, allow_dirty=job.allow_dirty or outcome.old is not None)
    found = _examined(source, own)
    if found is None:
        return
    from tfmemlint.engine.check_source import dedupe

    by_code = {rule.code: rule for rule in rules_for(job.selection, outcome.path)}
    both = dedupe([*outcome.findings, *found.findings], by_code)
    outcome.findings = sorted(both, key=lambda finding: finding.sort_key)
    outcome.applied += found.applied
    outcome.problem = found.problem
    if found.old is not None and found.source is not None:
        outcome.old = outcome.old or source
        outcome.source = source.replace_text(found.source.text)


def _examined(source: Source, job: Job) -> FileResult | None:
    """What comes of the examples of a file; None where it has none that matter."""
    from tfmemlint.sources.documents.document import examples

    outcome = FileResult(source.path, candidate=True)
    try:
        document = examples(source)
        texts = (block.text.encode("utf-8", "replace") for block in document.blocks)
        if not job.reads_every_tensorflow_file and not any(map(may_matter, texts)):
            return None
        found = _outcome(outcome, document, job)
        explain_all([found], job)
        return found
    except Exception as error:  # one file must not take the run with it
        return _failed(outcome, job, error)


def looked(path: str, job: Job) -> Callable[[Source], list[Finding]]:
    """What tells what is found in a document, but for advice that nobody asked for."""
    return lambda document: drop_unselected_advice(judge_of(document, path, job).findings(document), job)  # type: ignore[arg-type]


def judge_of(document: Source, path: str, job: Job) -> Judge:
    """How a document is judged: for the release that is told, else for the one that its code speaks of, where its
    project does not rule that out."""
    from tfmemlint.engine.documents import Judge

    target, mixed = target_of(job, path), False
    first = oldest_said(path, job)
    if job.target is None and first is None:
        from tfmemlint.project.detect_tf1 import era

        target = era(document.blocks, target)  # type: ignore[attr-defined]
    elif first is not None:
        # A project that runs on both has examples for each.
        mixed = first.major < 2 <= target.major
    everything = job.reads_every_tensorflow_file
    return Judge(rules_for(job.selection, path), target, job.gpu_memory_mib, mixed, everything)


def oldest_said(path: str, job: Job) -> Target | None:
    """The oldest release that the project of a file is for; None where it says none, or where one is told."""
    if job.target is not None:
        return None
    from tfmemlint.project.targets.find import current

    return current().of_file(path).first


def _outcome(outcome: FileResult, document: Source, job: Job, known: list[Finding] | None = None) -> FileResult:
    outcome.source = document
    if job.fix:
        from tfmemlint.engine.fix_file import fixed

        return fixed(outcome, document, job, looked(outcome.path, job))
    if known is None:
        known = judge_of(document, outcome.path, job).findings(document)  # type: ignore[arg-type]
    outcome.alone = known
    outcome.findings = drop_unselected_advice(outcome.alone, job)
    return outcome


def _failed(outcome: FileResult, job: Job, error: Exception) -> FileResult:
    """A file on which the tool has failed; the run goes on."""
    from tfmemlint.engine.check_source import internal_error
    from tfmemlint.sources import Source

    by_code = {rule.code: rule for rule in rules_for(job.selection, outcome.path)}
    found = internal_error(Source(outcome.path, ""), by_code, "The reader of documents", error)
    outcome.findings = [found] if found is not None else []
    return outcome
