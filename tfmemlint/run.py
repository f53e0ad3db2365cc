"""One run over many files: read, screen, check, fix, write.

A file's outcome depends on that file, and where it is part of a program that configures GPU memory in several files, on
the others of that program: never on which files are named together, or in which order.
"""

from __future__ import annotations

import dataclasses
import importlib
import os
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from tfmemlint.finding import Finding, Severity
from tfmemlint.screen import configures, matters
from tfmemlint.sources import Source, Unreadable, decode, read_bytes

if TYPE_CHECKING:
    from tfmemlint.knowledge.releases import Target
    from tfmemlint.programs import Judged
    from tfmemlint.project.entries import Entry
    from tfmemlint.rule import Rule
    from tfmemlint.selection import Selection

WORTH_A_POOL = 24
"""Files to read closely from which a second process pays for its start."""

FEW_FILES = 100
"""Files, named one by one, that may be part of a program which configures GPU memory elsewhere."""
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
        problem: why it could not be written, or "". notes: what was not followed to its end.
        programs: where the programs start that have to do with it. judged: the one that starts in it, gone through.
    """

    path: str
    candidate: bool = False
    findings: list[Finding] = field(default_factory=list)
    applied: list[Finding] = field(default_factory=list)
    source: Source | None = None
    old: Source | None = None
    problem: str = ""
    notes: tuple[str, ...] = ()
    programs: tuple[Entry, ...] = ()
    judged: Judged | None = None


@dataclass(frozen=True, slots=True)
class Item:
    """One file to read closely: its bytes, or why there are none; and the program that starts there, if any."""

    path: str
    data: bytes | None
    error: Unreadable | None = None
    entry: Entry | None = None


def run(files: Iterable[tuple[str, bool]], job: Job) -> list[Outcome]:
    """The outcome of each file; the flag says whether it was named itself, in which case it is read even where its
    bytes say that it can't matter."""
    outcomes = _checked(files, job)
    explain(outcomes, job)
    return outcomes


def _checked(files: Iterable[tuple[str, bool]], job: Job) -> list[Outcome]:
    items: list[Item] = []
    outcomes: list[Outcome] = []
    paths: list[str] = []
    some_configure = False
    for path, named in files:
        paths.append(path)
        try:
            data = read_bytes(path)
        except Unreadable as error:
            items.append(Item(path, None, error))
            continue
        some_configure = some_configure or configures(data)
        if matters(data) or (named and not _is_plain(path, data)):
            items.append(Item(path, data))
        else:
            outcomes.append(Outcome(path))
    if some_configure or len(paths) <= FEW_FILES:
        items = _with_programs(items, paths)
        among = {item.path for item in items}
        outcomes = [outcome for outcome in outcomes if outcome.path not in among]
    if not any(item.entry is not None for item in items):
        outcomes.extend(_all(items, job))
        return outcomes
    # What programs do in several files has to be known before the first of them is mended.
    from tfmemlint import programs

    outcomes.extend(_all(items, dataclasses.replace(job, fix=False)))
    outcomes = programs.together(outcomes, set(paths), job)
    return [_mended(outcome, job) for outcome in outcomes] if job.fix else outcomes


def _mended(outcome: Outcome, job: Job) -> Outcome:
    """A file that was looked at already, fixed."""
    source = outcome.source
    if source is None or not any(finding.fixable for finding in outcome.findings):
        return outcome
    if not outcome.programs:
        rules = enabled(job.selection, outcome.path)
        return fixed(outcome, source, job, lambda text: check(text, job, rules))
    from tfmemlint import programs

    outcome = fixed(outcome, source, job, lambda text: programs.look(text, outcome.programs, job))
    if outcome.source is not None:
        programs.replaced(outcome.source)
    return outcome


def _with_programs(items: list[Item], paths: list[str]) -> list[Item]:
    """The files to read closely, with the programs of several files that start there; and the files that such programs
    start in besides."""
    from tfmemlint import programs

    programs.prepare(paths)
    starts = {entry.path: entry for entry in programs.starting(paths)}
    found = [dataclasses.replace(item, entry=starts.pop(os.path.normpath(item.path), None)) for item in items]
    for path, entry in starts.items():
        try:
            found.append(Item(path, read_bytes(path), entry=entry))
        except Unreadable:
            continue
    return found


def _all(items: list[Item], job: Job) -> Iterator[Outcome]:
    workers = min(os.cpu_count() or 1, 8)
    if len(items) < WORTH_A_POOL or workers < 2 or not hasattr(os, "fork"):
        for item in items:
            yield one(item, job)
        return
    import multiprocessing
    from concurrent.futures import ProcessPoolExecutor

    # Imported here, once: the workers are forks of this process.
    importlib.import_module("tfmemlint.flow.interpreter")
    from tfmemlint.rule import rules

    rules()
    context = multiprocessing.get_context("fork")
    with ProcessPoolExecutor(workers, mp_context=context) as pool:
        yield from pool.map(_one, [(item, job) for item in items], chunksize=4)


def _is_plain(path: str, data: bytes) -> bool:
    """Whether a file that can't matter is good Python: one that a person names is not passed over in silence."""
    import ast

    try:
        ast.parse(decode(path, data).text)
    except (Unreadable, SyntaxError, ValueError, RecursionError, MemoryError):
        return False
    return True


def _one(item: tuple[Item, Job]) -> Outcome:
    return one(*item)


def one(item: Item, job: Job) -> Outcome:
    """The outcome of one file that is read closely."""
    rules = enabled(job.selection, item.path)
    outcome = Outcome(item.path, candidate=True)
    error = item.error
    if item.data is not None:
        try:
            source = decode(item.path, item.data)
        except Unreadable as found:
            error = found
    if item.data is None or error is not None:
        from tfmemlint.engine import unreadable

        assert error is not None
        outcome.findings = unreadable(item.path, error, rules)
        return outcome
    outcome.source = source
    if item.entry is not None:
        from tfmemlint import programs

        return programs.begin(outcome, source, item.entry, job)
    if not job.fix:
        outcome.findings = check(source, job, rules)
        return outcome
    return fixed(outcome, source, job, lambda text: check(text, job, rules))


def check(source: Source, job: Job, rules: list[Rule]) -> list[Finding]:
    """What ``rules`` say of a text; advice of a rule that isn't advice as a whole only where it was asked for."""
    from tfmemlint.engine import check_source

    return asked_for(check_source(source, rules, target_of(job)), job)


def asked_for(found: list[Finding], job: Job) -> list[Finding]:
    """Findings but for advice that nobody asked for."""
    asked = job.selection.named if job.selection is not None else frozenset()
    return [one for one in found if one.severity is not Severity.ADVICE or one.code in asked]


def fixed(outcome: Outcome, source: Source, job: Job, look: Callable[[Source], list[Finding]]) -> Outcome:
    """Mend what is wrong in a file; ``look`` tells what is wrong with a text that stands in its place."""
    rules = enabled(job.selection, outcome.path)
    first = look(source)
    if not any(finding.fixable for finding in first):
        outcome.findings = first
        return outcome
    from tfmemlint.fixes.loop import Options, fix_source

    options = Options(unsafe=job.unsafe, gpu_memory_mib=job.gpu_memory_mib)
    done = fix_source(source, rules=rules, target=target_of(job), check=look, options=options)
    new = source.replace_text(done.text)
    if done.text != source.text:
        try:
            data = source.encode(done.text)
            if job.write:
                from tfmemlint.fixes.write import replace_file

                replace_file(outcome.path, data)
        except (OSError, UnicodeEncodeError) as error:
            reason = getattr(error, "strerror", None) or str(error)
            outcome.problem = f"could not be written, and is as it was: {reason}"
            outcome.findings = first
            return outcome
        outcome.old = source
    outcome.source, outcome.findings, outcome.applied = new, done.findings, done.applied
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
                compute(outcome.source, finding, by_code[finding.code], target_of(job), options)
                for finding in outcome.findings
            ]


def enabled(selection: Selection | None, path: str) -> list[Rule]:
    """The rules to run on a file."""
    from tfmemlint.rule import rules

    if selection is None:
        return [rule for rule in rules() if rule.severity is not Severity.ADVICE]
    return [rule for rule in rules() if selection.enabled(rule, path)]


def target_of(job: Job) -> Target:
    """The release to judge for."""
    from tfmemlint.knowledge.releases import Target

    return job.target or Target.newest()


def from_text(text: bytes, path: str, job: Job) -> Outcome:
    """The outcome of a text that is no file (standard input)."""
    outcome = one(Item(path, text), dataclasses.replace(job, write=False))
    explain([outcome], job)
    return outcome
