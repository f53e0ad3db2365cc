"""The public names of TensorFlow, and the releases that have them.

The table (``data/names.z``, made by ``tools/knowledge/make_names.py``) was read from the wheels of every minor release.
It is unpacked when the first name is looked up, and only the requested namespaces are parsed. The range of a name has
no gaps: a name missing from a wheel between two that have it counts as present. Names that the table cannot cover
(attributes of classes, private modules, the parts of ``tf.contrib``) are never reported as missing.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache

from tfmemlint.knowledge import tables
from tfmemlint.knowledge.releases import KNOWN, Target, position
from tfmemlint.model.patterns import late_pattern

_OPEN = ("tf.contrib", "tf.python", "tf.core", "tf.compiler", "tf.dtensor", "tf.tools", "tf.lite.python", "tf.examples")
"""Packages with members that the table does not list; ``tf.contrib`` in the releases that have it."""

PREVIEW: Mapping[str, str] = {
    "tf.config.gpu.set_per_process_memory_fraction": "2.0.0-alpha0",
    "tf.config.gpu.set_per_process_memory_growth": "2.0.0-alpha0",
}
"""Names that only a preview had and no release kept. For every other function here they do not exist."""

_UNLISTED = frozenset({"tf.tf2", "tf.security", "tf.tsl", "tf.compat.v1.rnn_cell"})


def ranges(name: str) -> tuple[tuple[str, str], ...] | None:
    """Return the releases that have ``name``, as ``((first, last), ...)``; None if the table does not have the name."""
    found = _range(name)
    return None if found is None else (found,)


def exists(name: str, target: Target) -> bool:
    """Return True if ``name`` exists in ``target``, or may exist there because the table does not cover it (private
    names, parts of ``tf.python`` and of the ``tf.contrib`` of 1.x)."""
    found = _range(name)
    if found is not None:
        return _covers(found, target)
    return _unlisted(name, target)


def ever_existed(name: str) -> bool:
    """Return True if any release has ``name``, or may have it."""
    return _range(name) is not None or any(_unlisted(name, target) for target in _ALL)


def only_in_alias(text: str) -> frozenset[str]:
    """Return the names that ``tensorflow.compat.v2`` has and ``tensorflow`` lacks, if a file's text imports that.

    Source: ``dir(tf.compat.v2)`` beside ``dir(tf)`` in 2.4, 2.9, 2.12, 2.15, 2.16 and 2.21; the one name is added with
    ``setattr`` when the package is imported.
    """
    return _ONLY_IN_V2 if _IMPORTS_V2.search(text) else frozenset()


_ONLY_IN_V2 = frozenset({"tf.enable_v2_behavior"})
_IMPORTS_V2 = late_pattern(r"compat\.v2\b|compat\s+import\s.*\bv2\b")


def is_module(name: str) -> bool:
    """Return True if the table has names inside ``name``: those are modules, because the table lists nothing inside
    classes."""
    return name in _lines()


def places() -> tuple[str, ...]:
    """Return every module whose names the table lists, in any release."""
    return tuple(_lines())


def members(place: str, target: Target) -> tuple[str, ...]:
    """Return the last components of the names that the table has in ``place`` for ``target``."""
    return tuple(_present(place, target))


def is_namespace(name: str, target: Target) -> bool:
    """Return True if ``name`` is a module of ``target`` whose public names the table lists completely: any other is
    missing."""
    if name == "tf":
        return True
    return is_module(name) and not _under(name, _OPEN) and not _private(name) and exists(name, target)


def missing_part(name: str, target: Target) -> str | None:
    """Return the shortest prefix of ``name`` that ``target`` certainly lacks: ``tf.config.gpu`` of
    ``tf.config.gpu.set_x``.

    Return None if ``name`` exists, or if that is unknown (an attribute of a class or of a function).
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


def releases_without_missing_part(name: str) -> int:
    """Return the known releases for which `missing_part` returns None, a bit each, the oldest first."""
    parent, *rest = name.split(".")
    found = _EVERY
    for part in rest if parent == "tf" else ():
        if parent != "tf" and not (is_module(parent) and not _under(parent, _OPEN) and not _private(parent)):
            break
        child = f"{parent}.{part}"
        place = child if _range(child) is not None else _open_place(child)
        if place is None:
            return 0
        listed = _range(place) if place else None
        found &= _mask(*listed) if listed is not None else _EVERY
        parent = child
    return found


def lacking_in(name: str, target: Target) -> tuple[str, ...]:
    """Return the releases that lack ``name`` among all that the code supports: from the target's oldest release to the
    target."""
    first = (target.oldest or target).index
    return tuple(release for release in KNOWN[first : target.index + 1] if not exists(name, Target.parse(release)))


def since(name: str) -> str | None:
    """Return the first release known to have ``name``; None if none has it."""
    found = _range(name)
    return found[0] if found else None


def until(name: str) -> str | None:
    """Return the last release known to have ``name`` (the newest known release for a name that still exists)."""
    found = _range(name)
    return found[1] if found else None


@lru_cache(maxsize=4096)
def nearest(name: str, target: Target) -> str | None:
    """Return the real name of ``target`` that a missing one is a slip for: the same words, spelt nearly the same.

    A name of other words does something else, however many letters the two share (``set_epsilon`` for ``set_session``).
    Candidates in order: the same name without ``experimental``, one in its own namespace, one anywhere under
    ``tf.config``, ``tf.test`` or ``tf.distribute``.
    """
    for word in (".experimental.preprocessing.", ".experimental."):
        grown_up = name.replace(word, ".")
        if grown_up != name and exists(grown_up, target):
            return grown_up

    parent, _, last = name.rpartition(".")
    while parent and not is_namespace(parent, target):
        parent, _, last = parent.rpartition(".")
    near = _misspelt(last, _present(parent, target)) if parent else None
    if near is not None:
        return f"{parent}.{near}"
    word = name.rpartition(".")[2]
    pairs = _configuring(target)
    similar = _misspelt(word, pairs)
    return pairs[similar] if similar is not None else None


_WORDS = late_pattern(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")
_LETTERS_OF_A_SLIP = 4
"""In a shorter word, one other letter makes another word: ``get`` and ``set``, ``gpu`` and ``cpu``."""


def _misspelt(name: str, candidates: Iterable[str]) -> str | None:
    """Return the candidate that has the words of ``name``, each spelt the same or nearly so."""
    import difflib

    words = _words(name)
    close = difflib.get_close_matches(name, candidates, n=5, cutoff=0.75)
    return next((candidate for candidate in close if _is_slip(words, _words(candidate))), None)


def _words(name: str) -> list[str]:
    return [word.lower() for word in _WORDS.findall(name)]


_SYNONYMS = (frozenset({"get", "list"}), frozenset({"gpu", "device"}), frozenset({"gpus", "devices"}))
"""Words that stand for each other in the names of functions about devices."""


def _is_slip(words: Sequence[str], meant: Sequence[str]) -> bool:
    """True if each word is the one that is meant, or a slip for it; or if only the last of many words is missing."""
    if "".join(words) == "".join(meant):
        return True  # `set_memorygrowth`, `LogicalDeviceconfiguration`
    if len(words) >= 3 and [*words, *meant[-1:]] == list(meant):
        return True  # `set_intra_op_parallelism`
    return len(words) == len(meant) and all(map(_is_slip_for, words, meant))


def _is_slip_for(word: str, meant: str) -> bool:
    """True if ``word`` is ``meant`` in the singular or plural, in short, or with one letter too many, too few or wrong,
    or two of them exchanged, or if it stands for it."""
    if word == meant or f"{word}s" == meant or word == f"{meant}s" or {word, meant} in _SYNONYMS:
        return True
    if min(len(word), len(meant)) < _LETTERS_OF_A_SLIP:
        return False
    if meant.startswith(word) or word.startswith(meant):
        return True  # `VirtualDeviceConfig`
    longer, shorter = sorted((word, meant), key=len, reverse=True)
    if len(longer) - len(shorter) == 1:
        return any(longer[:at] + longer[at + 1 :] == shorter for at in range(len(longer)))
    different = [at for at, pair in enumerate(zip(word, meant, strict=False)) if pair[0] != pair[1]]
    if len(longer) != len(shorter) or len(different) > 2:
        return False
    return len(different) == 1 or sorted(word) == sorted(meant)


def replacement(name: str, target: Target) -> str | None:
    """Return the new name of a name that ``target`` lacks: the same object under another name (``tf.random.normal`` for
    ``tf.random_normal``), else its twin in ``tf.compat.v1``; None if there is neither, or if ``name`` still exists.

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
    """Return the name without ``experimental`` of the same object: ``tf.config.list_physical_devices`` for
    ``tf.config.experimental.list_physical_devices``; None if ``target`` has none."""
    twin = _twins().get(name)
    return twin if twin is not None and exists(name, target) and exists(twin, target) else None


def older_twin(name: str, target: Target) -> str | None:
    """Return the experimental name that ``target`` has for a ``name`` of a later release; None if there is none."""
    if exists(name, target):
        return None
    return next((old for old, new in _twins().items() if new == name and exists(old, target)), None)


def moved(target: Target) -> Mapping[str, str]:
    """Return every name of ``tf.compat.v1`` that is the same object elsewhere in ``target``, with that other name."""
    return {name: place for name, place in _moved().items() if exists(name, target) and exists(place, target)}


def deprecated_aliases(target: Target) -> Mapping[str, str]:
    """Return every experimental name of ``target`` that has a stable twin, with that twin."""
    return {name: twin for name, twin in _twins().items() if exists(name, target) and exists(twin, target)}


# The table

_ALL = tuple(Target.parse(release) for release in KNOWN)
_EVERY = (1 << len(KNOWN)) - 1


@lru_cache(maxsize=1)
def _table() -> tuple[tuple[tuple[str, str], ...], dict[str, str]]:
    """Return the ranges, and one unparsed line of children for each parent."""
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


@lru_cache(maxsize=512)
def _mask(first: str, last: str) -> int:
    """Return a range of releases, a bit each."""
    return (2 << position(last)) - (1 << position(first))


@lru_cache(maxsize=512)
def _present(parent: str, target: Target) -> tuple[str, ...]:
    return tuple(child for child, found in _children(parent).items() if _covers(found, target))


@lru_cache(maxsize=32)
def _configuring(target: Target) -> dict[str, str]:
    """Return each last part of a name under ``tf.config``, ``tf.test`` and ``tf.distribute``, with the whole name."""
    places = [place for place in _lines() if place.split(".")[1:2] in (["config"], ["test"], ["distribute"])]
    return {
        child: f"{place}.{child}"
        for place in reversed(places)
        for child in _present(place, target)
        # Modules of the same name have little in common: each namespace has its own ``experimental``.
        if not is_module(f"{place}.{child}")
    }


def _unlisted(name: str, target: Target) -> bool:
    """Return True if the table does not list ``name`` although it may exist."""
    place = _open_place(name)
    if place is None:
        return False
    found = _range(place) if place else None
    return found is None or _covers(found, target)


@lru_cache(maxsize=8192)
def _open_place(name: str) -> str | None:
    """Return the module with names that the table does not list which ``name`` is in: "" if it may exist anyway."""
    if name in _UNLISTED or _private(name):
        return ""
    return next((place for place in _OPEN if _under(name, (place,))), None)


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
    """Return a table of lines ``name other``; lines that start with ``#`` state its source."""
    text = tables.text(file)
    return dict(line.split(" ") for line in text.splitlines() if line and not line.startswith("#"))
