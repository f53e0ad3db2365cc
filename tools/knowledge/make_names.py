"""Make ``tfmemlint/knowledge/data/names.z``: every public name of TensorFlow, and the releases that have it.

Usage: python tools/knowledge/make_names.py api_names.json.gz

The raw table is ``{"releases": [...], "names": {"tf.x.y": [[first, last], ...]}}``, read from the wheels of every minor
release without running them. What it becomes, and why, stands in the README beside this script.
"""

from __future__ import annotations

import gzip
import json
import sys
import zlib
from collections import defaultdict
from pathlib import Path

DATA = Path(__file__).parents[2] / "tfmemlint" / "knowledge" / "data"

ADDED = {
    # A lazily loaded package, which the wheels' API modules do not list; its parts are not in the raw table.
    "tf.contrib": ("1.13", "1.15"),
    # The same module as tf.compat.v1.flags, imported into it.
    "tf.app.flags": ("1.13", "1.15"),
    "tf.compat.v1.app.flags": ("1.13", "2.21"),
    "tf.compat": ("1.13", "2.21"),
    "tf.compat.v1": ("1.13", "2.21"),
}

KERAS3 = "2.16"

Ranges = dict[str, tuple[str, str]]


def load(path: str) -> tuple[list[str], Ranges]:
    """The releases, and each name with its first and last one: gaps in between are filled.

    A gap comes from names that a wheel loads lazily, so it is no proof that the name was missing.
    """
    with gzip.open(path) as file:
        raw = json.load(file)
    order = {release: place for place, release in enumerate(raw["releases"])}
    ranges = {}
    for name, parts in raw["names"].items():
        firsts, lasts = [part[0] for part in parts], [part[1] for part in parts]
        ranges[name] = (min(firsts, key=order.__getitem__), max(lasts, key=order.__getitem__))
    for name, found in ADDED.items():
        ranges.setdefault(name, found)

    def widen(name: str, found: tuple[str, str]) -> None:
        first, last = ranges.get(name, found)
        ranges[name] = min(first, found[0], key=order.__getitem__), max(last, found[1], key=order.__getitem__)

    for name, (first, last) in list(ranges.items()):
        # With Keras 3, tf.compat.v1.keras is the same package as tf.keras; the wheels load it lazily.
        if name.startswith("tf.keras.") and order[last] >= order[KERAS3]:
            start = max(first, KERAS3, key=order.__getitem__)
            widen(name.replace("tf.", "tf.compat.v1.", 1), (start, last))
        # The layers of TF1 are loaded lazily from 2.6 on, and came with Keras 2 up to 2.15.
        if name.startswith("tf.compat.v1.layers.") and order[last] >= order["2.5"]:
            widen(name, (first, "2.15"))
    for name, found in list(ranges.items()):
        # What a name is in is there as long as the name is: the wheels load some packages lazily (tf.keras from 2.15).
        while "." in name:
            name = name.rpartition(".")[0]
            if name != "tf":
                widen(name, found)
    return raw["releases"], ranges


def pack(ranges: Ranges) -> bytes:
    """The table as text: a line of the ranges, then one line per parent: its name, and ``child:range`` for each
    child."""
    count: dict[tuple[str, str], int] = defaultdict(int)
    for found in ranges.values():
        count[found] += 1
    codes = {found: place for place, found in enumerate(sorted(count, key=lambda found: (-count[found], found)))}
    children: dict[str, list[str]] = defaultdict(list)
    for name in sorted(ranges):
        if name != "tf":
            parent, _, child = name.rpartition(".")
            children[parent].append(f"{child}:{codes[ranges[name]]}")
    lines = [" ".join(f"{first}-{last}" for first, last in codes)]
    lines += [f"{parent} {' '.join(listed)}" for parent, listed in sorted(children.items())]
    return "\n".join(lines).encode()


def main(path: str) -> None:
    _, ranges = load(path)
    text = pack(ranges)
    packed = zlib.compress(text, 9)
    DATA.mkdir(exist_ok=True)
    (DATA / "names.z").write_bytes(packed)
    print(f"names.z: {len(ranges)} names, {len(text)} bytes of text, {len(packed)} packed")


if __name__ == "__main__":
    main(*sys.argv[1:])
