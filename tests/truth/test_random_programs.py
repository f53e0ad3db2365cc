"""Random programs: a definite claim is never wrong, and of what really fails next to nothing goes unsaid.

A sample of the programs has all kinds of statements; with ``--all-programs``, all are run.
``tools/random_programs.py`` does the same with as many programs as one has time for.
"""

from __future__ import annotations

import os
from collections.abc import Sequence

import pytest

from tests.fixture_files import is_everything_wanted
from tests.truth.programs.campaign import Examiner, Figures, campaign, made
from tests.truth.programs.sample import covering
from tests.truth.programs.shrink import explained, words

pytestmark = [pytest.mark.slow, pytest.mark.tensorflow]

SEED = 7
PROGRAMS = {1: 300, 3: 100}
"""How many programs of each number of modules: some 40 s on two cores that have nothing else to do."""
SAMPLE = {1: 120, 3: 60}
"""How many of them are run by default."""
SHARE = 0.95
"""How much of what fails has to be found; of some thousand programs it is 0.98 to 0.99."""


@pytest.fixture(scope="module", params=sorted(PROGRAMS))
def modules(request: pytest.FixtureRequest) -> int:
    """The number of modules of each program."""
    return int(request.param)


@pytest.fixture(scope="module")
def figures(modules: int) -> Figures:
    """What came of all programs of that number."""
    return campaign(numbers(modules), SEED, jobs=min(os.cpu_count() or 1, 2), modules=modules)


def numbers(modules: int) -> Sequence[int]:
    """The numbers of the programs to run."""
    every = range(PROGRAMS[modules])
    return (
        every
        if is_everything_wanted()
        else covering(lambda number: made(SEED, number, modules), every, SAMPLE[modules])
    )


def _small(modules: int, number: int) -> str:
    program, settings = made(SEED, number, modules)
    with Examiner() as examiner:
        return f"program {number} of seed {SEED}, made small:\n{words(explained(examiner, program, settings))}"


def test_no_definite_claim_is_wrong(figures: Figures, modules: int, capsys: pytest.CaptureFixture[str]) -> None:
    with capsys.disabled():
        print(f"\nrandom programs of {modules} module(s): {figures.table()}")
    assert not figures.wrong_in, _small(modules, figures.wrong_in[0])


def test_failures_are_found(figures: Figures, modules: int) -> None:
    assert figures.failures, "nothing failed: these programs show nothing"
    assert figures.share >= SHARE, _small(modules, figures.missed_in[0])


def test_the_programs_are_good_ones(figures: Figures) -> None:
    assert figures.invalid.total() <= 0.02 * figures.programs, dict(figures.invalid)
    assert figures.failed_runs >= 0.2 * figures.runs
    assert figures.claims.total() >= 0.1 * figures.programs
