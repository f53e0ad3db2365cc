"""Numbers of GPUs: the machine's, those that TensorFlow lists, the visible and the logical ones."""

from __future__ import annotations

from textwrap import dedent

import pytest

import tfmemlint
from tfmemlint.interpreter.program import Call
from tfmemlint.interpreter.state import Setting, State
from tfmemlint.interpreter.state.numbering import (
    is_growth_hidden,
    logical_gpus,
    machine_gpus,
    most_physical,
    visible_gpus,
    with_enough_gpus,
)
from tfmemlint.interpreter.values import UNKNOWN, Const, Device, Devices, Limit, Seq, Value
from tfmemlint.model.finding import Span


def _gpu(number: int) -> Device:
    return Device("physical", "GPU", number)


def _visible(value: Value, **more: object) -> State:
    return State(visible=Setting(value), **more)  # type: ignore[arg-type]


def _split(pieces: int) -> Setting:
    return Setting(Seq((Limit(Const(1024)),) * pieces))


@pytest.mark.parametrize(
    ("text", "machine", "most"), [("2", ("2",), 1), ("3,1", ("3", "1"), 2), ("-1", (), 0), ("", (), 0)]
)
def test_the_variable_numbers_the_machine_s_gpus_anew(text: str, machine: tuple[str, ...], most: int) -> None:
    state = State(cuda_visible_devices=Const(text))
    assert machine_gpus(state) == machine
    assert most_physical(state) == most


@pytest.mark.parametrize(
    ("value", "numbers"),
    [
        (_gpu(1), [1]),
        (Seq((_gpu(2), _gpu(0))), [0, 2]),
        (Devices("physical", "GPU", whole=False, first=4, skip=2), [2, 3]),
        (Seq(()), []),
        (UNKNOWN, None),
        (Devices("physical", "GPU"), None),
    ],
)
def test_the_visible_ones_keep_the_order_of_their_numbers(value: Value, numbers: list[int] | None) -> None:
    found = visible_gpus(_visible(value))
    assert (None if found is None else list(found)) == numbers


def test_each_visible_gpu_is_as_many_logical_ones_as_it_is_split_into() -> None:
    shown = Seq((_gpu(1), _gpu(2)))
    logical = logical_gpus(_visible(shown, limits={1: _split(2)}))
    assert logical is not None
    assert logical.count == 3
    assert logical.starts == {1: 0, 2: 2}


def test_nothing_is_said_of_a_split_that_is_not_known() -> None:
    assert logical_gpus(_visible(_gpu(1), limits={1: Setting(UNKNOWN)})) is None
    assert logical_gpus(_visible(_gpu(1), limits={"n": _split(2)})) is None
    assert logical_gpus(State()) is None


@pytest.mark.parametrize(
    ("grown", "value", "hidden"),
    [
        (0, _gpu(1), True),
        (1, _gpu(1), False),
        (0, Devices("physical", "GPU", whole=False, skip=1), True),
        (1, Devices("physical", "GPU", whole=False, skip=1), False),
        (0, UNKNOWN, False),
        (0, Seq(()), False),
        (-1, _gpu(0), True),
        (0, _gpu(-1), True),
        (0, Seq((_gpu(-1),)), True),
        (-1, _gpu(-1), False),
        (-1, _gpu(1), False),
        (-1, Devices("physical", "GPU", whole=False, skip=1), False),
    ],
)
def test_growth_on_a_hidden_gpu(grown: int, value: Value, hidden: bool) -> None:
    assert is_growth_hidden(_visible(value, growth={grown: Setting(Const(True))})) is hidden


SHOWN, ALL = Seq((_gpu(1),)), Devices("physical", "GPU")
COUNTED = ("len(gpus) > 1", True)


def _by(*guards: tuple[str, bool]) -> Call:
    """Return a call of ``set_visible_devices`` under conditions."""
    span = Span(1, 1, 1, 1)
    name = "tf.config.set_visible_devices"
    return Call(path="a.py", span=span, statement=span, state=State(), func=span, guards=guards, name=name)


@pytest.mark.parametrize(
    ("ways", "certain"),
    [
        ((Setting(SHOWN, _by(COUNTED)), None), True),
        ((None, Setting(SHOWN, _by(COUNTED, ("len(gpus)", True)))), True),
        ((Setting(SHOWN, _by(COUNTED)), Setting(ALL)), True),
        ((Setting(SHOWN, _by((COUNTED[0], False))), None), False),
        ((Setting(SHOWN, _by(("use_gpu", True))), None), False),
        ((Setting(SHOWN, _by(COUNTED, ("use_gpu", True))), None), False),
        ((Setting(SHOWN, _by()), None), False),
        ((Setting(SHOWN, _by(COUNTED)), Setting(ALL, _by(COUNTED))), False),
        ((Setting(SHOWN), None), False),
    ],
)
def test_with_enough_gpus_what_is_asked_for_by_their_number_is_visible(
    ways: tuple[Setting | None, ...], certain: bool
) -> None:
    state = State(visible=Setting(UNKNOWN, None, ways))
    expected = next((way for way in ways if way is not None), None) if certain else state.visible
    assert with_enough_gpus(state).visible is expected
    assert with_enough_gpus(State()) == State()


def test_threads_of_other_ranks_show_other_gpus() -> None:
    text = """
        from concurrent.futures import ThreadPoolExecutor

        import tensorflow as tf


        def work(rank):
            gpus = tf.config.list_physical_devices("GPU")
            tf.config.set_visible_devices(gpus[rank % len(gpus)], "GPU")
            return tf.ones((2, 2))


        with ThreadPoolExecutor(1) as pool:
            for result in pool.map(work, {ranks}):
                print(result)
        """
    found = [tfmemlint.check(dedent(text.format(ranks=ranks))) for ranks in ("range(2)", "[1, 1]")]
    assert [[finding.code for finding in result.findings] for result in found] == [["TFM103"], []]
