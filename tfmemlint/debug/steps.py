"""The steps of an analysis: what the interpreter did at each line, and what it then knew of the runtime."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from tfmemlint.debug.describe import describe_event, describe_state
from tfmemlint.interpreter.program import End, Event

if TYPE_CHECKING:
    from tfmemlint.interpreter.observer import Decision, ImportOutcome, Reason, Surrender
    from tfmemlint.interpreter.state import State
    from tfmemlint.model.finding import Span


@dataclass(frozen=True, slots=True)
class Change:
    """A part of the runtime's state that differs from the step before; "" where it is as at the very start."""

    name: str
    before: str
    after: str


@dataclass(slots=True)
class Step:
    """One thing that the interpreter did.

    Attributes:
        kind: ``statement``, ``event``, ``branch``, ``gave up``, ``import`` or ``end``.
        path: the file, as in findings.
        row: the line, from 1; None where no statement was being interpreted.
        column: the column, from 1; None where no statement was being interpreted.
        words: what was done.
        details: more about it, a sentence each.
        changes: what differs in the state just before this step from the one before the previous step.
    """

    kind: str
    path: str
    row: int | None
    column: int | None
    words: str
    details: list[str] = field(default_factory=list)
    changes: list[Change] = field(default_factory=list)


@dataclass(slots=True)
class StepRecorder:
    """Records each step (`tfmemlint.interpreter.observer.Observer`)."""

    steps: list[Step] = field(default_factory=list)
    _state: dict[str, str] = field(default_factory=dict)

    def statement(self, path: str, span: Span, state: State) -> None:
        """Record a statement."""
        self.steps.append(Step("statement", path, span.row, span.column, "", changes=self._changes(state)))

    def event(self, event: Event) -> None:
        """Record an event."""
        words, details = describe_event(event)
        kind = "end" if isinstance(event, End) else "event"
        changes = self._changes(event.state)
        self.steps.append(Step(kind, event.path, event.span.row, event.span.column, words, details, changes))

    def branch(self, path: str, span: Span, test: str, decision: Decision, reason: Reason) -> None:
        """Record which branches of a condition are interpreted, and why."""
        words = f"{' '.join(test.split())}: {decision.value}"
        self.steps.append(Step("branch", path, span.row, span.column, words, [f"because {reason.value}"]))

    def gave_up(self, path: str, span: Span | None, what: Surrender, detail: str) -> None:
        """Record what was not followed."""
        row, column = (span.row, span.column) if span is not None else (None, None)
        self.steps.append(Step("gave up", path, row, column, what.value, [detail] if detail else []))

    def imported(self, path: str, span: Span, name: str, outcome: ImportOutcome) -> None:
        """Record how an import was resolved."""
        self.steps.append(Step("import", path, span.row, span.column, f"{name}: {outcome.value}"))

    def _changes(self, state: State) -> list[Change]:
        now = describe_state(state)
        names = [*now, *(name for name in self._state if name not in now)]
        changes = [Change(name, self._state.get(name, ""), now.get(name, "")) for name in names]
        self._state = now
        return [change for change in changes if change.before != change.after]
