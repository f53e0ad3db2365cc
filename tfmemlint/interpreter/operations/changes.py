"""Methods that change a container, by whatever name it is called."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from tfmemlint.interpreter.context import Context
from tfmemlint.interpreter.operations.contents import Container, alter, forget_contents
from tfmemlint.interpreter.registry import CHANGES
from tfmemlint.interpreter.values import UNKNOWN, Dict, Seq, Value


def change(context: Context, base: Value, name: str, values: Sequence[Value], keywords: Mapping[str, Value]) -> Value:
    """Call a method that changes a list or a dictionary; return its result."""
    handler = CHANGES.get((type(base), name))
    if handler is not None:
        result: Value | None = handler(context, base, values, keywords)
        return UNKNOWN if result is None else result
    if isinstance(base, (Seq, Dict)) and name not in _READING:
        change_unknown(context, base, values, keywords)
    return UNKNOWN


def change_unknown(
    context: Context, base: Container, values: Sequence[Value] = (), keywords: Mapping[str, Value] | None = None
) -> Value:
    """Change a container in a way of which nothing is known."""
    if isinstance(base, Dict):
        for value in (*values, *(keywords or {}).values()):
            forget_contents(context, value)
    alter(context, base, lambda _: UNKNOWN)
    return UNKNOWN


_READING = frozenset(
    {
        *("__iter__", "__len__", "__contains__", "index", "count", "isdisjoint", "issubset"),
        *("get", "items", "keys", "values"),
    }
)
"""Methods that change nothing."""
