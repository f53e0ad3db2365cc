"""The harness of the random programs: it notices a wrong claim and a missed failure, and makes programs small."""

from __future__ import annotations

import random
from collections.abc import Iterator

import pytest

from tests.truth.programs import compare
from tests.truth.programs.campaign import Examiner, Figures, Setting, examined, made
from tests.truth.programs.compare import Claim
from tests.truth.programs.model import Block, Clause, Line, Module, Program, block
from tests.truth.programs.observe import Event, Report
from tests.truth.programs.render import text
from tests.truth.programs.shrink import shrunk
from tests.truth.programs.strategies import program as generated

pytestmark = [pytest.mark.slow, pytest.mark.tensorflow]

GROWTH = 'tf.config.experimental.set_memory_growth(tf.config.list_physical_devices("GPU")[0], True)'
LIMIT = (
    'tf.config.set_logical_device_configuration(tf.config.list_physical_devices("GPU")[0], '
    "[tf.config.LogicalDeviceConfiguration(memory_limit=512)])"
)
LATE = Event("set_memory_growth", ("main.py", 3), "RuntimeError", "Physical devices cannot be modified after being")
DONE = Event("set_memory_growth", ("main.py", 3), device="/physical_device:GPU:0", value=True)
STARTED = Event("context", ("main.py", 2))


def _program(*lines: str, gpus: int = 1) -> Program:
    return Program((Module("main.py", tuple(map(Line, ("import os, sys", "import tensorflow as tf", *lines)))),), gpus)


@pytest.fixture(scope="module")
def examiner() -> Iterator[Examiner]:
    with Examiner() as one:
        yield one


def test_a_true_claim_is_judged_and_right() -> None:
    said = [Claim("TFM101", ("main.py", 3), True)]
    one = examined(_program(), said, [Report((STARTED, LATE), "RuntimeError", LATE.text, ("main.py", 3))])
    assert (one.judged, one.wrong, one.missed) == (tuple(said), (), ())


def test_a_wrong_claim_is_noticed() -> None:
    said = [Claim("TFM101", ("main.py", 3), True)]
    one = examined(_program(), said, [Report((DONE, STARTED))])
    assert one.wrong == tuple(said)
    figures = Figures()
    figures.add(5, one)
    assert figures.wrong_in == [5]
    assert figures.wrong["TFM101"] == 1


def test_a_warning_is_no_definite_claim() -> None:
    assert not examined(_program(), [Claim("TFM101", ("main.py", 3), False)], [Report((DONE,))]).wrong


def test_a_claim_about_a_place_that_is_not_reached_is_not_judged() -> None:
    one = examined(_program(), [Claim("TFM101", ("main.py", 9), True)], [Report((DONE,))])
    assert not one.judged
    assert not one.wrong


def test_a_claim_is_not_judged_where_the_program_ends_before_it_could_come_true() -> None:
    said = [Claim("TFM101", ("main.py", 3), True)]
    assert not examined(_program(), said, [Report((DONE,), "ValueError", "", ("main.py", 7))]).wrong


def test_one_of_two_runs_is_enough_to_contradict() -> None:
    said = [Claim("TFM101", ("main.py", 3), True)]
    assert examined(_program(), said, [Report((STARTED, LATE)), Report((DONE,))]).wrong


def test_a_missed_failure_lowers_the_share() -> None:
    figures = Figures()
    figures.add(0, examined(_program(), [Claim("TFM101", ("main.py", 3), False)], [Report((STARTED, LATE))]))
    assert figures.share == 1.0
    figures.add(1, examined(_program(), [Claim("TFM101", ("main.py", 8), True)], [Report((STARTED, LATE))]))
    assert figures.share == 0.5
    assert figures.missed_in == [1]


def test_growth_that_a_limit_makes_void_is_a_failure() -> None:
    limit = Event("set_logical_device_configuration", ("main.py", 4), split=True)
    (failure,) = compare.failures(Report((DONE, limit), split=True))
    assert (failure.code, failure.at) == ("TFM401", ("main.py", 3))
    assert not compare.failures(Report((DONE,)))


def test_a_program_that_fails_by_itself_is_no_good_one() -> None:
    assert examined(_program(), [], [Report((), "NameError", "name 'x' is not defined")]).invalid
    assert examined(_program(), [], [Report((), "RuntimeError", "my own")]).invalid
    assert not examined(_program(), [], [Report((LATE,), "RuntimeError", LATE.text)]).invalid


def test_shrinking_gives_a_small_program() -> None:
    wanted = Line("this = 1")
    rest = [Line(f"x{number} = 0") for number in range(40)]
    nested = block("def f():", [*rest, Block((Clause("if a:", (wanted,)), Clause("else:", tuple(rest))))])
    big = Program((Module("main.py", (*rest, nested)), Module("other.py", tuple(rest))), 3)
    small = shrunk(big, lambda candidate: "this = 1" in text(candidate.modules[0]))
    assert small == Program((Module("main.py", (wanted,)),), 1)


def test_the_same_number_is_the_same_program() -> None:
    assert made(3, 14, 2) == made(3, 14, 2)
    assert made(3, 14, 2) != made(3, 15, 2)


@pytest.mark.parametrize("modules", (1, 2, 3))
def test_generated_programs_are_python(modules: int) -> None:
    for number in range(100):
        for module in generated(random.Random(number), modules).modules:
            compile(text(module), module.path, "exec")


def test_observation_of_a_late_setting(examiner: Examiner) -> None:
    one = examiner.examine(_program("x = tf.constant(1)", GROWTH), [Setting()])
    (report,) = one.reports
    assert [(event.what, event.at) for event in report.events] == [
        ("context", ("main.py", 3)),
        ("set_memory_growth", ("main.py", 4)),
    ]
    assert (report.error, report.at, report.started) == ("RuntimeError", ("main.py", 4), True)
    assert [failure.code for failure in one.failures] == ["TFM101"]
    assert not one.missed


def test_observation_of_the_environment(examiner: Examiner) -> None:
    lines = (
        'os.environ["CUDA_VISIBLE_DEVICES"] = "0,1"',
        'gpus = tf.config.list_physical_devices("GPU")',
        'os.environ["CUDA_VISIBLE_DEVICES"] = "0"',
        'os.environ["TF_FORCE_GPU_ALLOW_GROWTH"] = "true"',
    )
    one = examiner.examine(_program(*lines, gpus=2), [Setting()])
    assert [(event.at[1], event.late) for event in one.reports[0].events] == [(3, False), (5, True), (6, False)]
    assert [(failure.code, failure.at[1]) for failure in one.failures] == [("TFM105", 5)]


def test_observation_of_growth_that_differs_and_of_growth_that_is_dropped(examiner: Examiner) -> None:
    differs = examiner.examine(_program(GROWTH, "x = tf.constant(1)", gpus=2), [Setting()])
    assert [failure.code for failure in differs.failures] == ["TFM402"]
    dropped = examiner.examine(_program(GROWTH, LIMIT), [Setting()])
    assert [(failure.code, failure.at[1]) for failure in dropped.failures] == [("TFM401", 3)]


def test_programs_get_their_settings_and_nothing_else_of_each_other(examiner: Examiner) -> None:
    lines = ('if os.environ.get("FLAG_A") and "--a" in sys.argv:', "    x = tf.constant(1)", GROWTH)
    settings = [Setting((("FLAG_A", "1"),), ("--a",)), Setting((("FLAG_A", "1"),)), Setting()]
    one = examiner.examine(_program(*lines), settings)
    assert [bool(report.error) for report in one.reports] == [True, False, False]
