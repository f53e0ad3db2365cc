"""Which names TensorFlow has, and in which releases.

The table (``data/names.z``, made by ``tools/knowledge/make_names.py``) was read from the wheels of every minor release.
It is unpacked when the first name is asked for, and only the namespaces asked for are looked into. A name's range has
no gaps: where a wheel was seen without a name between two that have it, the name is taken as present. What the table
can't know (attributes of classes, private modules, the parts of ``tf.contrib``) is never called missing.
"""

from __future__ import annotations

import zlib
from collections.abc import Mapping
from functools import lru_cache

from tfmemlint.knowledge import tables
from tfmemlint.knowledge.releases import KNOWN, Target, position

_OPEN = ("tf.contrib", "tf.python", "tf.core", "tf.compiler", "tf.dtensor", "tf.tools", "tf.lite.python", "tf.examples")
"""Packages that exist with parts that the table does not list; ``tf.contrib`` in the releases that have it."""

PREVIEW: Mapping[str, str] = {
    "tf.config.gpu.set_per_process_memory_fraction": "2.0.0-alpha0",
    "tf.config.gpu.set_per_process_memory_growth": "2.0.0-alpha0",
}
"""Names that only a preview had, which no release kept. To everything else here they don't exist."""

_UNLISTED = frozenset({"tf.tf2", "tf.security", "tf.tsl", "tf.compat.v1.rnn_cell"})


def ranges(name: str) -> tuple[tuple[str, str], ...] | None:
    """The releases that have ``name``, as ``((first, last), ...)``; None for a name that the table does not have."""
    found = _range(name)
    return None if found is None else (found,)


def exists(name: str, target: Target) -> bool:
    """Whether ``name`` exists in ``target``, as far as can be told: also True for what the table can't know to be
    missing (private names, parts of ``tf.python`` and of the ``tf.contrib`` of 1.x)."""
    found = _range(name)
    if found is not None:
        return _covers(found, target)
    return _unlisted(name, target)


def ever_existed(name: str) -> bool:
    """Whether any release has ``name``, or may have it."""
    return _range(name) is not None or any(_unlisted(name, target) for target in _ALL)


def is_module(name: str) -> bool:
    """Whether the table has names inside ``name``. All such names are modules: the table lists nothing inside
    classes."""
    return name in _lines()


def places() -> tuple[str, ...]:
    """Every module whose names the table lists, in any release."""
    return tuple(_lines())


def members(place: str, target: Target) -> tuple[str, ...]:
    """The last components of the names that the table has in ``place`` for ``target``."""
    return tuple(_present(place, target))


def is_namespace(name: str, target: Target) -> bool:
    """Whether ``name`` is a module of ``target`` all of whose public names the table lists: what it lacks is
    missing."""
    if name == "tf":
        return True
    return is_module(name) and not _under(name, _OPEN) and not _private(name) and exists(name, target)


def missing_part(name: str, target: Target) -> str | None:
    """The shortest prefix of ``name`` that ``target`` lacks for sure: ``tf.config.gpu`` of ``tf.config.gpu.set_x``.

    None where ``name`` exists, or where it can't be told (an attribute of a class or of a function).
    """
    parts = name.split(".")
    parent = parts[0]
    if parent != "tf":
        return None
    for part in parts[1:]:
        if not is_namespace(parent, target):
            return None
        child = f"{parent}.{part}"
        if not exists(child, target):
            return child
        parent = child
    return None


def lacking_in(name: str, target: Target) -> tuple[str, ...]:
    """The releases that lack ``name`` among all those that code is for: from the target's oldest one to the target."""
    first = (target.oldest or target).index
    return tuple(release for release in KNOWN[first : target.index + 1] if not exists(name, Target.parse(release)))


def since(name: str) -> str | None:
    """The first release known to have ``name``; None where none has."""
    found = _range(name)
    return found[0] if found else None


def until(name: str) -> str | None:
    """The last release known to have ``name`` (the newest known one for a name that is still there)."""
    found = _range(name)
    return found[1] if found else None


def nearest(name: str, target: Target) -> str | None:
    """The real name of ``target`` that is most like a missing one: first the same without ``experimental``, then one in
    its own namespace, then the same last word anywhere under ``tf.config``, ``tf.test`` or ``tf.distribute``, then a
    similar one there."""
    import difflib

    for word in (".experimental.preprocessing.", ".experimental."):
        grown_up = name.replace(word, ".")
        if grown_up != name and exists(grown_up, target):
            return grown_up

    parent, _, last = name.rpartition(".")
    while parent and not is_namespace(parent, target):
        parent, _, last = parent.rpartition(".")
    near = difflib.get_close_matches(last, _present(parent, target), n=1, cutoff=0.75) if parent else []
    if near:
        return f"{parent}.{near[0]}"
    word = name.rpartition(".")[2]
    places = [place for place in _lines() if place.split(".")[1:2] in (["config"], ["test"], ["distribute"])]
    pairs = {
        child: f"{place}.{child}"
        for place in reversed(places)
        for child in _present(place, target)
        # Modules of one name have little in common: each has its ``experimental``.
        if not is_module(f"{place}.{child}")
    }
    similar = difflib.get_close_matches(word, pairs, n=1, cutoff=0.8)
    return pairs[similar[0]] if similar else None


def replacement(name: str, target: Target) -> str | None:
    """Where a name that ``target`` lacks has gone: the same object under another name (``tf.random.normal`` for
    ``tf.random_normal``), else its twin in ``tf.compat.v1``; None where there is neither, or ``name`` is still there.

    Source of the first: the two names are one object in an installed TensorFlow (``data/moved.txt``).
    """
    if not name.startswith("tf.") or exists(name, target):
        return None
    rest = name.removeprefix("tf.")
    legacy = f"tf.compat.v1.{rest}"
    moved = _moved().get(legacy)
    if moved is not None and exists(moved, target):
        return moved
    if _range(legacy) is not None and exists(legacy, target):
        return legacy
    return None


def stable_twin(name: str, target: Target) -> str | None:
    """The name without ``experimental`` for one and the same object: ``tf.config.list_physical_devices`` for
    ``tf.config.experimental.list_physical_devices``; None where ``target`` has none."""
    twin = _twins().get(name)
    return twin if twin is not None and exists(name, target) and exists(twin, target) else None


def older_twin(name: str, target: Target) -> str | None:
    """The experimental name that ``target`` has where a later release has ``name``; None where there is none."""
    if exists(name, target):
        return None
    return next((old for old, new in _twins().items() if new == name and exists(old, target)), None)


def moved(target: Target) -> Mapping[str, str]:
    """Every name of ``tf.compat.v1`` that is the same object elsewhere in ``target``, with that other name."""
    return {name: place for name, place in _moved().items() if exists(name, target) and exists(place, target)}


def deprecated_aliases(target: Target) -> Mapping[str, str]:
    """Every experimental name of ``target`` that has a stable twin, with that twin."""
    return {name: twin for name, twin in _twins().items() if exists(name, target) and exists(twin, target)}


# The table

_ALL = tuple(Target.parse(release) for release in KNOWN)


@lru_cache(maxsize=1)
def _table() -> tuple[tuple[tuple[str, str], ...], dict[str, str]]:
    """The ranges, and one unread line of children for each parent."""
    head, _, body = zlib.decompress(tables.raw("names.z")).decode("ascii").partition("\n")
    codes = tuple((first, last) for first, _, last in (part.partition("-") for part in head.split(" ")))
    lines = {}
    for line in body.split("\n"):
        parent, _, children = line.partition(" ")
        lines[parent] = children
    return codes, lines


def _lines() -> dict[str, str]:
    return _table()[1]


@lru_cache(maxsize=512)
def _children(parent: str) -> dict[str, tuple[str, str]]:
    codes, lines = _table()
    line = lines.get(parent)
    if not line:
        return {}
    return {child: codes[int(code)] for child, _, code in (part.partition(":") for part in line.split(" "))}


@lru_cache(maxsize=8192)
def _range(name: str) -> tuple[str, str] | None:
    if name == "tf":
        return KNOWN[0], KNOWN[-1]
    parent, _, child = name.rpartition(".")
    return _children(parent).get(child)


def _covers(found: tuple[str, str], target: Target) -> bool:
    return position(found[0]) <= target.index <= position(found[1])


def _present(parent: str, target: Target) -> list[str]:
    return [child for child, found in _children(parent).items() if _covers(found, target)]


@lru_cache(maxsize=8192)
def _unlisted(name: str, target: Target) -> bool:
    """Whether ``name`` is one that the table doesn't list although it may well exist."""
    if name in _UNLISTED or _private(name):
        return True
    for place in _OPEN:
        if _under(name, (place,)):
            found = _range(place)
            return found is None or _covers(found, target)
    return False


def _private(name: str) -> bool:
    return any(part.startswith("_") for part in name.split("."))


def _under(name: str, places: tuple[str, ...]) -> bool:
    return any(name == place or name.startswith(place + ".") for place in places)


@lru_cache(maxsize=1)
def _moved() -> dict[str, str]:
    return _pairs("moved.txt")


@lru_cache(maxsize=1)
def _twins() -> dict[str, str]:
    return _pairs("twins.txt")


def _pairs(file: str) -> dict[str, str]:
    """A table of lines ``name other``; lines that start with ``#`` say where it comes from."""
    text = tables.text(file)
    return dict(line.split(" ") for line in text.splitlines() if line and not line.startswith("#"))
