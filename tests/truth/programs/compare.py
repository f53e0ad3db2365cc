"""Holding the tool's claims against what happened: which were wrong, and which failures no finding tells of."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from tests.truth.programs.observe import Event, Place, Report
from tfmemlint.engine.context import RunContext
from tfmemlint.engine.run import run
from tfmemlint.model.finding import Finding, Severity

CODES = frozenset(f"TFM{number}" for number in (101, 102, 103, 104, 105, 106, 107, 401, 402))
_REFUSED = {
    "TFM101": ("set_memory_growth", "Physical devices cannot be modified"),
    "TFM102": ("set_logical_device_configuration", "Virtual devices cannot be modified"),
    "TFM103": ("set_visible_devices", "Visible devices cannot be modified"),
}
_THREADING = "cannot be modified after initialization"
_EXCLUDED = "Cannot set memory growth on device when virtual devices configured"
_OF_CALL = {name: code for code, (name, _) in _REFUSED.items()}


@dataclass(frozen=True, slots=True)
class Claim:
    """A finding as far as a run can show it. ``steps``: the places that its trace goes through."""

    code: str
    at: Place
    definite: bool
    message: str = ""
    steps: frozenset[Place] = frozenset()


@dataclass(frozen=True, slots=True)
class Failure:
    """A setting that did not do what it says. ``code``: the rule that is about it. ``others``: other places that asked
    for the same, and where a finding does as well."""

    code: str
    at: Place
    words: str = ""
    others: tuple[Place, ...] = ()


def claims(folder: Path, files: Iterable[Path]) -> list[Claim]:
    """What tfmemlint says of the program in ``folder``.

    Raises:
        RuntimeError: it could not do its work.
    """
    found: list[Claim] = []
    for outcome in run([(str(path), True) for path in files], RunContext(explain_fixes="never")):
        for finding in outcome.findings:
            if finding.code in ("TFM900", "TFM901", "TFM902"):
                raise RuntimeError(f"{finding.code}: {finding.message}")
            if finding.code in CODES and finding.severity is not Severity.ADVICE:
                found.append(_claim(finding, folder))
    return found


def _claim(finding: Finding, folder: Path) -> Claim:
    def place(path: str, row: int) -> Place:
        file = Path(path)
        return (str(file.relative_to(folder)) if file.is_relative_to(folder) else path), row

    steps = frozenset(place(step.path, step.span.row) for step in finding.trace)
    definite = finding.severity is Severity.ERROR and not _is_of_another_program(finding)
    # What only one user of a module does wrong is reported there; a run shows it where the module does it.
    at = finding.in_module or finding
    return Claim(finding.code, place(at.path, at.span.row), definite, finding.message, steps)


def _is_of_another_program(finding: Finding) -> bool:
    """Whether a finding is about what a module does that is run itself, as its guard says it can be: no run here does
    that. What is found where ``main.py`` is run has a trace that begins there."""
    path = Path(finding.path)
    return (
        path.name != "main.py"
        and 'if __name__ == "__main__":' in path.read_text(encoding="utf-8")
        and all(step.path == finding.path for step in finding.trace)
    )


def failures(report: Report) -> list[Failure]:
    """Every setting of a run that was refused, came too late, or was lost."""
    found = [Failure(code, event.at, event.text) for event in report.events if (code := _failed(event))]
    found += [Failure("TFM401", places[0], "growth is dropped", tuple(places[1:])) for places in _dropped(report)]
    return found


def _failed(event: Event) -> str:
    if event.what == "differs":
        return "TFM402"
    if event.what == "environ":
        return "TFM105" if event.late and event.changed and event.gpus else ""
    if not event.configures or not event.error:
        return ""
    if event.what not in _OF_CALL:
        return "TFM104" if _THREADING in event.text else ""
    if _EXCLUDED in event.text:
        return "TFM401"
    code = _OF_CALL[event.what]
    return code if _REFUSED[code][1] in event.text else ""


def _dropped(report: Report) -> list[list[Place]]:
    """For each GPU that had growth in the way of a split device when the runtime started, or when the program ended:
    the calls that asked for it. Only the first of them changed something."""
    intended: dict[str, list[Place]] = {}
    split = report.split
    for event in report.events:
        if event.what == "context":
            split = event.split
            break
        if event.what == "environ" and event.name == "TF_FORCE_GPU_ALLOW_GROWTH":
            return []  # with this variable a limit and growth go together
        if event.what == "set_memory_growth" and not event.error:
            if event.value is not True:
                intended[event.device] = []
            else:
                intended.setdefault(event.device, []).append(event.at)
    return [places for places in intended.values() if places] if split else []


def verdict(claim: Claim, report: Report, gpus: int) -> bool | None:
    """Whether a run shows what ``claim`` says; None where it does not come by there, or ends before it might.

    A claim is about every way that leads to its place once what it speaks of has happened. A program that is ended
    early, mostly by another setting, may have come to the place before that, and would have come there again.
    """
    here = [event for event in report.events if event.at == claim.at]
    match claim.code:
        case "TFM402":
            return _differs(report, gpus)
        case "TFM106":
            return _between(claim, report, gpus)
        case "TFM107":
            return _taken_before(here, report)
        case "TFM105":
            return _read_before(here, report)
        case "TFM401":
            return _excluded(claim, here, report)
        case _:
            return _late(claim, report)


def _late(claim: Claim, report: Report) -> bool | None:
    started, accepted, afterwards = False, False, False
    for event in report.events:
        started = started or event.what == "context"
        if event.at != claim.at or _rule_of(event) != claim.code:
            continue
        if _failed(event) == claim.code:
            return True
        if not event.error:  # else something else was wrong with it
            accepted, afterwards = True, afterwards or started
    if afterwards:
        return False
    return False if accepted and not report.error else None


def _rule_of(event: Event) -> str:
    """The rule about late calls of this kind."""
    return _OF_CALL.get(event.what, "TFM104") if event.configures else ""


def _read_before(here: Sequence[Event], report: Report) -> bool | None:
    written = [event for event in here if event.what == "environ"]
    if any(_failed(event) for event in written):
        return True
    return False if written and not report.error else None


def _differs(report: Report, gpus: int) -> bool | None:
    if any(event.what == "differs" for event in report.events):
        return True
    return False if gpus > 1 and any(event.what == "context" for event in report.events) else None


def _between(claim: Claim, report: Report, gpus: int) -> bool | None:
    if gpus < 2:
        return None
    for index, event in enumerate(report.events):
        if event.at == claim.at and event.what == "differs":
            return True
        if event.at == claim.at and event.what == "context":
            later = report.events[index + 1 :]
            return any(one.at in claim.steps and _failed(one) for one in later)
    return None


def _taken_before(here: Sequence[Event], report: Report) -> bool | None:
    if not any(event.what == "allocator" for event in here):
        return None
    settings = [event for event in report.events if event.what in ("set_memory_growth", *_OF_CALL) and not event.error]
    return bool(settings) or (None if report.error else False)


def _excluded(claim: Claim, here: Sequence[Event], report: Report) -> bool | None:
    calls = [event for event in here if event.what == "set_memory_growth"]
    if not calls:
        return None
    if any(_EXCLUDED in event.text for event in calls) or any(claim.at in places for places in _dropped(report)):
        return True
    accepted = [event for event in calls if not event.error]
    if report.error or not accepted:
        return None
    # There is nothing to lose where growth is off; that it is dropped is true all the same.
    return report.split and all(event.value is not True for event in accepted)


def is_found(failure: Failure, said: Iterable[Claim]) -> bool:
    """Whether some finding, an error or a warning, tells of a failure."""
    for claim in said:
        if failure.code == "TFM402" and claim.code in ("TFM402", "TFM106"):
            return True
        if claim.at == failure.at or (claim.code == failure.code and claim.at in failure.others):
            return True
        if claim.code == "TFM106" and failure.at in claim.steps:
            return True
    return False
