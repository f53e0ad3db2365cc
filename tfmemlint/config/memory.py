"""Amounts of memory as people write them."""

from __future__ import annotations

import re

from tfmemlint.model.patterns import late_pattern

_MIB = 1024 * 1024
_UNITS: dict[str, float] = {
    **{name: 1024.0**power for power, letter in enumerate("kmgt", 1) for name in (letter, f"{letter}ib")},
    **{f"{letter}b": 1000.0**power for power, letter in enumerate("kmgt", 1)},
}
"""Bytes of a unit: ``GiB`` and, as Docker and Java have it, ``g`` are 1024 MiB; ``GB`` is a billion bytes."""
_MEMORY = late_pattern(r"([0-9]+(?:\.[0-9]+)?)\s*([a-z]*)", re.IGNORECASE)


def parse_memory(text: str) -> float:
    """Return an amount of memory (``16GiB``, ``16GB``, ``16384MiB``, ``16g``) in MiB.

    Raises:
        ValueError: it is no amount, has no unit, or is not more than zero.
    """
    match = _MEMORY.fullmatch(text.strip())
    if match is None:
        raise ValueError(f"{text!r} is not an amount of memory; write it as in 16GiB")
    number, unit = float(match[1]), match[2].lower()
    if not unit:
        meant = f"{match[1]}MiB" if number >= 1024 else f"{match[1]}GiB"
        raise ValueError(f"{text!r} has no unit; write {meant if number else '16GiB'}")
    if unit not in _UNITS:
        raise ValueError(f"{text!r} has an unknown unit; write GiB, GB, MiB or MB")
    amount = number * _UNITS[unit] / _MIB
    if not 0 < amount < float("inf"):
        raise ValueError(f"{text!r} is not an amount of memory that a GPU can have; write it as in 16GiB")
    return amount
