"""Programs in the environments in which configuration files start them: what is wrong there and is not wrong
otherwise."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from tfmemlint.model.finding import Finding, Severity, Step

if TYPE_CHECKING:
    from tfmemlint.deployment.launches import Launch
    from tfmemlint.interpreter.program import EnvWrite
    from tfmemlint.rulekit.rule import Rule


def started(
    path: str,
    found: Iterable[Finding],
    starts: Sequence[Launch],
    rules: Sequence[Rule],
    judged: Callable[[tuple[EnvWrite, ...], Sequence[Rule]], Iterable[Finding]],
) -> Iterator[Finding]:
    """What rules about variables find in the program at ``path`` where it is started by ``starts``, besides what was
    ``found`` without.

    All of it is a warning: the program may be started otherwise as well. A fix would be made for that start only, so
    that none is offered.

    Args:
        judged: what these rules find in the program with these variables set; what it raises is passed over.
    """
    concerned = [rule for rule in rules if rule.sees_launch_environment]
    if not concerned or not starts:
        return
    known = {(one.code, one.path, one.span) for one in found}
    for start in starts:
        try:
            besides = list(judged(start.writes, concerned))
        except Exception:  # what goes well without the variables is judged without them
            continue
        for finding in besides:
            place = (finding.code, finding.path, finding.span)
            if place not in known:
                known.add(place)
                yield _by(finding, start, path)


def _by(finding: Finding, start: Launch, path: str) -> Finding:
    """A finding that is so where ``start`` starts the program at ``path``."""
    given = [one for one in start.writes if one.name in finding.message]
    places = {(one.path, one.span) for one in given}
    steps = [Step(one.path, one.span, f"{one.name} is set to {_value(one)!r}") for one in given]
    steps.append(Step(start.path, start.span, f"{start.where} starts {path}"))
    rest = [step for step in finding.trace if (step.path, step.span) not in places]
    if not rest:
        rest = [Step(finding.path, finding.span, "it is in force here")]
    return dataclasses.replace(
        finding,
        severity=Severity.WARNING if finding.severity is Severity.ERROR else finding.severity,
        trace=(*steps, *rest),
        notes=(*finding.notes, f"So it is where {start.path}:{start.span.row} starts the program ({start.where})."),
        fixable=False,
    )


def _value(write: EnvWrite) -> object:
    return getattr(write.value, "value", None)
