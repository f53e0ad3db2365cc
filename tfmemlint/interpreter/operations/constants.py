"""Constants: computing with them, and making values of them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from tfmemlint.facts import folding
from tfmemlint.interpreter.values import UNKNOWN, Const, Seq, Value


def fold(compute: Callable[[], Any]) -> Value:
    try:
        result = compute()
    except folding.NotFolded:
        return UNKNOWN
    return lift(result)


def lift(result: object) -> Value:
    if isinstance(result, (list, tuple)):
        return Seq(tuple(lift(item) for item in result), "list" if isinstance(result, list) else "tuple")
    return Const(result)


def index_constant(value: Any, key: Any) -> Any:
    try:
        return value[key]
    except (TypeError, LookupError):
        raise folding.NotFolded from None


def version_part(version: tuple[int, ...], name: str) -> Value:
    if name == "release":
        return Const(version)
    position = ("major", "minor").index(name)
    return Const(version[position]) if position < len(version) else UNKNOWN


def plain_values(values: Sequence[Value]) -> list[Any] | None:
    plain: list[Any] = []
    for value in values:
        if isinstance(value, Const):
            plain.append(value.value)
        elif isinstance(value, Seq):
            inner = plain_values(value.items)
            if inner is None:
                return None
            plain.append(inner)
        else:
            return None
    return plain
