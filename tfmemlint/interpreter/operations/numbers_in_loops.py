"""Tests of what a loop counts: the number of the pass, the device's number, the device itself, its name.

A loop over devices has two passes: that of device 0, and one that stands for all later ones. So ``i == 0`` is known in
both, ``i == 1`` is not known in the second, and ``"GPU:0" in gpu.name`` is known in both: a physical GPU is called
``/physical_device:GPU:N``.
"""

from __future__ import annotations

import ast

from tfmemlint.interpreter.values import (
    EACH,
    Const,
    Count,
    CountPlus,
    Device,
    DeviceName,
    Index,
    PassNumber,
    Seq,
    Value,
)
from tfmemlint.knowledge.device_names import BEGINNINGS
from tfmemlint.model.records import record

_MIRRORED: dict[type[ast.cmpop], ast.cmpop] = {
    ast.Lt: ast.Gt(),
    ast.LtE: ast.GtE(),
    ast.Gt: ast.Lt(),
    ast.GtE: ast.LtE(),
    ast.Eq: ast.Eq(),
    ast.NotEq: ast.NotEq(),
    ast.Is: ast.Is(),
    ast.IsNot: ast.IsNot(),
}
_NAMED = {kind: BEGINNINGS[kind] for kind in ("physical", "logical")}
"""The beginnings of the names of devices that a loop counts, by kind."""


@record(frozen=True, slots=True)
class _AtLeast:
    """A whole number: ``low``, or with ``more`` that or any larger one."""

    low: int
    more: bool


def compare_counted(op: ast.cmpop, left: Value, right: Value) -> bool | None:
    """Return how a comparison of what a loop counts comes out; None if that isn't known, or it is none."""
    if isinstance(op, (ast.In, ast.NotIn)):
        found = _is_among(left, right) if isinstance(right, Seq) else _is_in_name(left, right)
        return found if found is None or isinstance(op, ast.In) else not found
    if _counted(left) is not None and (truth := _compared(left, op, right)) is not None:
        return truth
    mirrored = _MIRRORED.get(type(op))
    return _compared(right, mirrored, left) if mirrored is not None else None


def singles_out(op: ast.cmpop, left: Value, right: Value) -> bool:
    """True if a comparison that later passes of a loop over devices stand for holds in some of them, not in all."""
    if isinstance(op, (ast.In, ast.NotIn)) and isinstance(right, Seq):
        return _counted(left) is not None and _is_among(left, right) is None
    if not isinstance(op, (ast.Eq, ast.NotEq, ast.Is, ast.IsNot)):
        return False
    for counted, other in ((left, right), (right, left)):
        found, number = _counted(counted), _number_of(counted, other)
        if found is not None and number is not None:
            return found.more and number >= found.low
    return False


def _is_among(value: Value, items: Seq) -> bool | None:
    """Return whether a number that a loop counts is one of these; None if that isn't known."""
    counted = _counted(value)
    numbers = [_number_of(value, item) for item in items.items]
    if counted is None or None in numbers:
        return None
    if not counted.more:
        return counted.low in numbers
    return None if any(number is not None and number >= counted.low for number in numbers) else False


def _compared(left: Value, op: ast.cmpop, right: Value) -> bool | None:
    number = _number_of(left, right)
    counted = _counted(left)
    if number is None or counted is None:
        return None
    low, more = counted.low, counted.more
    match op:
        case ast.Gt() | ast.LtE():
            truth = True if low > number else (None if more else False)
        case ast.GtE() | ast.Lt():
            truth = True if low >= number else (None if more else False)
        case ast.Eq() | ast.NotEq() | ast.Is() | ast.IsNot():
            truth = False if low > number else (None if more else low == number)
        case _:
            return None
    return not truth if truth is not None and isinstance(op, ast.LtE | ast.Lt | ast.NotEq | ast.IsNot) else truth


def _counted(value: Value) -> _AtLeast | None:
    """Return the number that a value of a loop's variable has; None for all other values."""
    match value:
        case PassNumber(first, later):
            return _AtLeast(first + later, later)
        case Index(device, offset):
            number = _counted(device)
            return None if number is None else _AtLeast(number.low + offset, number.more)
        case Device(index=int() as index, loop=True) if index >= 0:
            return _AtLeast(index, False)
        case Device(index=index, loop=True) if index == EACH:
            return _AtLeast(1, True)
        case DeviceName(device) if device.kind in _NAMED:
            return _counted(device)
        case _:
            return None


def _number_of(counted: Value, other: Value) -> int | None:
    """Return the number that what is counted is compared with."""
    match counted, other:
        case ((PassNumber() | Index()), Const(int() as number)) if not isinstance(number, bool):
            return number
        case (Device(kind, type_), Device(other_kind, other_type, int() as number)) if number >= 0:
            return number if (kind, type_) == (other_kind, other_type) else None
        case DeviceName(first), DeviceName(second):
            return _number_of(first, second)
        case DeviceName(device), Const(str() as text) if device.type is not None:
            start, digits = _NAMED.get(device.kind, "?") + device.type + ":", text.rpartition(":")[2]
            return int(digits) if text == start + digits and digits.isdecimal() else None
        case _:
            return None


def _is_in_name(text: Value, name: Value) -> bool | None:
    """Return whether a text is part of a device's name; None if that isn't known."""
    if not isinstance(name, DeviceName) or not isinstance(text, Const) or not isinstance(text.value, str):
        return None
    counted, start = _counted(name), f"{_NAMED.get(name.device.kind, '')}{name.device.type}:"
    if name.device.kind not in _NAMED or name.device.type is None or counted is None:
        return None
    wanted: str = text.value
    if wanted in start:
        return True
    if not counted.more:
        return wanted in f"{start}{counted.low}"
    stem = wanted.rstrip("0123456789")
    if not stem or not start.endswith(stem):
        return None if not stem else False
    # No number but 0 begins with 0.
    return False if wanted[len(stem)] == "0" and counted.low > 0 else None


def ends_name(name: DeviceName, text: str) -> bool | None:
    """Return whether a device's name ends in a text; None if that isn't known."""
    found = _is_in_name(Const(text), name)
    counted = _counted(name)
    if found is False or counted is None or counted.more:
        return found if found is False else None
    return f"{name.device.type}:{counted.low}".endswith(text) or f"{_full(name.device)}{counted.low}".endswith(text)


def _full(device: Device) -> str:
    return f"{_NAMED.get(device.kind, '')}{device.type}:"


def as_index(value: Value) -> Index | None:
    """Return the number of a device: of each in a loop, of the last one (``len(gpus) - 1``) or of one beyond it."""
    match value:
        case Index():
            return value
        case Count(of) if of.whole:
            return Index(Device(of.kind, of.type, -1), 1)
        case CountPlus(of, plus) if of.whole:
            return Index(Device(of.kind, of.type, -1), plus + 1)
        case _:
            return None


def is_nonzero(value: Value) -> bool | None:
    """Return whether the number that a loop counts is not zero; None if that isn't known."""
    counted = _counted(value)
    if counted is None:
        return None
    return True if counted.low > 0 else (None if counted.more else counted.low != 0)
