"""Devices that are taken out of lists, and keys that are looked up in results."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from typing import Any

from tfmemlint.facts.tree_walk import unparsed
from tfmemlint.interpreter.context import Context
from tfmemlint.interpreter.frames import Loop
from tfmemlint.interpreter.operations.events import event_fields
from tfmemlint.interpreter.program import DeviceAt, ItemLookup, RankTaken
from tfmemlint.interpreter.values import (
    EACH,
    UNKNOWN,
    Const,
    Count,
    CountPlus,
    Device,
    Devices,
    FileValue,
    Index,
    Made,
    Seq,
    Value,
)
from tfmemlint.knowledge.functions import RANKS


def rank_taken(context: Context, value: Value, how: str, node: ast.AST, given: Any, text: str = "") -> Value:
    """Report a GPU that is picked by the rank of the process; return ``value``, or UNKNOWN if it is a rank."""
    if not isinstance(value, Made) or value.name not in RANKS or context.state is None:
        return value
    rank = context.made_by[value.serial]
    context.emit(RankTaken(rank=rank, how=how, given=given, text=text, **event_fields(context, node)))
    return UNKNOWN


def device_taken(
    context: Context, index: int, key: Value, node: ast.expr, written: ast.expr, kind: str, beyond: int = 0
) -> None:
    """Report a GPU that is taken out of the list of them."""
    if (
        context.state is not None
        and (isinstance(key, (Const, FileValue)) or beyond)
        and isinstance(node, ast.Subscript)
    ):
        context.emit(
            DeviceAt(
                index=index,
                key=context.span(written),
                text=context.text(node.value),
                kind=kind,
                beyond=beyond,
                of=key if isinstance(key, FileValue) else None,
                **event_fields(context, node),
            )
        )


def beyond_last(key: Value) -> int:
    """Return by how much the largest of these numbers exceeds that of the last device, 0 where it doesn't."""
    match key:
        case Index(_, offset):
            return max(offset, 0)
        case Count():
            return 1
        case CountPlus(_, plus):
            return max(plus + 1, 0)
        case _:
            return 0


def report_lookup(
    context: Context, made: Made, key: Value, node: ast.expr, base: ast.expr, *, get: bool = False
) -> None:
    """Report a key that is looked up in the result of a call."""
    if context.state is None:
        return
    context.emit(
        ItemLookup(
            of=made.name,
            key=key,
            base=context.span(base),
            call=context.made_by.get(made.serial),
            get=get,
            **event_fields(context, node),
        )
    )


def _is_listed(context: Context, key: Value, loop: Loop) -> bool:
    """True for a number out of a list that is written out: those devices are meant, not all."""
    node = loop.node.generators[0] if isinstance(loop.node, (ast.ListComp, ast.SetComp)) else loop.node
    iterable = context.last_values.get(id(getattr(node, "iter", None)))
    return isinstance(key, Const) and isinstance(iterable, Seq) and iterable.kind in ("list", "tuple")


def device_at(context: Context, devices: Devices, key: Value, written: ast.expr | None) -> Device:
    if isinstance(key, Index):
        # One counted from 1 is meant for the device that it would be if counted from 0.
        return Device(devices.kind, devices.type, key.device.index, loop=key.device.loop)
    if isinstance(written, ast.Name):
        for loop in reversed(context.loops):
            if written.id in loop.rebound and not _is_listed(context, key, loop):
                # The index goes with the loop: taken for the loop over all the devices that it nearly always is.
                return Device(devices.kind, devices.type, EACH if loop.repeated else 0, loop=True)
    if isinstance(key, Const) and isinstance(key.value, int):
        # From a slice or a filtered list: the number in that list isn't the device's own.
        if not devices.whole and key.value >= 0 and (devices.skip or devices.first is not None):
            return Device(devices.kind, devices.type, devices.skip + key.value)
        return Device(devices.kind, devices.type, key.value if devices.whole else f"[{key.value}] of some")
    return Device(devices.kind, devices.type, _number_written(context, written) if written is not None else None)


def _number_written(context: Context, written: ast.expr) -> str:
    """Return a number that isn't known as it is written; with the rank that is known in ``gpus[rank % len(gpus)]``, as
    other ranks have other GPUs, if there is more than one."""
    if isinstance(written, ast.BinOp) and isinstance(written.op, ast.Mod):
        rank = context.last_values.get(id(written.left))
        if isinstance(rank, Const) and isinstance(context.last_values.get(id(written.right)), Count):
            return f"{rank.value} % {unparsed(written.right)}"
    return unparsed(written)


def put_together(parts: Sequence[Value]) -> Devices | None:
    """Return the whole list of devices that its parts make, one after the other; None if they make anything else.

    Of ``[first, *others]``, ``first`` is the device of number 0, and ``others`` leaves that one out.
    """
    middle = [part for part in parts if isinstance(part, Devices) and part.numbers is None]
    if len(middle) != 1 or middle[0].names or middle[0].most is not None:
        return None
    whole = Devices(middle[0].kind, middle[0].type)
    if not (middle[0].leaves_out or middle[0].whole):
        return None
    place = parts.index(middle[0])
    before, after = _numbers_of(parts[:place], whole), _numbers_of(parts[place + 1 :], whole)
    fits = before == list(range(middle[0].skip)) and after == list(range(-middle[0].last, 0))
    return whole if fits else None


def _numbers_of(parts: Sequence[Value], whole: Devices) -> list[int] | None:
    """Return the numbers of single devices of a list, and of slices of it; None if one of them is not known."""
    found: list[int] = []
    for part in parts:
        match part:
            case Device(kind, type_, int() as index) if (kind, type_) == (whole.kind, whole.type):
                found.append(index)
            case Devices(kind, type_, numbers=range() as numbers) if (kind, type_) == (whole.kind, whole.type):
                found.extend(numbers)
            case _:
                return None
    return found
