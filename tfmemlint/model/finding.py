"""Findings: a defect, its place, its cause, and the edits that fix it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from enum import Enum

from tfmemlint.model.intent import Intent
from tfmemlint.model.records import dataclass, record

ONLY_IF_ALL_USERS = "only if all users"
"""The key in the details of a finding about what a module has for its users: one of them that takes it refutes it."""
UNLESS_NAMED = "unless named"
"""The key in the details of a finding about a function: another file of the project that mentions it refutes it."""


class Severity(str, Enum):
    """The severity of a finding.

    ``ERROR``: will raise, or will silently not do what it says, on every path that reaches it, on a machine with the
    GPUs that the code is about. ``WARNING``: does so on some path, or only with a certain number of GPUs or release.
    ``ADVICE``: off unless its rule is selected.
    """

    ERROR = "error"
    WARNING = "warning"
    ADVICE = "advice"


class Applicability(str, Enum):
    """The condition for applying a fix: always (``SAFE``), with ``--unsafe-fixes`` (``UNSAFE``), or never."""

    SAFE = "safe"
    UNSAFE = "unsafe"
    DISPLAY = "display"


@record(frozen=True, slots=True, order=True)
class Span:
    """A stretch of text: rows from 1, columns from 1, both in characters; the end column is exclusive."""

    row: int
    column: int
    end_row: int
    end_column: int

    def contains(self, other: Span) -> bool:
        """Return True if ``other`` is inside this span or equal to it."""
        return (self.row, self.column) <= (other.row, other.column) and (other.end_row, other.end_column) <= (
            self.end_row,
            self.end_column,
        )

    def lower(self, rows: int) -> Span:
        """Return this span, moved down by a number of rows."""
        return Span(self.row + rows, self.column, self.end_row + rows, self.end_column)


@dataclass(frozen=True, slots=True)
class Step:
    """One step of a trace: the place, and words for what happens there."""

    path: str
    span: Span
    words: str


@dataclass(frozen=True, slots=True)
class Way:
    """The way on which a program came to a place.

    Attributes:
        span: the event at which something was found: the whole call where the finding is about an argument.
        frames: the calls and imports that led there, from where the program starts, outermost first.
    """

    span: Span
    frames: tuple[Step, ...] = ()


@dataclass(frozen=True, slots=True)
class Edit:
    """Replace the text of ``span`` by ``content``, in the file at ``path``; "" for the file of the finding."""

    span: Span
    content: str
    path: str = ""


AT_LAUNCHES = "at_launches"
"""The key in a finding's details that says which launches of a program a fix is right for: ``any``, all that leave it
``one GPU``, or all that leave it the ``same GPUs``; without it, none but the one that the finding is about."""
RIGHT_FOR_ANY_VALUE = "right for any value"
"""The key in the details of a finding about a value that may be another in another run: the fix is right for all."""
LAUNCHED = "launched"
"""The key in a finding's details that is true if it holds only where a configuration file starts the program."""
CAME_TO_LIGHT = "came_to_light"
"""The key in a fixed finding's details that is true if it was found only after another fix."""
PACKAGES = {"pynvml": "nvidia-ml-py"}
"""The distribution that has a module which fixed code imports, where the two names differ."""


@dataclass(frozen=True, slots=True)
class Fix:
    """A rewrite that fixes one finding.

    Attributes:
        applicability: safe, unsafe, or for display only.
        message: what the rewrite does, as a sentence without a full stop.
        edits: replacements, in the file of the finding unless they name another one; they don't overlap.
        needs: packages that the fixed code imports and the old code did not (``pynvml``).
    """

    applicability: Applicability
    message: str
    edits: tuple[Edit, ...]
    needs: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Finding:
    """One defect at one place.

    Attributes:
        code: ``TFM101``.
        name: ``growth-after-init``.
        path: the file as it is shown to the user.
        span: the place that a person has to look at.
        message: the defect in one line, in TensorFlow's own words where it has some.
        intent: what the author wanted, if that is known.
        outcome: what TensorFlow will do instead, as a sentence without a full stop.
        advice: what to write instead, as a sentence without a full stop, or "".
        trace: the cause, first step first (which line starts the runtime, through which calls).
        notes: further information, one line each (for example: the handler that hides the error).
        fixable: the rule offers a rewrite (which may still be withheld when it is computed).
        anchors: other places that the rewrite needs, by a name of the rule's own choice.
        details: what else the rewrite needs; plain data (texts, numbers, spans, collections of them).
        way: how the program came there, for a finding of a rule about whole programs.
        in_module: for a finding at that user of a module which alone has the defect: the same one at its place in the
            module.
        suppressed: the reason of the comment that silences it, "" if that gives none; None for a finding to report.
        on_request: it is about a name that another release has, and not about GPU memory: reported where the user asks
            for such names.
        noqa_row: the row whose suppression comment counts; the last row of the statement.
        fix: the rewrite, if it has been computed.
        withheld: the reason for withholding the rewrite, or "".
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
    on_request: bool = False
    suppressed: str | None = None
    way: Way | None = None
    in_module: Finding | None = None

    @property
    def sort_key(self) -> tuple[str, int, int, str, str]:
        """Return the key by which findings are sorted, whatever the order of files and rules."""
        return (self.path, self.span.row, self.span.column, self.code, self.message)
