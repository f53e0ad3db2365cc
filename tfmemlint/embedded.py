"""What comes of files that are no Python, but may have some in them; and of the examples in docstrings."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import TYPE_CHECKING

from tfmemlint.job import Outcome, asked_for, enabled, target_of
from tfmemlint.run import explain_all
from tfmemlint.screen import may_matter
from tfmemlint.sources.blocks import PYTHON

if TYPE_CHECKING:
    from tfmemlint.documents import Judge
    from tfmemlint.finding import Finding
    from tfmemlint.job import Item, Job
    from tfmemlint.sources import Source

_SIGNS = (">>> ", "```", "::\n")
"""One of these is in every docstring that has an example."""


def judged(outcome: Outcome, item: Item, job: Job) -> Outcome:
    """The outcome of a document, or of a configuration file.

    Raises:
        Unreadable: it is no text.
    """
    from tfmemlint.sources import Unreadable
    from tfmemlint.sources.document import decode_document

    known = item.known if isinstance(item.known, list) and not job.fix else None
    try:
        document = decode_document(item.path, item.data or b"", item.kind)
        return _outcome(outcome, document, job, known)
    except Unreadable:
        raise
    except Exception as error:  # one file must not take the run with it
        return _failed(outcome, job, error)


def add_examples(outcome: Outcome, job: Job) -> None:
    """Look at the examples in the docstrings of a file of Python as well."""
    source = outcome.source
    if source is None or source.language != PYTHON or not source.path.endswith((".py", ".pyw", ".pyi")):
        return
    if outcome.problem or not any(sign in source.text for sign in _SIGNS):
        return
    from tfmemlint.engine import one_a_place
    from tfmemlint.sources.document import examples

    document = examples(source)
    if not any(may_matter(block.text.encode("utf-8", "replace")) for block in document.blocks):
        return
    # What was written just now is no change of somebody else's.
    own = dataclasses.replace(job, allow_dirty=job.allow_dirty or outcome.old is not None)
    found = _outcome(Outcome(outcome.path, candidate=True), document, own)
    explain_all([found], job)
    by_code = {rule.code: rule for rule in enabled(job.selection, outcome.path)}
    both = one_a_place([*outcome.findings, *found.findings], by_code)
    outcome.findings = sorted(both, key=lambda finding: finding.sort_key)
    outcome.applied += found.applied
    outcome.problem = found.problem
    if found.old is not None and found.source is not None:
        outcome.old = outcome.old or source
        outcome.source = source.replace_text(found.source.text)


def looked(path: str, job: Job) -> Callable[[Source], list[Finding]]:
    """What tells what is found in a document, but for advice that nobody asked for."""
    return lambda document: asked_for(judge_of(document, path, job).findings(document), job)  # type: ignore[arg-type]


def judge_of(document: Source, path: str, job: Job) -> Judge:
    """How a document is judged: for the release that is told, else for the one that its code speaks of, where its
    project does not rule that out."""
    from tfmemlint.documents import Judge

    target, mixed = target_of(job, path), False
    if job.target is None:
        from tfmemlint.eras import era
        from tfmemlint.targets.find import current

        said = current().of_file(path)
        # A project that runs on both has examples for each.
        mixed = said.first is not None and said.first.major < 2 <= target.major
        if said.first is None:
            target = era(document.blocks, target)  # type: ignore[attr-defined]
    return Judge(enabled(job.selection, path), target, job.gpu_memory_mib, mixed)


def _outcome(outcome: Outcome, document: Source, job: Job, known: list[Finding] | None = None) -> Outcome:
    outcome.source = document
    if job.fix:
        from tfmemlint.mend import fixed

        return fixed(outcome, document, job, looked(outcome.path, job))
    if known is None:
        known = judge_of(document, outcome.path, job).findings(document)  # type: ignore[arg-type]
    outcome.alone = known
    outcome.findings = asked_for(outcome.alone, job)
    return outcome


def _failed(outcome: Outcome, job: Job, error: Exception) -> Outcome:
    """A file on which the tool has failed; the run goes on."""
    from tfmemlint.engine import failed
    from tfmemlint.sources import Source

    by_code = {rule.code: rule for rule in enabled(job.selection, outcome.path)}
    found = failed(Source(outcome.path, ""), by_code, "The reader of documents", error)
    outcome.findings = [found] if found is not None else []
    return outcome
