"""What is to be done with files, and what comes of each."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from tfmemlint.model.finding import Finding, Severity, Span
from tfmemlint.sources import Source, Unreadable
from tfmemlint.sources.kinds import DEFAULT, DOCUMENTS, PYTHON, kind_of

if TYPE_CHECKING:
    from tfmemlint.config.selection import Selection
    from tfmemlint.deployment.launches import Launch
    from tfmemlint.engine.programs import ProgramResult
    from tfmemlint.knowledge.releases import Target
    from tfmemlint.project.entries import Entry
    from tfmemlint.rulekit.rule import Rule


@dataclass(frozen=True, slots=True)
class Job:
    """What is to be done with each file.

    Attributes:
        target: the release to judge for; None for the one that each file's project says, or else the newest.
        selection: the rules; None for the default ones.
        fix: mend what may be mended. write: and write the files (else the new text is only handed back).
        explain_fixes: compute the fixes of what is left: ``always``, ``never``, or where there are ``few`` findings.
        unsafe: unsafe fixes too. gpu_memory_mib: the memory of one GPU, in MiB, where it is told.
        cache: what was found before in the same files need not be found again.
        fix_only: the codes of rules, or their beginnings, whose findings alone are mended; () for all.
        allow_dirty: files with changes that git doesn't have are written over, too.
        named: the paths of the command line; what a link below them leads out to is not written. () for no limit.
        kinds: what is looked at besides the files that are named: no other configuration files say how a program is
            started, and without `DOCSTRING` no examples in docstrings are looked at.
        ask: asked before each change, with the path, the finding, the old and the new text. prove: tells what of a
            file's wishes does not take effect in a new text, by running it. Both keep to this process.
    """

    target: Target | None = None
    selection: Selection | None = None
    fix: bool = False
    write: bool = False
    explain_fixes: str = "few"
    unsafe: bool = False
    gpu_memory_mib: float | None = None
    cache: bool = False
    fix_only: tuple[str, ...] = ()
    allow_dirty: bool = False
    named: tuple[str, ...] = ()
    kinds: frozenset[str] = DEFAULT
    ask: Callable[[str, Finding, str, str], bool] | None = None
    prove: Callable[[Source, str], list[Unproven]] | None = None

    @property
    def selected(self) -> frozenset[str]:
        """The codes of the rules that a selector names."""
        return self.selection.named if self.selection is not None else frozenset()

    @property
    def reads_every_tensorflow_file(self) -> bool:
        """True if a rule is selected that may fire in any file that mentions TensorFlow."""
        from tfmemlint.rulekit.triggers import reads_every_tensorflow_file

        return reads_every_tensorflow_file(self.selected)


@dataclass(frozen=True, slots=True)
class Unproven:
    """Something that a program wants of GPU memory and that does not take effect once it is fixed.

    Attributes:
        span: the statement, in the text before the fixes. reason: what happens instead.
        before: it takes effect in the text before the fixes.
    """

    span: Span
    reason: str
    before: bool


@dataclass(slots=True)
class FileResult:
    """What came of one file.

    Attributes:
        candidate: it was read closely. findings: what is left. applied: what was mended.
        source: its text as it is now, for excerpts. old: its text before, where that differs.
        problem: why it could not be written, or "". remark: what else came of writing it, or "".
        notes: what was not followed to its end.
        programs: where the programs start that have to do with it. judged: the one that starts in it, gone through.
        alone: what was found in it by itself, whatever its comments silence; None where that wasn't looked for.
    """

    path: str
    candidate: bool = False
    findings: list[Finding] = field(default_factory=list)
    applied: list[Finding] = field(default_factory=list)
    source: Source | None = None
    old: Source | None = None
    problem: str = ""
    remark: str = ""
    notes: tuple[str, ...] = ()
    programs: tuple[Entry, ...] = ()
    judged: ProgramResult | None = None
    alone: list[Finding] | None = None


@dataclass(frozen=True, slots=True)
class Item:
    """One file to read closely: its bytes, or why there are none; and the program that starts there, if any.

    ``known``: what was found in it before, as it is now: a `ProgramResult` where a program starts there, else findings.
    ``key``: by what name that is kept; "" where it isn't. ``kind``: what the file is (`tfmemlint.sources.kinds`).
    """

    path: str
    data: bytes | None
    error: Unreadable | None = None
    entry: Entry | None = None
    key: str = ""
    known: object = None
    kind: str = PYTHON


def drop_unselected_advice(found: list[Finding], job: Job) -> list[Finding]:
    """Findings but for advice that nobody asked for."""
    asked = job.selection.named if job.selection is not None else frozenset()
    return [one for one in found if one.severity is not Severity.ADVICE or one.code in asked]


def rules_for(selection: Selection | None, path: str) -> list[Rule]:
    """The rules to run on a file."""
    from tfmemlint.rulekit.rule import rules

    if selection is None:
        in_texts = kind_of(os.path.basename(path)) in DOCUMENTS
        return [
            rule for rule in rules() if rule.severity is not Severity.ADVICE or (in_texts and rule.default_in_documents)
        ]
    return [rule for rule in rules() if selection.enabled(rule, path)]


def target_of(job: Job, path: str) -> Target:
    """The release to judge a file for, or the program that starts there: what was told; else what the file's own
    project says; else the newest."""
    from tfmemlint.knowledge.releases import Target

    if job.target is not None:
        return job.target
    from tfmemlint.project.targets.find import current

    return current().of_file(path).target or Target.newest()


def launches_of(job: Job, path: str) -> tuple[Launch, ...]:
    """The environments in which configuration files of its project start the program in a file."""
    if kind_of(os.path.basename(path)) in DOCUMENTS:
        return ()
    from tfmemlint.deployment.project_launches import launches_of as found

    return found(path, job.kinds)


def reset_project_caches() -> None:
    """Read the files of projects anew: they may have changed since the last run in this process."""
    for name in (
        "tfmemlint.project.targets.find",
        "tfmemlint.deployment.project_launches",
        "tfmemlint.deployment.project_readers",
    ):
        module = sys.modules.get(name)
        if module is not None:
            module.reset_cache()
