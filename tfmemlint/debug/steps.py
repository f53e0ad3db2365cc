"""The steps of an analysis: what the interpreter did at each line, and what it then knew of the runtime."""

from __future__ import annotations

from dataclasses import field
from typing import TYPE_CHECKING

from tfmemlint.debug.describe import describe_event, describe_origin, describe_state
from tfmemlint.interpreter.program import End, Event
from tfmemlint.model.records import dataclass

if TYPE_CHECKING:
    from tfmemlint.interpreter import state as states
    from tfmemlint.interpreter.observer import Decision, ImportOutcome, Origin, Reason, Surrender
    from tfmemlint.model.finding import Span


State = dict[str, str]
"""The known state of the runtime, in words, by the name of each part."""


@dataclass(slots=True)
class Step:
    """One thing that the interpreter did.

    Attributes:
        kind: ``statement``, ``event``, ``branch``, ``gave up``, ``import`` or ``end``.
        path: the file, as in findings.
        row: the line, from 1; None if the step is at no line.
        column: the column, from 1; None if the step is at no line.
        words: what was done.
        details: more about it, a sentence each.
        state: the runtime just before it; None if the step has none of its own.
    """

    kind: str
    path: str
    row: int | None
    column: int | None
    words: str
    details: list[str] = field(default_factory=list)
    state: State | None = None


@dataclass(slots=True)
class StepRecorder:
    """Records each step (`tfmemlint.interpreter.observer.Observer`)."""

    steps: list[Step] = field(default_factory=list)

    def statement(self, path: str, span: Span, state: states.State) -> None:
        """Record a statement."""
        self.steps.append(Step("statement", path, span.row, span.column, "", state=describe_state(state)))

    def event(self, event: Event) -> None:
        """Record an event."""
        words, details = describe_event(event)
        state = describe_state(event.state)
        if isinstance(event, End):
            self.steps.append(Step("end", event.path, None, None, words, details, state))
        else:
            span = event.span
            self.steps.append(Step("event", event.path, span.row, span.column, words, details, state))

    def branch(self, path: str, span: Span, test: str, decision: Decision, reason: Reason) -> None:
        """Record which branches of a condition are interpreted, and why."""
        words = f"{' '.join(test.split())}: {decision.value}"
        self.steps.append(Step("branch", path, span.row, span.column, words, [f"because {reason.value}"]))

    def unknown(self, path: str, span: Span, text: str, origin: Origin) -> None:
        """Add to the last step where a value that it depends on became unknown."""
        words = describe_origin(text, origin)
        if words not in self.steps[-1].details:
            self.steps[-1].details.append(words)

    def gave_up(self, path: str, span: Span | None, what: Surrender, detail: str) -> None:
        """Record what was not followed."""
        row, column = (span.row, span.column) if span is not None else (None, None)
        words = f"{' '.join(detail.split())}: {what.value}" if detail else what.value
        self.steps.append(Step("gave up", path, row, column, words))

    def imported(self, path: str, span: Span, name: str, outcome: ImportOutcome) -> None:
        """Record how an import was resolved."""
        self.steps.append(Step("import", path, span.row, span.column, f"{name}: {outcome.value}"))


@dataclass(frozen=True, slots=True)
class Change:
    """A part of the runtime's state that differs between two steps; None if it is as at the very start."""

    name: str
    before: str | None
    after: str | None


def changes(before: State, after: State) -> list[Change]:
    """Return what differs between two states."""
    names = [*after, *(name for name in before if name not in after)]
    found = [Change(name, before.get(name), after.get(name)) for name in names]
    return [change for change in found if change.before != change.after]
