"""Tests of what a loop over devices counts: what is known in the first pass, and in all later ones."""

import ast

import pytest

from tfmemlint.interpreter.operations.numbers_in_loops import compare_counted, ends_name, is_nonzero
from tfmemlint.interpreter.values import EACH, Const, Device, DeviceName, Index, PassNumber, Value

FIRST = Device("physical", "GPU", 0, loop=True)
LATER = Device("physical", "GPU", EACH, loop=True)
PICKED = Device("physical", "GPU", 0)


@pytest.mark.parametrize(
    ("op", "right", "first", "later"),
    [
        (ast.Eq(), 0, True, False),
        (ast.NotEq(), 0, False, True),
        (ast.Gt(), 0, False, True),
        (ast.LtE(), 0, True, False),
        (ast.Eq(), 1, False, None),
        (ast.GtE(), 1, False, True),
        (ast.Lt(), 2, True, None),
    ],
)
def test_a_number_is_zero_in_the_first_pass_and_more_in_all_others(
    op: ast.cmpop, right: int, first: bool | None, later: bool | None
) -> None:
    for value, truth in ((Index(FIRST), first), (Index(LATER), later)):
        assert compare_counted(op, value, Const(right)) is truth
    assert compare_counted(op, PassNumber(0, later=False), Const(right)) is first
    assert compare_counted(op, PassNumber(0, later=True), Const(right)) is later


def test_a_constant_may_stand_on_the_left() -> None:
    assert compare_counted(ast.Lt(), Const(0), Index(LATER)) is True
    assert compare_counted(ast.Lt(), Const(0), Index(FIRST)) is False


def test_a_device_is_compared_with_one_out_of_the_list() -> None:
    assert compare_counted(ast.Eq(), FIRST, PICKED) is True
    assert compare_counted(ast.Is(), PICKED, LATER) is False
    assert compare_counted(ast.Eq(), LATER, Device("physical", "GPU", 1)) is None
    assert compare_counted(ast.Eq(), FIRST, Device("physical", "GPU", -1)) is None
    assert compare_counted(ast.Eq(), FIRST, Device("logical", "GPU", 0)) is None


@pytest.mark.parametrize(
    ("text", "first", "later"),
    [
        ("GPU:0", True, False),
        ("GPU:1", False, None),
        ("GPU", True, True),
        ("CPU", False, False),
        ("CPU:0", False, False),
        ("0", True, None),
        ("/physical_device:GPU:0", True, False),
        ("/device:GPU:0", False, False),
    ],
)
def test_a_text_is_searched_in_the_name(text: str, first: bool | None, later: bool | None) -> None:
    for device, truth in ((FIRST, first), (LATER, later)):
        assert compare_counted(ast.In(), Const(text), DeviceName(device)) is truth
        opposite = compare_counted(ast.NotIn(), Const(text), DeviceName(device))
        assert opposite is (None if truth is None else not truth)


def test_the_name_of_a_local_device_is_not_known() -> None:
    local: Value = DeviceName(Device("local", "GPU", 0, loop=True))
    assert compare_counted(ast.In(), Const("GPU:1"), local) is None


def test_the_end_of_a_name_is_its_number() -> None:
    assert ends_name(DeviceName(FIRST), ":0") is True
    assert ends_name(DeviceName(FIRST), "GPU") is False
    assert ends_name(DeviceName(LATER), ":0") is False
    assert ends_name(DeviceName(LATER), "0") is None


def test_the_truth_of_a_number_is_that_it_is_not_zero() -> None:
    assert is_nonzero(Index(FIRST)) is False
    assert is_nonzero(Index(LATER)) is True
    assert is_nonzero(PassNumber(1, later=False)) is True
