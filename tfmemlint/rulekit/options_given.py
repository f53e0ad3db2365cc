"""The options that are given to what makes the GPU devices and is no session: a server, a listing by ``device_lib``."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from tfmemlint.interpreter.values import Const, Proto, Value
from tfmemlint.knowledge.functions import LIST_LOCAL

if TYPE_CHECKING:
    from tfmemlint.interpreter.program import Program, RuntimeStart

CONFIG_OF = {
    LIST_LOCAL: (0, "session_config"),
    "tf.train.Server": (4, "config"),
    "tf.distribute.Server": (4, "config"),
    "tf.compat.v1.train.Server": (4, "config"),
    "tf.compat.v1.distribute.Server": (4, "config"),
}
"""The place and the name of the argument, by the function."""


def options_given(program: Program, first: RuntimeStart) -> Mapping[str, Value] | None:
    """Return the fields of the ``ConfigProto`` that ``first`` got, by dotted name; None if they are unknown."""
    position, keyword = CONFIG_OF.get(first.name, (-1, ""))
    for call in program.calls(first.name) if keyword else ():
        if (call.path, call.span) == (first.path, first.span):
            given = call.value(position, keyword)
            if isinstance(given, Proto):
                return given.record.fields
            return {} if call.arg(position, keyword) is None or given == Const(None) else None
    return {}
