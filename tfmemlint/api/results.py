"""The results of the library's functions: plain data that does not change from release to release.

All classes are frozen dataclasses of texts, numbers, None, tuples and each other, so that `dataclasses.asdict` makes
data for JSON of them. A later release may add fields with a default; none goes away, and none changes its meaning,
without a new major version.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Severity = Literal["error", "warning", "advice"]
"""``error``: it raises, or silently does not do what it says, on every path that reaches it, on a machine with the GPUs
that the code is about. ``warning``: on some path, or with some number of GPUs. ``advice``: only if it is selected."""

Applicability = Literal["safe", "unsafe", "display"]
"""``safe``: the intent is beyond doubt, and the program's other behaviour stays. ``unsafe``: right as far as can be
seen, and a person should look. ``display``: never applied."""


@dataclass(frozen=True)
class Place:
    """A stretch of a file.

    Attributes:
        path: the file: as it was given, relative to the working directory, or the name of a text.
        row: the first line, from 1. In a notebook it counts from the start of the cell.
        column: the first character in that line, from 1.
        end_row: the last line.
        end_column: the character behind the last one in that line.
        cell: in a notebook, the number of the cell among all cells, from 1; None in other files.
    """

    path: str
    row: int
    column: int
    end_row: int
    end_column: int
    cell: int | None = None


@dataclass(frozen=True)
class Step:
    """One step of a trace: a place, and what happens there."""

    place: Place
    message: str


@dataclass(frozen=True)
class Edit:
    """Put ``content`` in the place of the text at ``place``."""

    place: Place
    content: str


@dataclass(frozen=True)
class Fix:
    """A rewrite that fixes one finding.

    Attributes:
        applicability: ``safe``, ``unsafe`` or ``display``.
        message: the rewrite as a sentence without a full stop.
        edits: they do not overlap, and may be in several files.
        needs: packages that the new code imports and the old code did not.
    """

    applicability: Applicability
    message: str
    edits: tuple[Edit, ...]
    needs: tuple[str, ...] = ()


@dataclass(frozen=True)
class Intent:
    """The use that an author wants to make of a GPU's memory.

    Attributes:
        purpose: ``growth``, ``limit``, ``fraction``, ``visible``, ``allocator``, ``threading``, ``report``,
            ``release``, ``devices`` or ``other``.
        words: all of it in words, as a report shows it.
        devices: the devices in words, or "".
        value: MiB for a limit, the share for a fraction, True or False for growth; None if it is not known.
        text: the value as the author wrote it, or "".
    """

    purpose: str
    words: str
    devices: str = ""
    value: float | int | bool | str | None = None
    text: str = ""


@dataclass(frozen=True)
class Finding:
    """One defect at one place.

    Attributes:
        code: the rule's code, such as ``TFM101``.
        name: the rule's name, such as ``growth-after-init``.
        severity: ``error``, ``warning`` or ``advice``.
        place: where it is.
        message: the defect in one line.
        intent: what the author wants, if that is known.
        outcome: what TensorFlow does instead, as a sentence without a full stop, or "".
        advice: what to write instead, as a sentence without a full stop, or "".
        notes: further information, a line each.
        trace: the cause, first step first.
        fix: the rewrite, if there is one and it was asked for.
        withheld: why there is no rewrite, or "".
        url: the page of the rule.
        noqa_row: the line whose ``# noqa`` comment silences the finding.
    """

    code: str
    name: str
    severity: Severity
    place: Place
    message: str
    intent: Intent | None = None
    outcome: str = ""
    advice: str = ""
    notes: tuple[str, ...] = ()
    trace: tuple[Step, ...] = ()
    fix: Fix | None = None
    withheld: str = ""
    url: str = ""
    noqa_row: int = 0


@dataclass(frozen=True)
class Problem:
    """A path that could not be dealt with.

    Attributes:
        path: the file or directory.
        message: what is the matter.
        row: the line to blame, from 1; None if there is none.
    """

    path: str
    message: str
    row: int | None = None


@dataclass(frozen=True)
class CheckResult:
    """The result of `check`.

    Attributes:
        findings: in the order of paths, rows, columns and codes.
        files: the number of files that were looked for.
        problems: paths in which nothing could be looked for, and files that were not followed to their end. What a file
            is silent about then means nothing.
    """

    findings: tuple[Finding, ...]
    files: int
    problems: tuple[Problem, ...] = ()

    @property
    def clean(self) -> bool:
        """True if all was read and nothing was found."""
        return not self.findings and not self.problems


@dataclass(frozen=True)
class Change:
    """A file, before and after its fixes: whole texts, with the line ends of the file.

    Attributes:
        path: the file, or the name of the text.
        old: the text before.
        new: the text after.
    """

    path: str
    old: str
    new: str


@dataclass(frozen=True)
class FixResult:
    """The result of `fix`.

    Attributes:
        changes: the files that change.
        fixed: the findings that are gone, each with its fix. Its place is a row of the old text; the places in its fix
            are those of a text between the old and the new one.
        findings: the findings that are left, each with the reason why it was not fixed, if there is one.
        text: the new text, if a text was given; None for paths.
        written: the changes are on disk.
        problems: as in `CheckResult`; files that could not be written besides.
    """

    changes: tuple[Change, ...]
    fixed: tuple[Finding, ...]
    findings: tuple[Finding, ...]
    text: str | None = None
    written: bool = False
    problems: tuple[Problem, ...] = ()
