"""Where every run of an entry point ends in an exception, and what is not reached any more because of it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace

from tfmemlint.intents import Wanted
from tfmemlint.interpreter.program import RuntimeStart
from tfmemlint.model.finding import Finding, Severity, Span
from tfmemlint.plan.entry_run import Scene
from tfmemlint.plan.model import Asked, Fate, Prediction, Stop
from tfmemlint.rulekit.rule import codes_where

_RAISED = re.compile(r"(?:TensorFlow|Python) raises ([\w.]+)(?:: (.+))?$")
_AT_ONCE = ("late", "refused", "made-up", "rule", "value")


def refused(asked: Sequence[tuple[Wanted, Asked]]) -> frozenset[Span]:
    """The calls whose arguments TensorFlow refuses, whether a handler catches that or not. What comes too late is not
    in the state in the first place."""
    return frozenset(wanted.span for wanted, one in asked if one.fate.reason == "rule" and _raises_at_once(one.fate))


def _raises_at_once(fate: Fate) -> bool:
    if fate.verdict is not Prediction.FAILS or fate.exception is None or fate.reason not in _AT_ONCE:
        return False
    return fate.reason != "rule" or any(_RAISED.match(words) for words in fate.details)


def stopped(scene: Scene, asked: Sequence[tuple[Wanted, Asked]]) -> tuple[int, Stop] | None:
    """Where ``scene`` ends early, if it does for sure: the number of the event, and what happens there."""
    order = {id(event): number for number, event in enumerate(scene.events)}
    fine = [
        one.place.span for _, one in asked if one.fate.verdict is Prediction.HAPPENS and one.fate.because is not None
    ]
    stops = [*_by_fates(asked, order, scene), *_by_findings(scene, fine)]
    return min(stops, key=lambda one: (one[0], one[1].row)) if stops else None


def _by_fates(asked: Sequence[tuple[Wanted, Asked]], order: dict[int, int], scene: Scene) -> Iterator[tuple[int, Stop]]:
    for wanted, one in asked:
        if one.fate.reason == "partial" and one.fate.verdict is Prediction.FAILS and one.fate.exception is not None:
            yield from _at_the_start(one.fate, one.fate.exception, scene)
        unhandled = _raises_at_once(one.fate) and one.fate.handler is None
        if unhandled and one.fate.exception is not None and wanted.certain and id(wanted.event) in order:
            yield order[id(wanted.event)], Stop(one.place.span.row, one.fate.exception, one.rules)


def _at_the_start(fate: Fate, exception: tuple[str, str], scene: Scene) -> Iterator[tuple[int, Stop]]:
    """The start of the runtime, which raises."""
    for number, event in enumerate(scene.events):
        if isinstance(event, RuntimeStart) and event.span.row == fate.because and event.certain:
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


def _by_findings(scene: Scene, fine: Sequence[Span]) -> Iterator[tuple[int, Stop]]:
    for finding in scene.findings:
        match = _RAISED.match(finding.outcome) if finding.severity is Severity.ERROR else None
        if match is None or any(_meets(span, finding) for span in fine):
            continue
        for number, event in enumerate(scene.events):
            if event.certain and not event.repeated and _meets(event.span, finding):
                if event.handler_for(match[1]) is None and not event.probed:
                    yield number, Stop(finding.span.row, (match[1], match[2] or ""), (finding.code,))
                break


def _meets(span: Span, finding: Finding) -> bool:
    return span.contains(finding.span) or finding.span.contains(span)


def unreached(one: Asked, stop: Stop) -> Asked:
    """What becomes of an intent behind ``stop``."""
    if one.fate.verdict in (Prediction.FAILS, Prediction.UNKNOWN):
        return one
    words = f"is not reached: line {stop.row} raises {stop.exception[0]}"
    then = one.fate.words.removeprefix("depends: ")
    details = (f"Without that it {then}" if then.startswith(("takes", "is ")) else f"Without that: {then}",)
    fate = Fate(Prediction.FAILS, "unreached", words, details, one.fate.condition, because=stop.row)
    return replace(one, fate=fate)
