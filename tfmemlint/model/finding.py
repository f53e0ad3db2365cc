"""What a rule reports: a finding, where it is, how it comes about, and the edits that would mend it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum

from tfmemlint.model.intent import Intent


class Severity(str, Enum):
    """How bad a finding is.

    ``ERROR``: will raise, or will silently not do what it says, on every path that reaches it, on a machine with the
    GPUs that the code is about. ``WARNING``: does so on some path, or only with a certain number of GPUs or release.
    ``ADVICE``: off unless its rule is selected.
    """

    ERROR = "error"
    WARNING = "warning"
    ADVICE = "advice"


class Applicability(str, Enum):
    """Whether a fix may be applied without a look (``SAFE``), with ``--unsafe-fixes`` (``UNSAFE``), or not at all."""

    SAFE = "safe"
    UNSAFE = "unsafe"
    DISPLAY = "display"


@dataclass(frozen=True, slots=True, order=True)
class Span:
    """A stretch of text: rows from 1, columns from 1, both in characters; the end column is exclusive."""

    row: int
    column: int
    end_row: int
    end_column: int

    def contains(self, other: Span) -> bool:
        """Whether ``other`` lies within this span (equality counts)."""
        return (self.row, self.column) <= (other.row, other.column) and (other.end_row, other.end_column) <= (
            self.end_row,
            self.end_column,
        )

    def lower(self, rows: int) -> Span:
        """The same, so many rows further down."""
        return Span(self.row + rows, self.column, self.end_row + rows, self.end_column)


@dataclass(frozen=True, slots=True)
class Step:
    """One step of a trace: where, and in words what happens there."""

    path: str
    span: Span
    words: str


@dataclass(frozen=True, slots=True)
class Edit:
    """Replace the text of ``span`` by ``content``."""

    span: Span
    content: str


@dataclass(frozen=True, slots=True)
class Fix:
    """A rewrite that mends one finding.

    Attributes:
        applicability: safe, unsafe, or for display only.
        message: what the rewrite does, as a sentence without a full stop.
        edits: replacements in the file of the finding; they don't overlap.
        needs: packages that the fixed code imports and the old code did not (``pynvml``).
    """

    applicability: Applicability
    message: str
    edits: tuple[Edit, ...]
    needs: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that is wrong, at one place.

    Attributes:
        code: ``TFM101``. name: ``growth-after-init``.
        path: the file as it is shown to the user.
        span: the place that a person has to look at.
        message: one line: what is wrong, in TensorFlow's own words where it has some.
        intent: what the author wanted, where that is known.
        outcome: what TensorFlow will do instead, as a sentence without a full stop.
        advice: what to write instead, as a sentence without a full stop, or "".
        trace: how it comes about, first step first (which line starts the runtime, through which calls).
        notes: more to know, one line each (for example: the handler that hides the error).
        fixable: the rule offers a rewrite (which may still be withheld when it is computed).
        anchors: other places that the rewrite needs, by a name of the rule's own choice.
        details: what else the rewrite needs; plain data (texts, numbers, spans, collections of them).
        noqa_row: the row whose suppression comment counts; the last row of the statement.
        fix: the rewrite, where it has been computed. withheld: why it was not given, or "".
    """

    code: str
    name: str
    severity: Severity
    path: str
    span: Span
    message: str
    intent: Intent | None = None
    outcome: str = ""
    advice: str = ""
    trace: tuple[Step, ...] = ()
    notes: tuple[str, ...] = ()
    fixable: bool = False
    anchors: Mapping[str, Span] = field(default_factory=dict)
    details: Mapping[str, object] = field(default_factory=dict)
    noqa_row: int = 0
    cell: int | None = None
    fix: Fix | None = None
    withheld: str = ""

    @property
    def sort_key(self) -> tuple[str, int, int, str, str]:
        """Findings are reported in this order, whatever the order of files and rules."""
        return (self.path, self.span.row, self.span.column, self.code, self.message)
