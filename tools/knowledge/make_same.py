"""Make the tables of names that are one and the same object: ``moved.txt``, ``twins.txt`` and ``aliases.txt``.

Usage: python tools/knowledge/make_same.py list > 2.21.txt        (in each environment with a TensorFlow)
       python tools/knowledge/make_same.py make 2.21.txt [2.15.txt ...]   (the newest first)

``list`` prints one line for each object that several public names of the installed TensorFlow stand for. ``make``
writes the tables into ``tfmemlint/knowledge/data``: two names are paired if they are one object in the first list, and
in every other list whose release has both.
"""

from __future__ import annotations

import gzip
import os
import sys
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from tfmemlint.knowledge import names
from tfmemlint.knowledge.releases import Target

DATA = Path(__file__).parents[2] / "tfmemlint" / "knowledge" / "data"

Groups = dict[str, int]
"""For each name that shares its object, the number of that object."""


def list_groups() -> None:
    """Print the groups of names that are one function or class here."""
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
    import tensorflow as tf  # type: ignore[import-untyped,unused-ignore]

    target = Target.parse(tf.__version__)
    kept: dict[int, tuple[Any, list[str]]] = {}
    for name in sorted(public(target)):
        thing: Any = tf
        try:
            for part in name.split(".")[1:]:
                thing = getattr(thing, part)
        except (AttributeError, ImportError):
            continue
        if callable(thing):
            kept.setdefault(id(thing), (thing, []))[1].append(name)
    print("#", target)
    for _, group in sorted(kept.values(), key=lambda pair: pair[1]):
        if len(group) > 1:
            print(*group)


def public(target: Target) -> Iterator[str]:
    """Yield every name of ``target`` that the table has."""
    for place in names.places():
        if names.exists(place, target):
            yield from (f"{place}.{child}" for child in names.members(place, target))


def load(path: str) -> tuple[Target, Groups]:
    data = Path(path).read_bytes()
    lines = (gzip.decompress(data) if path.endswith(".gz") else data).decode("ascii").splitlines()
    groups = {name: number for number, line in enumerate(lines[1:]) for name in line.split(" ")}
    return Target.parse(lines[0].removeprefix("# ")), groups


def same(lists: list[tuple[Target, Groups]], name: str, other: str) -> bool:
    """True if two names are one object wherever they are both there."""
    for target, groups in lists:
        if names.exists(name, target) and names.exists(other, target):
            if name not in groups or groups[name] != groups.get(other):
                return False
        elif target == lists[0][0]:
            return False
    return True


def make(paths: list[str]) -> None:
    lists = [load(path) for path in paths]
    newest, groups = lists[0]
    members: dict[int, list[str]] = defaultdict(list)
    for name, number in groups.items():
        members[number].append(name)
    measured = {line.split(" ")[0] for line in (DATA / "effects.txt").read_text(encoding="ascii").splitlines()}
    moved, twins, aliases = [], [], []
    for group in members.values():
        ranked = sorted(group, key=plainness)
        for name in group:
            others = [other for other in ranked if other != name and same(lists, name, other)]
            if name.startswith("tf.compat.v1."):
                short = "tf." + name.removeprefix("tf.compat.v1.")
                plain = [other for other in others if not other.startswith("tf.compat.")]
                if plain and not names.exists(short, newest):
                    moved.append(f"{name} {plain[0]}")
            if name.startswith("tf.config.experimental"):
                stable = [other for other in others if other.startswith("tf.config.") and "experimental" not in other]
                if stable:
                    twins.append(f"{name} {stable[0]}")
            known = [other for other in others if other in measured]
            if known and (name not in measured or plainness(known[0]) < plainness(name)):
                aliases.append(f"{name} {known[0]}")
    releases = ", ".join(str(target) for target, _ in lists)
    write("moved.txt", "TF1 names, and the TF2 name of the same object", releases, moved)
    write("twins.txt", "experimental names, and the stable name of the same object", releases, twins)
    write("aliases.txt", "names, and the measured name of the same object", releases, aliases)


def plainness(name: str) -> tuple[bool, bool, int, int, str]:
    """Return a sort key that puts the name that people write first."""
    return name.startswith("tf.compat."), "experimental" in name, name.count("."), len(name), name


def write(file: str, what: str, releases: str, lines: list[str]) -> None:
    head = f"# {what}, as found in TensorFlow {releases} by tools/knowledge/make_same.py\n"
    (DATA / file).write_text(head + "".join(f"{line}\n" for line in sorted(lines)), encoding="ascii")
    print(f"{file}: {len(lines)} names")


if __name__ == "__main__":
    if sys.argv[1:] == ["list"]:
        list_groups()
    elif sys.argv[1:2] == ["make"] and len(sys.argv) > 2:
        make(sys.argv[2:])
    else:
        sys.exit(__doc__)
