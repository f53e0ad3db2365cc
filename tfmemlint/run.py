"""One run over many files: read, screen, check, fix, write. Each file's outcome depends on that file alone."""

from __future__ import annotations

import dataclasses
import importlib
import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from tfmemlint.finding import Finding, Severity
from tfmemlint.screen import matters
from tfmemlint.sources import Source, Unreadable, decode, read_bytes

if TYPE_CHECKING:
    from tfmemlint.knowledge.releases import Target
    from tfmemlint.rule import Rule
    from tfmemlint.selection import Selection

WORTH_A_POOL = 24
"""Files to read closely from which a second process pays for its start."""

FEW = 40
"""Findings for which a report for people tells what the fix would do: more than that nobody reads one by one, and each
costs as much as checking a dozen files."""


@dataclass(frozen=True, slots=True)
class Job:
    """What is to be done with each file.

    Attributes:
        target: the release to judge for; None for the newest. selection: the rules; None for the default ones.
        fix: mend what may be mended. write: and write the files (else the new text is only handed back).
        explain_fixes: compute the fixes of what is left: ``always``, ``never``, or where there are ``few`` findings.
        unsafe: unsafe fixes too. gpu_memory_mib: the memory of one GPU, in MiB, where it is told.
    """

    target: Target | None = None
    selection: Selection | None = None
    fix: bool = False
    write: bool = False
    explain_fixes: str = "few"
    unsafe: bool = False
    gpu_memory_mib: float | None = None


@dataclass(slots=True)
class Outcome:
    """What came of one file.

    Attributes:
        candidate: it was read closely. findings: what is left. applied: what was mended.
        source: its text as it is now, for excerpts. old: its text before, where that differs.
        problem: why it could not be written, or "".
    """

    path: str
    candidate: bool = False
    findings: list[Finding] = field(default_factory=list)
    applied: list[Finding] = field(default_factory=list)
    source: Source | None = None
    old: Source | None = None
    problem: str = ""


def run(files: Iterable[tuple[str, bool]], job: Job) -> list[Outcome]:
    """The outcome of each file; the flag says whether it was named itself, in which case it is read even where its
    bytes say that it can't matter."""
    outcomes = list(_checked(files, job))
    explain(outcomes, job)
    return outcomes


def _checked(files: Iterable[tuple[str, bool]], job: Job) -> Iterator[Outcome]:
    screened: list[tuple[str, bytes | None, Unreadable | None]] = []
    clean: list[Outcome] = []
    for path, named in files:
        try:
            data = read_bytes(path)
        except Unreadable as error:
            screened.append((path, None, error))
            continue
        if matters(data) or (named and not _is_plain(path, data)):
            screened.append((path, data, None))
        else:
            clean.append(Outcome(path))
    yield from clean
    workers = min(os.cpu_count() or 1, 8)
    if len(screened) < WORTH_A_POOL or workers < 2 or not hasattr(os, "fork"):
        for item in screened:
            yield one(*item, job)
        return
    import multiprocessing
    from concurrent.futures import ProcessPoolExecutor

    # Imported here, once: the workers are forks of this process.
    importlib.import_module("tfmemlint.flow.interpreter")
    from tfmemlint.rule import rules

    rules()
    context = multiprocessing.get_context("fork")
    with ProcessPoolExecutor(workers, mp_context=context) as pool:
        yield from pool.map(_one, [(*item, job) for item in screened], chunksize=4)


def _is_plain(path: str, data: bytes) -> bool:
    """Whether a file that can't matter is good Python: one that a person names is not passed over in silence."""
    import ast

    try:
        ast.parse(decode(path, data).text)
    except (Unreadable, SyntaxError, ValueError, RecursionError, MemoryError):
        return False
    return True


def _one(item: tuple[str, bytes | None, Unreadable | None, Job]) -> Outcome:
    return one(*item)


def one(path: str, data: bytes | None, error: Unreadable | None, job: Job) -> Outcome:
    """The outcome of one file that is read closely."""
    rules = _rules(job.selection, path)
    outcome = Outcome(path, candidate=True)
    if data is not None:
        try:
            source = decode(path, data)
        except Unreadable as found:
            error = found
    if data is None or error is not None:
        from tfmemlint.engine import unreadable

        assert error is not None
        outcome.findings = unreadable(path, error, rules)
        return outcome
    outcome.source = source
    if not job.fix:
        outcome.findings = check(source, job, rules)
        return outcome
    return _fixed(outcome, source, job, rules)


def check(source: Source, job: Job, rules: list[Rule]) -> list[Finding]:
    """What ``rules`` say of a text; advice of a rule that isn't advice as a whole only where it was asked for."""
    from tfmemlint.engine import check_source

    found = check_source(source, rules, _target(job))
    asked = job.selection.named if job.selection is not None else frozenset()
    return [one for one in found if one.severity is not Severity.ADVICE or one.code in asked]


def _fixed(outcome: Outcome, source: Source, job: Job, rules: list[Rule]) -> Outcome:
    first = check(source, job, rules)
    if not any(finding.fixable for finding in first):
        outcome.findings = first
        return outcome
    from tfmemlint.fixes.loop import Options, fix_source

    options = Options(unsafe=job.unsafe, gpu_memory_mib=job.gpu_memory_mib)
    fixed = fix_source(
        source, rules=rules, target=_target(job), check=lambda text: check(text, job, rules), options=options
    )
    new = source.replace_text(fixed.text)
    if fixed.text != source.text:
        try:
            data = source.encode(fixed.text)
            if job.write:
                from tfmemlint.fixes.write import replace_file

                replace_file(outcome.path, data)
        except (OSError, UnicodeEncodeError) as error:
            reason = getattr(error, "strerror", None) or str(error)
            outcome.problem = f"could not be written, and is as it was: {reason}"
            outcome.findings = first
            return outcome
        outcome.old = source
    outcome.source, outcome.findings, outcome.applied = new, fixed.findings, fixed.applied
    return outcome


def explain(outcomes: list[Outcome], job: Job) -> None:
    """Give the findings their fixes, or the reasons why they have none, as far as the report wants them."""
    if job.fix or job.explain_fixes == "never":
        return
    offered = sum(finding.fixable for outcome in outcomes for finding in outcome.findings)
    if not offered or (job.explain_fixes == "few" and offered > FEW):
        return
    from tfmemlint.fixes.loop import Options, compute
    from tfmemlint.rule import rules

    by_code = {rule.code: rule for rule in rules()}
    options = Options(unsafe=job.unsafe, gpu_memory_mib=job.gpu_memory_mib)
    for outcome in outcomes:
        if outcome.source is not None:
            outcome.findings = [
                compute(outcome.source, finding, by_code[finding.code], _target(job), options)
                for finding in outcome.findings
            ]


def _rules(selection: Selection | None, path: str) -> list[Rule]:
    from tfmemlint.rule import rules

    if selection is None:
        return [rule for rule in rules() if rule.severity is not Severity.ADVICE]
    return [rule for rule in rules() if selection.enabled(rule, path)]


def _target(job: Job) -> Target:
    from tfmemlint.knowledge.releases import Target

    return job.target or Target.newest()


def from_text(text: bytes, path: str, job: Job) -> Outcome:
    """The outcome of a text that is no file (standard input)."""
    outcome = one(path, text, None, dataclasses.replace(job, write=False))
    explain([outcome], job)
    return outcome
