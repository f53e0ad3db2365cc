"""TODO."""

from __future__ import annotations

from tfmemlint.interpreter.context import Context
from tfmemlint.interpreter.values import Made, Proto, Value, parts


def mark_escaped(context: Context, value: Value) -> None:
    """A value goes where it can't be followed."""
    match value:
        case Proto(_, record):
            record.consumed = True
        case Made(_, serial):
            context.used.add(serial)
        case _:
            for part in parts(value):
                mark_escaped(context, part)
