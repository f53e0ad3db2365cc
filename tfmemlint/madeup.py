"""What a call of a made-up name means: its device, its amount, the unit of the amount."""

from __future__ import annotations

import ast
import re
from dataclasses import dataclass

from tfmemlint.flow.program import Arg, Call
from tfmemlint.flow.values import Const
from tfmemlint.intent import Intent, Wish
from tfmemlint.knowledge.wishes import MadeUp

LEAST_BYTES = 2**24
"""A limit of so many MiB would be 16 TiB: such a number counts bytes."""
MOST_GIGABYTES = 128
"""A whole number up to this one, where MiB are meant, is likely one of gigabytes."""

_SHARE_WORDS = re.compile(r"frac|ratio|share|proportion|(?<![a-z])pct(?![a-z])", re.IGNORECASE)
_MIB_WORDS = re.compile(r"(?:^|_|\d)(?:mb|mib|megabytes?)(?:$|_)|_in_m\b|MB|MiB")
_GIB_WORDS = re.compile(r"(?:^|_|\d)(?:gb|gib|gigabytes?)(?:$|_)|GB|GiB")


@dataclass(frozen=True, slots=True)
class Meaning:
    """A made-up call, read.

    Attributes:
        intent: what was wanted. device: the argument that says where; amount: the one that says how much.
        unit: ``mib``, ``bytes``, ``gib``, ``fraction``, or ``?`` where that isn't known; "" without an amount.
    """

    intent: Intent
    device: Arg | None
    amount: Arg | None
    unit: str


def meaning(call: Call, made_up: MadeUp, device_words: str) -> Meaning:
    """What ``call`` wants, by what its name means and by the arguments it is given."""
    device = _argument(call, made_up.device, made_up.device_keywords)
    amount = _argument(call, made_up.amount, made_up.amount_keywords)
    if amount is None and device is not None and made_up.amount is not None and _is_amount(device):
        # `set_gpu_memory_limit(4096)`, `set_memory_growth(True)`: no device, so all of them.
        device, amount = None, device
    words = device_words if device is not None else "every GPU"
    unit = ""
    wish, value, text = made_up.wish, None, ""
    if wish in (Wish.LIMIT, Wish.FRACTION):
        unit = unit_of(amount) if made_up.unit == "auto" else made_up.unit
        if unit == "fraction":
            wish = Wish.FRACTION
        elif unit in ("mib", "bytes", "gib"):
            wish = Wish.LIMIT
        text = amount.text if amount is not None else ""
        if amount is not None and isinstance(amount.value, Const) and unit != "?":
            value = amount.value.value
    elif wish is Wish.GROWTH:
        value = amount.value.value if amount is not None and isinstance(amount.value, Const) else True
    elif wish is Wish.REPORT:
        value = made_up.value or "current"
    return Meaning(Intent(wish, words, value, text), device, amount, unit)


def unit_of(amount: Arg | None) -> str:
    """The unit of an amount of memory: by its possible values, else by the words in it."""
    if amount is None:
        return "?"
    values = constants(amount)
    if values:
        units = {unit_of_number(value) for value in values}
        return units.pop() if len(units) == 1 else "?"
    if _SHARE_WORDS.search(amount.text):
        return "fraction"
    if _MIB_WORDS.search(amount.text):
        return "mib"
    if _GIB_WORDS.search(amount.text):
        return "gib"
    return "?"


def constants(argument: Arg) -> list[object]:
    """The constants that an argument can come to; none where there may be others."""
    if isinstance(argument.value, Const):
        return [argument.value.value]
    return _possible(argument.node) or []


def unit_of_number(value: object) -> str:
    """The unit that a number of memory is nearly always in: shares lie in (0, 1], bytes count beyond any GPU's MiB."""
    if isinstance(value, bool) or not isinstance(value, (int, float)) or value != value or value <= 0:
        return "?"
    if value <= 1 and not (isinstance(value, int) and value == 1):
        return "fraction"
    if value >= LEAST_BYTES:
        return "bytes"
    return "?" if value <= MOST_GIGABYTES else "mib"


def _possible(node: ast.expr | None) -> list[object] | None:
    """The constants that an expression can come to, None where there may be others."""
    match node:
        case ast.Constant(value=value):
            return [value]
        case ast.IfExp(body=body, orelse=orelse):
            left, right = _possible(body), _possible(orelse)
            return None if left is None or right is None else [*left, *right]
        case _:
            return None


def _argument(call: Call, position: int | None, keywords: tuple[str, ...]) -> Arg | None:
    for keyword in keywords:
        found = call.arg(None, keyword)
        if found is not None:
            return found
    return call.arg(position, "") if position is not None else None


def _is_amount(argument: Arg) -> bool:
    return isinstance(argument.value, Const) and isinstance(argument.value.value, (bool, int, float))
