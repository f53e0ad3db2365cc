"""The result of one file, and what a run of its program has refuted."""

from __future__ import annotations

from dataclasses import field
from typing import TYPE_CHECKING, TypeAlias

from tfmemlint.model.finding import Finding, Span
from tfmemlint.model.records import dataclass
from tfmemlint.project.kinds import Kind

if TYPE_CHECKING:
    from tfmemlint.project.entries import Entry
    from tfmemlint.sources import Source

WayTo: TypeAlias = tuple[str, Span, tuple[tuple[str, Span], ...]]
"""The path and the span of an event, and the places of the calls and imports that lead there, outermost first."""
PYTHON_2 = "This looks like Python 2: tfmemlint reads Python 3."
"""The note on a file that is no Python 3."""
NOT_PYTHON = "This is not valid Python, and nothing in it is about GPU memory."
"""The note on a file that can't be parsed, and about which nothing would be said if it could."""
CELL_NOT_PYTHON = "A cell is not valid Python 3, and not checked."
"""The note on a notebook whose other cells were checked."""
NOT_PARSED = "it can't be read"
"""Why a program was not followed that starts in a file which is no text, or is not valid Python."""
NOT_READ = frozenset({PYTHON_2, NOT_PYTHON})
"""The notes on files that were not checked, and have no finding that says so."""


@dataclass(frozen=True, slots=True)
class Unproven:
    """An intent that does not take effect once the program is fixed.

    Attributes:
        span: the statement, in the text before the fixes.
        reason: what happens instead.
        before: it takes effect in the text before the fixes.
    """

    span: Span
    reason: str
    before: bool


@dataclass(frozen=True, slots=True)
class ProgramResult:
    """The findings of a program in all of its files, before comments silence any, and where the analysis gave up.

    Attributes:
        entry: where the program starts.
        findings: the findings of the rules that look at a whole program.
        reached: the path and span of each event that touches the runtime or its configuration.
        ways: of the same events, but for those in functions that nothing calls: each with the places of the calls and
            imports that lead there, outermost first.
        gave_up: where the program was not followed, in words.
        failed: why the program was not followed at all, or "".
        read: the names of the files that the program is made of.
        config_files: the absolute paths of the configuration files that it has asked for; they are not cached.
        missed: the names of modules that are not there, but may appear; they are not cached.
    """

    entry: Entry
    findings: tuple[Finding, ...] = ()
    reached: frozenset[tuple[str, Span]] = frozenset()
    gave_up: tuple[str, ...] = ()
    failed: str = ""
    read: frozenset[str] = frozenset()
    ways: frozenset[WayTo] = frozenset()
    config_files: frozenset[str] = field(default=frozenset(), compare=False)
    missed: frozenset[str] = field(default=frozenset(), compare=False)

    @property
    def paths(self) -> set[str]:
        """The files in which the program does something that matters."""
        return {self.entry.path, *(path for path, _ in self.reached), *(finding.path for finding in self.findings)}

    @property
    def known(self) -> bool:
        """True if this program really runs and was followed to its end."""
        return self.entry.kind is not Kind.LIBRARY and not self.notes

    @property
    def notes(self) -> tuple[str, ...]:
        """The places at which the program was not followed, in words."""
        return (*self.gave_up, *([self.failed] if self.failed else []))


@dataclass(slots=True)
class FileResult:
    """The result of one file.

    Attributes:
        path: the file.
        candidate: the file was read closely: the prefilter did not leave it out.
        findings: the findings that are left.
        suppressed: the findings that comments silence, if the run keeps them.
        applied: the findings that were fixed.
        source: the text as it is now, for excerpts.
        old: the text before the fixes, where that differs.
        problem: why the file could not be written, or "".
        remark: what else came of writing the file, or "".
        notes: where the file, or a program that starts in it, was not followed.
        entries: where the programs start that the file is part of.
        program: the program that starts in the file.
        own_findings: the findings in the file by itself, before comments silence any; None if it was not checked so.
    """

    path: str
    candidate: bool = False
    findings: list[Finding] = field(default_factory=list)
    suppressed: list[Finding] = field(default_factory=list)
    applied: list[Finding] = field(default_factory=list)
    source: Source | None = None
    old: Source | None = None
    problem: str = ""
    remark: str = ""
    notes: tuple[str, ...] = ()
    entries: tuple[Entry, ...] = ()
    program: ProgramResult | None = None
    own_findings: list[Finding] | None = None

    @property
    def not_followed(self) -> tuple[str, ...]:
        """Why a part of the file, or of a program that starts in it, was not looked at."""
        return tuple(note for note in self.notes if note not in NOT_READ and note != CELL_NOT_PYTHON)

    @property
    def is_cut_short(self) -> bool:
        """True if a part of the file was not looked at."""
        return bool(self.not_followed)


@dataclass(frozen=True, slots=True)
class KeptRun:
    """The results of a run over whole projects, and what they depend on.

    Attributes:
        state: of the projects.
        outside: the paths outside of them that their configuration files have led to. state_outside: of these.
        results: those in which there is anything to say: other files have a plain `FileResult`. Their texts are not
            kept, and neither is what programs do.
    """

    state: str
    outside: tuple[str, ...] = ()
    state_outside: str = ""
    results: tuple[FileResult, ...] = ()
