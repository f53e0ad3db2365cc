"""Real names to use in place of a name that TensorFlow does not have, and the releases that have them.

The answers come from tables: the names of every release, real functions under a namespace that never had them, and the
purposes of made-up names.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from tfmemlint.knowledge import environment, named, names, purposes
from tfmemlint.knowledge.misplaced import REAL_PLACES
from tfmemlint.knowledge.releases import KNOWN, Target
from tfmemlint.knowledge.signatures import parameters
from tfmemlint.model.intent import Purpose

SAME, INTENDED, NEAREST = "same", "wish", "nearest"


class Instead(NamedTuple):
    """A real name.

    Attributes:
        name: the canonical name.
        relation: ``same`` for the same object under another name, with the same arguments; ``wish`` for a function that
            serves the author's purpose, with other arguments; ``nearest`` for the most similar name, if the purpose is
            unknown.
        parameters: the function's parameters in order; None if the tables do not have them.
        releases: the releases in which this was observed, oldest first.
        evidence: the kind of observation: ``name`` is in the release's wheel, its libraries name the ``variable``, a
            running TensorFlow took the ``value``; "" if ``releases`` is empty.
    """

    name: str
    relation: str
    parameters: tuple[str, ...] | None
    releases: tuple[str, ...]
    evidence: str = ""


_BY_PURPOSE: Mapping[Purpose, str] = {
    Purpose.GROWTH: "tf.config.experimental.set_memory_growth",
    Purpose.LIMIT: "tf.config.set_logical_device_configuration",
    Purpose.FRACTION: "tf.config.set_logical_device_configuration",
    Purpose.DEVICES: "tf.config.list_physical_devices",
}
_REPORTED = "tf.config.experimental.get_memory_info"


def of_api(name: str, target: Target) -> Instead | None:
    """Return the real name to use in ``target`` in place of ``name``, which it lacks; None if there is none."""
    real = REAL_PLACES.get(name)
    if real is not None:
        return of_real(real, SAME, target)
    gone = names.replacement(name, target)
    if gone is not None:
        return of_real(gone, SAME, target)
    made_up = purposes.purpose_of(name)
    if made_up is None:
        near = names.nearest(names.missing_part(name, target) or name, target)
        return None if near is None else of_real(near, NEAREST, target)
    if made_up.purpose is Purpose.REPORT:
        # Only NVML reports free and total memory.
        return of_real(_REPORTED, INTENDED, target) if made_up.value in ("current", "peak", "") else None
    place = _BY_PURPOSE.get(made_up.purpose)
    return None if place is None else of_real(place, INTENDED, target)


def of_real(name: str, relation: str, target: Target) -> Instead | None:
    """Return a real name as an answer, under its experimental name if the release has only that; None if it has
    neither."""
    if not names.exists(name, target):
        older = names.older_twin(name, target)
        if older is None:
            return None
        name = older
    return Instead(name, relation, parameters(name, target), releases_of(name), "name")


def releases_of(name: str) -> tuple[str, ...]:
    """Return the known releases that certainly have ``name``."""
    found = names.ranges(name)
    if found is None:
        return ()
    return tuple(release for first, last in found for release in KNOWN[KNOWN.index(first) : KNOWN.index(last) + 1])


def of_variable(name: str) -> Instead:
    """Return a variable that TensorFlow reads, with the releases whose libraries name it."""
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
    """Return a value of a variable, with the releases in which a running TensorFlow was observed to accept it."""
    if value not in (environment.allowed(variable) or ()):
        return Instead(value, SAME, None, ())
    return Instead(value, SAME, None, environment.LOGGED, "value")
