"""Exceptions that end every run of an entry point, and the intents that are not reached because of them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace

from tfmemlint.intents import StatedIntent
from tfmemlint.interpreter.program import RuntimeStart
from tfmemlint.model.finding import Finding, Severity, Span
from tfmemlint.plans.entry_run import EntryRun
from tfmemlint.plans.model import PlannedIntent, Prediction, PredictionKind, Stop
from tfmemlint.rulekit.rule import codes_where

_RAISED = re.compile(r"(?:TensorFlow|Python) raises ([\w.]+)(?:: (.+))?$")
_AT_ONCE = ("late", "refused", "made-up", "rule", "value")


def refused(intents: Sequence[tuple[StatedIntent, PlannedIntent]]) -> frozenset[Span]:
    """Return the calls whose arguments TensorFlow refuses, whether or not a handler catches the exception. Calls that
    come too late are not in the state anyway."""
    return frozenset(
        stated.span
        for stated, planned in intents
        if planned.prediction.reason == "rule" and _raises_at_once(planned.prediction)
    )


def _raises_at_once(prediction: Prediction) -> bool:
    if prediction.kind is not PredictionKind.FAILS or prediction.exception is None or prediction.reason not in _AT_ONCE:
        return False
    return prediction.reason != "rule" or any(_RAISED.match(words) for words in prediction.details)


def stopped(run: EntryRun, intents: Sequence[tuple[StatedIntent, PlannedIntent]]) -> tuple[int, Stop] | None:
    """Return the end of ``run`` if it certainly ends early: the number of the event, and the exception."""
    order = {id(event): number for number, event in enumerate(run.events)}
    fine = [
        planned.place.span
        for _, planned in intents
        if planned.prediction.kind is PredictionKind.HAPPENS and planned.prediction.because is not None
    ]
    stops = [*_by_predictions(intents, order, run), *_by_findings(run, fine)]
    return min(stops, key=lambda end: (end[0], end[1].row)) if stops else None


def _by_predictions(
    intents: Sequence[tuple[StatedIntent, PlannedIntent]], order: dict[int, int], run: EntryRun
) -> Iterator[tuple[int, Stop]]:
    for stated, planned in intents:
        if (
            planned.prediction.reason == "partial"
            and planned.prediction.kind is PredictionKind.FAILS
            and planned.prediction.exception is not None
        ):
            yield from _at_the_start(planned.prediction, planned.prediction.exception, run)
        unhandled = _raises_at_once(planned.prediction) and planned.prediction.handler is None
        if unhandled and planned.prediction.exception is not None and stated.certain and id(stated.event) in order:
            yield order[id(stated.event)], Stop(planned.place.span.row, planned.prediction.exception, planned.rules)


def _at_the_start(prediction: Prediction, exception: tuple[str, str], run: EntryRun) -> Iterator[tuple[int, Stop]]:
    """Yield the start of the runtime that raises."""
    for number, event in enumerate(run.events):
        if isinstance(event, RuntimeStart) and event.span.row == prediction.because and event.certain:
            if event.handler_for(exception[0]) is None:
                yield (
                    number,
                    Stop(
                        event.span.row,
                        exception,
                        tuple(sorted(codes_where(lambda rule: rule.raises_when_runtime_starts))),
                    ),
                )
            return


def _by_findings(run: EntryRun, fine: Sequence[Span]) -> Iterator[tuple[int, Stop]]:
    for finding in run.findings:
        match = _RAISED.match(finding.outcome) if finding.severity is Severity.ERROR else None
        if match is None or any(_meets(span, finding) for span in fine):
            continue
        for number, event in enumerate(run.events):
            if event.certain and not event.repeated and _meets(event.span, finding):
                if event.handler_for(match[1]) is None and not event.probed:
                    yield number, Stop(finding.span.row, (match[1], match[2] or ""), (finding.code,))
                break


def _meets(span: Span, finding: Finding) -> bool:
    return span.contains(finding.span) or finding.span.contains(span)


def unreached(planned: PlannedIntent, stop: Stop) -> PlannedIntent:
    """Return the planned intent as it is after ``stop``."""
    if planned.prediction.kind in (PredictionKind.FAILS, PredictionKind.UNKNOWN):
        return planned
    words = f"is not reached: line {stop.row} raises {stop.exception[0]}"
    then = planned.prediction.words.removeprefix("depends: ")
    details = (f"Without that it {then}" if then.startswith(("takes", "is ")) else f"Without that: {then}",)
    prediction = Prediction(
        PredictionKind.FAILS, "unreached", words, details, planned.prediction.condition, because=stop.row
    )
    return replace(planned, prediction=prediction)
