"""Making a program small that still shows what a larger one showed."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from tests.truth.programs.campaign import Examined, Examiner, Setting
from tests.truth.programs.model import Program, smaller
from tests.truth.programs.observe import Place
from tests.truth.programs.render import shown

Shows = Callable[[Examined], bool]

MOST_TRIES = 600


def shrunk(program: Program, shows: Callable[[Program], bool], tries: int = MOST_TRIES) -> Program:
    """The smallest program that greedy cutting finds for which ``shows`` is still true."""
    left = tries
    cut = True
    while cut and left > 0:
        cut = False
        for candidate in smaller(program):
            left -= 1
            if left < 0:
                break
            if shows(candidate):
                program, cut = candidate, True
                break
    return program


@dataclass(frozen=True, slots=True)
class Shown:
    """A small program with a mismatch: the setting that it shows in, and what was said and seen."""

    program: Program
    setting: Setting
    examined: Examined


def mismatch(examined: Examined) -> Shows:
    """What makes another program show the same: a wrong claim of the same rule, or else a failure missed by it."""
    wrong, missed = {finding.code for finding in examined.wrong}, {finding.code for finding in examined.missed}
    if wrong:
        return lambda other: not other.invalid and any(finding.code in wrong for finding in other.wrong)
    return lambda other: not other.invalid and any(finding.code in missed for finding in other.missed)


def explained(examiner: Examiner, program: Program, settings: Sequence[Setting]) -> Shown:
    """A program that shows a mismatch, made small."""
    shows = mismatch(examiner.examine(program, settings))
    setting = next((one for one in settings if shows(examiner.examine(program, [one]))), settings[0])
    small = shrunk(program, lambda candidate: shows(examiner.examine(candidate, [setting])))
    return Shown(small, setting, examiner.examine(small, [setting]))


def words(small: Shown) -> str:
    """A mismatch for a person: the program, what was said of it, what happened."""
    examined, report = small.examined, small.examined.reports[0]
    env = " ".join([*(f"{name}={value}" for name, value in small.setting.env), "main.py", *small.setting.argv])
    lines = [shown(small.program), f"run as: {env}", "claims:"]
    lines += [
        f"  {'error' if one.definite else 'warning'} {_at(one.at)} {one.code} {one.message}" for one in examined.claims
    ]
    lines.append("what happened:")
    lines += [f"  {_at(event.at)} {event.what} {event.error} {event.text}".rstrip() for event in report.events]
    lines.append(f"  ended by {report.error} at {_at(report.at)}" if report.error else "  came to its end")
    lines += [f"WRONG: {one.code} at {_at(one.at)}" for one in examined.wrong]
    lines += [f"MISSED: {one.code} at {_at(one.at)}: {one.words}" for one in examined.missed]
    return "\n".join(lines)


def _at(place: Place) -> str:
    return f"{place[0]}:{place[1]}"
