"""A call that replaces what an earlier one has set: whether it comes in the same runs, and is no other try."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tfmemlint.interpreter.program import Call
    from tfmemlint.rulekit.cells import Cell

_LIST = r"(?:self\.)?_?(?:(?:all|physical|available|tf)_)?(?:gpus|cards|(?:gpu_)?devices)"
_LISTING = re.compile(rf"{_LIST}|len\({_LIST}\)(?: *(?:> *[01]|>= *[12]|!= *0))?", re.IGNORECASE)
"""A condition that asks whether there is a GPU, or how many there are."""
_BINDING = re.compile(r" [\w.]{1,100}(?:@\d{1,9})?[#=]\d")
"""The first sign that tells which values the names of a condition have; it follows its text."""


def are_in_two_cells(cells: Sequence[Cell], earlier: Call, call: Call) -> bool:
    """True if two calls are in different cells, the second of which may be another try."""
    places = [
        next((cell for cell in cells if cell.first <= each.span.row <= cell.last), None) for each in (earlier, call)
    ]
    return places[0] != places[1]


def comes_always(earlier: Call, call: Call) -> bool:
    """True if the later call comes in every run in which the earlier one does."""
    # Where there is no GPU the earlier call configures none either.
    guards = {guard for guard in call.guards if not (guard[1] and _asks_for_gpus(guard[0]))}
    return guards <= set(earlier.guards) and set(call.ways) <= set(earlier.ways)


def _asks_for_gpus(condition: str) -> bool:
    return _LISTING.fullmatch(_BINDING.split(condition, maxsplit=1)[0]) is not None


def is_another_pass(earlier: Call, call: Call) -> bool:
    """True if two events are of one call, reached in one way: in two passes of a loop around it."""
    return (earlier.path, earlier.span, earlier.frames) == (call.path, call.span, call.frames)
