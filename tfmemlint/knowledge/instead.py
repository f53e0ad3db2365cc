"""What to write in place of a name that TensorFlow does not have, and in which releases that is there.

Answers come from tables: the names of every release, the functions under a namespace that never had them, what the
author of a made-up name wanted.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from tfmemlint.knowledge import environment, named, names, wishes
from tfmemlint.knowledge.misplaced import REAL_PLACES
from tfmemlint.knowledge.releases import KNOWN, Target
from tfmemlint.knowledge.signatures import SIGNATURES
from tfmemlint.model.intent import Wish

SAME, WISH, NEAREST = "same", "wish", "nearest"


class Instead(NamedTuple):
    """A name that is there.

    Attributes:
        name: the canonical name. relation: ``same`` for the same thing under another name, with the same arguments;
            ``wish`` for what does what was wanted, with other arguments; ``nearest`` for the name most like it, where
            nothing tells what was wanted.
        parameters: those of the function, in their order; None where they are not in the tables.
        releases: the releases in which that was seen, the oldest first.
        evidence: how: ``name`` is in the release's wheel, its libraries name the ``variable``, a running TensorFlow
            took the ``value``; "" where ``releases`` is empty.
    """

    name: str
    relation: str
    parameters: tuple[str, ...] | None
    releases: tuple[str, ...]
    evidence: str = ""


_BY_WISH: Mapping[Wish, str] = {
    Wish.GROWTH: "tf.config.experimental.set_memory_growth",
    Wish.LIMIT: "tf.config.set_logical_device_configuration",
    Wish.FRACTION: "tf.config.set_logical_device_configuration",
    Wish.DEVICES: "tf.config.list_physical_devices",
}
_REPORTED = "tf.config.experimental.get_memory_info"


def of_api(name: str, target: Target) -> Instead | None:
    """What ``target`` has in place of ``name``, which it lacks; None where there is nothing."""
    real = REAL_PLACES.get(name)
    if real is not None:
        return of_real(real, SAME, target)
    gone = names.replacement(name, target)
    if gone is not None:
        return of_real(gone, SAME, target)
    made_up = wishes.wish_of(name)
    if made_up is None:
        near = names.nearest(names.missing_part(name, target) or name, target)
        return None if near is None else of_real(near, NEAREST, target)
    if made_up.wish is Wish.REPORT:
        # What is free, and how much there is in all, only NVML tells.
        return of_real(_REPORTED, WISH, target) if made_up.value in ("current", "peak", "") else None
    place = _BY_WISH.get(made_up.wish)
    return None if place is None else of_real(place, WISH, target)


def of_real(name: str, relation: str, target: Target) -> Instead | None:
    """A real name as an answer; in a release that has it under its experimental name only, under that; None where the
    release has neither."""
    if not names.exists(name, target):
        older = names.older_twin(name, target)
        if older is None:
            return None
        name = older
    return Instead(name, relation, SIGNATURES.get(name), releases_of(name), "name")


def releases_of(name: str) -> tuple[str, ...]:
    """The known releases that have a name for sure."""
    found = names.ranges(name)
    if found is None:
        return ()
    return tuple(release for first, last in found for release in KNOWN[KNOWN.index(first) : KNOWN.index(last) + 1])


def of_variable(name: str) -> Instead:
    """A variable that TensorFlow reads, with the releases that name it in their libraries."""
    found = named.named(name)
    if found is None:
        return Instead(name, SAME, None, ())
    every = named.releases()
    releases: list[str] = []
    for part in found.releases.split(","):
        first, _, last = part.partition("-")
        releases += every[every.index(first) : every.index(last or first) + 1]
    return Instead(name, SAME, None, tuple(releases), "variable")


def of_value(value: str, variable: str) -> Instead:
    """A value of a variable, with the releases in which a running TensorFlow was seen to take it."""
    if value not in (environment.allowed(variable) or ()):
        return Instead(value, SAME, None, ())
    return Instead(value, SAME, None, environment.LOGGED, "value")
