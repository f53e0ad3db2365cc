"""The meaning of a call of a made-up name: its device, its amount, the unit of the amount."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable

from tfmemlint.interpreter.program import Arg, Call
from tfmemlint.interpreter.values import Const, Device, Value
from tfmemlint.knowledge import units
from tfmemlint.knowledge.purposes import MadeUp
from tfmemlint.model.intent import Intent, Purpose
from tfmemlint.model.patterns import late_pattern
from tfmemlint.model.records import dataclass

LEAST_BYTES = 2**24
"""A limit of so many MiB would be 16 TiB: such a number counts bytes."""
_MOST_MIB = 2**20
"""1 TiB: no GPU has so much memory."""
_MOST_KIB = 80 * 2**20
"""The KiB of GPUs of 80 GiB; up to here a number is the size of a GPU in KiB rather than a few MiB in bytes."""
MOST_GIGABYTES = 128
"""A whole number up to this one, in the place of MiB, is likely a number of gigabytes."""

_GROWTH = "tf.config.experimental.set_memory_growth(gpu, True) for every GPU"
_LIMIT = "tf.config.set_logical_device_configuration(gpu, [tf.config.LogicalDeviceConfiguration(memory_limit=<MiB>)])"
ADVICE = {
    Purpose.GROWTH: f"Use {_GROWTH}",
    Purpose.LIMIT: f"Use {_LIMIT}",
    Purpose.FRACTION: f"Use {_LIMIT}, with that share of the GPU's MiB",
    Purpose.REPORT: "Use tf.config.experimental.get_memory_info('GPU:0'), which returns 'current' and 'peak' in bytes",
    Purpose.RELEASE: "No call gives GPU memory back; the end of a process does: run the work in a child process",
    Purpose.DEVICES: "Use tf.config.list_physical_devices('GPU')",
}
"""Advice for the intent that a made-up name was meant to express."""

_SHARE_WORDS = late_pattern(r"frac|ratio|share|proportion|(?<![a-z])pct(?![a-z])", re.IGNORECASE)
_MIB_WORDS = late_pattern(r"(?:^|_|\d)(?:mb|mib|megabytes?)(?:$|_)|_in_m\b|MB|MiB")
_GIB_WORDS = late_pattern(r"(?:^|_|\d)(?:gb|gib|gigabytes?)(?:$|_)|GB|GiB")


@dataclass(frozen=True, slots=True)
class Meaning:
    """The meaning of a made-up call.

    Attributes:
        intent: what the author wanted.
        device: the argument that names the device; ``amount``: the argument that states how much.
        unit: ``mib``, ``bytes``, ``gib``, ``fraction``, ``percent``, or ``?`` if it is unknown; "" without an amount.
    """

    intent: Intent
    device: Arg | None
    amount: Arg | None
    unit: str


def meaning(call: Call, made_up: MadeUp, device_words: Callable[[Value, str], str]) -> Meaning:
    """Return the meaning of ``call``, judging by its name and its arguments.

    Args:
        device_words: returns words for the device that an argument names.
    """
    device = _argument(call, made_up.device, made_up.device_keywords)
    amount = _argument(call, made_up.amount, made_up.amount_keywords)
    if device is amount:
        device = None
    if amount is None and device is not None and made_up.amount is not None:
        first = call.arg(0, "")
        if device.keyword is not None and first is not None:
            # `limit_memory(2048, device=gpu)`
            amount = first
        elif _is_amount(device):
            # `set_gpu_memory_limit(4096)`, `set_memory_growth(True)`: no device, so all of them.
            device, amount = None, device
    elif device is not None and amount is not None and _is_amount(device) and isinstance(amount.value, Device):
        device, amount = amount, device
    unit = ""
    words = _words_for(device, device_words)
    purpose, value, text = made_up.purpose, None, ""
    if purpose in (Purpose.LIMIT, Purpose.FRACTION):
        unit = _unit_in(amount, made_up.unit)
        if unit in ("fraction", "percent"):
            purpose = Purpose.FRACTION
        elif unit in ("mib", "bytes", "gib"):
            purpose = Purpose.LIMIT
        text = amount.text if amount is not None else ""
        if amount is not None and isinstance(amount.value, Const) and unit != "?":
            value = amount.value.value
            if unit == "percent":
                value, text = value / 100, repr(value / 100)
    elif purpose is Purpose.GROWTH:
        value = amount.value.value if amount is not None and isinstance(amount.value, Const) else True
        if made_up.value == "not":
            value = not value
    elif purpose is Purpose.REPORT:
        value = made_up.value or "current"
    return Meaning(Intent(purpose, words, value, text), device, amount, unit)


def number_of_device(value: Value) -> int | None:
    """Return the index of the GPU that a made-up call names by number or name: 0 for ``0``, ``'GPU:0'`` and
    ``'/device:GPU:0'``."""
    match value:
        case Const(bool()):
            return None
        case Const(int(number)):
            return number if 0 <= number < MOST_DEVICES else None
        case Const(str(name)):
            found = _DEVICE.fullmatch(name)
            return int(found[1]) if found is not None else None
        case _:
            return None


_DEVICE = late_pattern(r"(?:.*/)?(?:(?:physical_)?device:)?(?:gpu:)?(\d{1,2})", re.IGNORECASE)
MOST_DEVICES = 64
"""A larger number is not the index of a GPU."""


def _words_for(device: Arg | None, device_words: Callable[[Value, str], str]) -> str:
    if device is None:
        return "every GPU"
    number = number_of_device(device.value)
    return f"GPU {number}" if number is not None else device_words(device.value, device.text)


def _unit_in(amount: Arg | None, stated: str) -> str:
    """Return the unit of an amount as the name of the function or the argument states it, if the number fits the
    unit."""
    if amount is None:
        return "?"
    if stated == "auto" and amount.keyword is not None:
        stated = _unit_of_words(amount.keyword) or "auto"
    if stated == "auto":
        return unit_of(amount)
    values = constants(amount)
    if not values:
        # Percent may mean 50 or 0.5.
        return "?" if stated == "percent" else stated
    return stated if all(_can_be(value, stated) for value in values) else _other_unit(values, stated)


def _can_be(value: object, unit: str) -> bool:
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return False
    match unit:
        case "fraction":
            return 0 < value <= 1
        case "percent":
            return 1 < value <= 100
        case "mib":
            return 1 < value < LEAST_BYTES
        case "gib":
            return 0 < value <= MOST_GIGABYTES
        case _:
            return value >= LEAST_BYTES


def _other_unit(values: list[object], stated: str) -> str:
    """Return the unit if a fraction is written as a percentage or the other way round; ``?`` for anything else."""
    written_as = {"fraction": "percent", "percent": "fraction"}.get(stated)
    return written_as if written_as is not None and all(_can_be(value, written_as) for value in values) else "?"


def _unit_of_words(words: str) -> str:
    if re.search(r"percent|(?<![a-z])pct(?![a-z])", words, re.IGNORECASE):
        return "percent"
    if _SHARE_WORDS.search(words):
        return "fraction"
    if _MIB_WORDS.search(words):
        return "mib"
    if _GIB_WORDS.search(words):
        return "gib"
    return "bytes" if "bytes" in words.lower() else ""


def unit_of(amount: Arg | None) -> str:
    """Return the unit of an amount of memory, judging by its possible values, else by the words in it."""
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
    """Return the constants that an argument can be; an empty list if it can be anything else."""
    if isinstance(argument.value, Const):
        return [argument.value.value]
    return _possible(argument.node) or []


def unit_of_limit(value: float) -> str:
    """Return the unit that a limit, which should be in MiB, has by its size, `units.KIB` or `units.BYTES`; "" if it can
    be in MiB, or if nothing is so large."""
    if not _MOST_MIB <= value < float("inf"):
        return ""
    return units.KIB if value <= _MOST_KIB else units.BYTES


def unit_of_number(value: object) -> str:
    """Return the unit that a number of memory nearly always has: fractions lie in (0, 1], bytes exceed any GPU's
    MiB."""
    if isinstance(value, bool) or not isinstance(value, (int, float)) or value != value or value <= 0:
        return "?"
    if value <= 1 and not (isinstance(value, int) and value == 1):
        return "fraction"
    if value >= LEAST_BYTES:
        return "bytes"
    return "?" if value <= MOST_GIGABYTES else "mib"


def _possible(node: ast.expr | None) -> list[object] | None:
    """Return the constants that an expression can evaluate to, or None if it can be anything else."""
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
