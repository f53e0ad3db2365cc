"""Watch the interpreter at work: what it interprets, why it takes a branch, and where it gives up.

Pass an `Observer` to `tfmemlint.interpreter.analyze`. Observers only look: a program has the same events with one as
without. Without one, each statement costs a comparison with None.
"""

from __future__ import annotations

from enum import Enum
from typing import TYPE_CHECKING, Protocol

from tfmemlint.model.records import record

if TYPE_CHECKING:
    from tfmemlint.interpreter.program import Event
    from tfmemlint.interpreter.state import State
    from tfmemlint.model.finding import Span


class Decision(Enum):
    """The branches that are interpreted of a test, a loop or a handler."""

    TAKEN = "taken"
    NOT_TAKEN = "not taken"
    BOTH = "both"


class Reason(Enum):
    """Why a branch was decided in that way."""

    KNOWN = "the value of the test is known"
    ASSUMED = "assumed, as the code is about machines with a GPU"
    UNKNOWN = "the value of the test is not known"
    JOINED = "paths with different values meet before it"
    UNKNOWN_STATE = "whether the runtime has started is not known"
    LOOP_PASS = "another pass of the loop"
    LOOP_MAY_END = "the loop may have ended before this pass"
    LOOP_LIMIT = "too many loops within loops for a second pass"
    RAISED = "an exception that it catches is known to be raised"
    MAY_RAISE = "nothing is known to raise what it catches; it is looked at, and the body is taken to succeed"


class Surrender(Enum):
    """The things that the interpreter gives up on."""

    GAVE_UP = "not followed to its end"
    STEPS = "the program has more steps than are interpreted"
    DEPTH = "calls are nested deeper than is followed"
    RECURSION = "the function is being interpreted already"
    REPEATED = "the function was followed often enough"
    UNKNOWN_CALLEE = "what is called is not known"
    PASSED_ON = "code of the program goes where it can't be followed"
    HAVOC = "anything may have started or been configured"


class ImportOutcome(Enum):
    """The outcome of an import."""

    FOLLOWED = "followed"
    REPEATED = "imported before"
    SUMMARY = "an earlier program's summary is used"
    NOT_FOUND = "not found in the project"
    NOT_FOLLOWED = "the file is looked at on its own"
    UNREADABLE = "can't be told which file it is, or the file can't be read"


@record(frozen=True, slots=True)
class Origin:
    """The expression at which a value became unknown.

    Attributes:
        path: its file, as in findings. span: its place. text: its source. why: what is the matter with it, in words
            that follow the text.
    """

    path: str
    span: Span
    text: str
    why: str


class Observer(Protocol):
    """Gets told what the interpreter does, in the order in which it does it.

    ``path`` is the file's name as in findings. Several of these methods may be called for one place: a function is
    interpreted once for every way in which it is called.
    """

    def statement(self, path: str, span: Span, state: State) -> None:
        """A statement begins, in this state of the runtime."""

    def event(self, event: Event) -> None:
        """An event is added to the program's events."""

    def branch(self, path: str, span: Span, test: str, decision: Decision, reason: Reason) -> None:
        """A branch is decided.

        Args:
            test: the source of the condition of an ``if`` or ``while``, the head of a loop, or the ``except`` clause.
        """

    def unknown(self, path: str, span: Span, text: str, origin: Origin) -> None:
        """A value that the last event or branch depends on is not known.

        Args:
            span: the place of the argument, or of the test. text: its source. origin: where its value became unknown.
        """

    def gave_up(self, path: str, span: Span | None, what: Surrender, detail: str) -> None:
        """Something is not followed: from here on less is known.

        Args:
            span: where; None where no statement is being interpreted. detail: the callee, or the reason, as text.
        """

    def imported(self, path: str, span: Span, name: str, outcome: ImportOutcome) -> None:
        """A module of this absolute name is asked for."""
