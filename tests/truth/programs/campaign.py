"""Many programs: made, judged by the tool, run, compared, counted, and made small where the tool was wrong."""

from __future__ import annotations

import multiprocessing
import random
import tempfile
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path

from tests.truth.programs import compare
from tests.truth.programs.compare import Claim, Failure
from tests.truth.programs.model import Program
from tests.truth.programs.observe import Observer, Place, Report
from tests.truth.programs.render import fault, write
from tests.truth.programs.strategies import program as generated
from tfmemlint.rulekit.rule import codes

RUNS = 2
"""How often a program with switches is run."""
CHUNK = 25
_MEANT = frozenset({"", "SystemExit", "KeyError", "AssertionError", "RuntimeError", "ValueError", "StopIteration"})
"""How a program may end that is a good one otherwise; what TensorFlow raises is told apart by its text."""


@dataclass(frozen=True, slots=True)
class Setting:
    """What a program gets from outside in one run."""

    env: tuple[tuple[str, str], ...] = ()
    argv: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Examined:
    """One program: what was said of it, and what it did.

    Attributes:
        claims: what tfmemlint says. reports: the runs. failures: what failed in any of them, each place once.
        wrong: definite claims that a run contradicts. missed: failures that no finding tells of.
        judged: definite claims that a run came by. invalid: why it is no good program, "" where it is.
    """

    claims: tuple[Claim, ...] = ()
    reports: tuple[Report, ...] = ()
    failures: tuple[Failure, ...] = ()
    wrong: tuple[Claim, ...] = ()
    missed: tuple[Failure, ...] = ()
    judged: tuple[Claim, ...] = ()
    invalid: str = ""


@dataclass(slots=True)
class Figures:
    """What came of many programs. ``odd``: by number, the programs with wrong claims or missed failures."""

    programs: int = 0
    invalid: Counter[str] = field(default_factory=Counter)
    runs: int = 0
    failed_runs: int = 0
    claims: Counter[str] = field(default_factory=Counter)
    wrong: Counter[str] = field(default_factory=Counter)
    failures: Counter[str] = field(default_factory=Counter)
    found: Counter[str] = field(default_factory=Counter)
    wrong_in: list[int] = field(default_factory=list)
    missed_in: list[int] = field(default_factory=list)

    @property
    def share(self) -> float:
        """How much of what fails some finding tells of."""
        return self.found.total() / self.failures.total() if self.failures else 1.0

    def add(self, number: int, one: Examined) -> None:
        """Count one program."""
        self.programs += 1
        if one.invalid:
            self.invalid[one.invalid] += 1
            return
        self.runs += len(one.reports)
        self.failed_runs += sum(bool(compare.failures(report)) for report in one.reports)
        self.claims.update(claim.code for claim in one.judged)
        self.wrong.update(claim.code for claim in one.wrong)
        self.failures.update(failure.code for failure in one.failures)
        self.found.update(failure.code for failure in one.failures if failure not in one.missed)
        if one.wrong:
            self.wrong_in.append(number)
        if one.missed:
            self.missed_in.append(number)

    def merge(self, other: Figures) -> None:
        """Add what another process has counted."""
        self.programs += other.programs
        self.runs += other.runs
        self.failed_runs += other.failed_runs
        for name in ("invalid", "claims", "wrong", "failures", "found"):
            getattr(self, name).update(getattr(other, name))
        self.wrong_in += other.wrong_in
        self.missed_in += other.missed_in

    def table(self) -> str:
        """The figures for a person."""
        rows = [f"{'rule':8}{'claims':>8}{'wrong':>8}{'failures':>10}{'found':>8}{'share':>8}"]
        for code in [*sorted({*self.claims, *self.failures}), "all"]:
            claims, wrong, failures, found = (
                counts.total() if code == "all" else counts[code]
                for counts in (self.claims, self.wrong, self.failures, self.found)
            )
            share = f"{found / failures:8.3f}" if failures else f"{'-':>8}"
            rows.append(f"{code:8}{claims:8}{wrong:8}{failures:10}{found:8}{share}")
        head = f"{self.programs} programs, {self.runs} runs, {self.failed_runs} with a setting that failed"
        invalid = f"; {self.invalid.total()} invalid: {dict(self.invalid.most_common(4))}" if self.invalid else ""
        return head + invalid + "\n" + "\n".join(rows)


class Examiner:
    """Runs and judges programs. Use it as a context manager."""

    def __init__(self) -> None:
        self._observer = Observer()
        self._folder = tempfile.TemporaryDirectory(prefix="programs-")
        self._place = Path(self._folder.name).resolve() / "program"

    def __enter__(self) -> Examiner:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """End TensorFlow's process, and remove the files."""
        self._observer.close()
        self._folder.cleanup()

    def examine(self, program: Program, settings: Iterable[Setting]) -> Examined:
        """Judge a program, run it, and compare."""
        files = write(program, self._place)
        wrong = next(filter(None, (fault(path.read_text(encoding="utf-8")) for path in files)), "")
        if wrong:
            return Examined(invalid=wrong)
        said = compare.claims(self._place, files)
        reports = tuple(self._observer.run(self._place, program.gpus, dict(s.env), s.argv) for s in settings)
        return examined(program, said, reports)


def examined(program: Program, said: Iterable[Claim], reports: Iterable[Report]) -> Examined:
    """Compare what was said with what happened."""
    said, reports = tuple(said), tuple(reports)
    failed: dict[tuple[str, Place], Failure] = {}
    for report in reports:
        for failure in compare.failures(report):
            if failure.code in codes():  # a rule that isn't there yet finds nothing
                failed.setdefault((failure.code, failure.at), failure)
    verdicts = [
        (claim, [compare.verdict(claim, report, program.gpus) for report in reports])
        for claim in said
        if claim.definite
    ]
    return Examined(
        claims=said,
        reports=reports,
        failures=tuple(failed.values()),
        wrong=tuple(claim for claim, each in verdicts if False in each),
        missed=tuple(failure for failure in failed.values() if not compare.is_found(failure, said)),
        judged=tuple(claim for claim, each in verdicts if any(one is not None for one in each)),
        invalid=next(filter(None, map(_invalid, reports)), ""),
    )


def _invalid(report: Report) -> str:
    """Why a program is not one that only TensorFlow's checks can end."""
    if report.error not in _MEANT:
        return f"{report.error}: {report.text[:60]}"
    if report.error in ("RuntimeError", "ValueError") and not any(
        event.error or event.what == "differs" for event in report.events
    ):
        return f"{report.error}: {report.text[:60]}"
    return ""


def made(seed: int, number: int, modules: int) -> tuple[Program, tuple[Setting, ...]]:
    """The program of a number, and what it gets from outside; always the same."""
    rng = random.Random(f"{seed}:{number}")
    program = generated(rng, modules)
    settings = [_setting(rng, program) for _ in range(RUNS)]
    return program, tuple(dict.fromkeys(settings))


def _setting(rng: random.Random, program: Program) -> Setting:
    on = [switch for switch in program.switches if rng.random() < 0.5]
    return Setting(
        tuple((name, "1") for name in on if not name.startswith("-")),
        tuple(name for name in on if name.startswith("-")),
    )


def campaign(numbers: Sequence[int], seed: int, jobs: int = 2, modules: int = 1) -> Figures:
    """The figures of the programs of these numbers."""
    figures = Figures()
    for part in _parts(numbers, seed, jobs, modules):
        figures.merge(part)
    figures.wrong_in.sort()
    figures.missed_in.sort()
    return figures


def _parts(numbers: Sequence[int], seed: int, jobs: int, modules: int) -> Iterator[Figures]:
    chunks = [(seed, numbers[start : start + CHUNK], modules) for start in range(0, len(numbers), CHUNK)]
    if jobs < 2:
        with Examiner() as examiner:
            yield from (_chunk(examiner, chunk) for chunk in chunks)
        return
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(jobs, mp_context=context) as pool:
        yield from pool.map(_in_worker, chunks)


_OWN: list[Examiner] = []
"""The examiner of a worker process; TensorFlow's process ends when its standard input is closed with the worker."""


def _in_worker(chunk: tuple[int, Sequence[int], int]) -> Figures:
    if not _OWN:
        _OWN.append(Examiner())
    return _chunk(_OWN[0], chunk)


def _chunk(examiner: Examiner, chunk: tuple[int, Sequence[int], int]) -> Figures:
    seed, numbers, modules = chunk
    figures = Figures()
    for number in numbers:
        program, settings = made(seed, number, modules)
        figures.add(number, examiner.examine(program, settings))
    return figures
