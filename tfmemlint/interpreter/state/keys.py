"""The keys and the truth values that states are made of."""

from __future__ import annotations

from enum import Enum

from tfmemlint.interpreter.values import Device, Value

Guards = tuple[tuple[str, bool], ...]
"""Conditions that hold at a point of a program, each as the text of the test and its outcome."""
Key = int | str
"""A device in a table of settings: its number, the text of an unknown index, ``each`` for all, or ``?``."""
ANY = "?"
PART = "part"
"""The key of the GPUs but the first that a loop over all of them does not leave out: ``if i == 1: continue``."""


class Tri(Enum):
    """Has it happened? ``MAYBE``: on some way to here it has. ``UNKNOWN``: depends on what came before the entry."""

    NO = "no"
    MAYBE = "maybe"
    YES = "yes"
    UNKNOWN = "unknown"


def device_key(value: Value) -> Key:
    """Return a device's place in a table of settings."""
    if isinstance(value, Device) and value.kind == "physical":
        return ANY if value.index is None else value.index
    return ANY
