"""Make ``tfmemlint/knowledge/data/names.z``: every public name of TensorFlow, and the releases that have it.

Usage: python tools/knowledge/make_names.py [--compare]

From ``measured/names.json.gz``, which ``read_wheels.py`` makes of the wheels alone. ``--compare`` changes nothing, and
prints where the new table and the present one differ.
"""

from __future__ import annotations

import sys
import zlib
from collections import Counter, defaultdict
from pathlib import Path

import read_wheels

from tfmemlint.knowledge.releases import KNOWN

DATA = Path(__file__).parents[2] / "tfmemlint" / "knowledge" / "data"

ADDED = {
    # Modules without an `__init__.py` of their own in some wheels; they are importable in all.
    "tf.compat": (KNOWN[0], KNOWN[-1]),
    "tf.compat.v1": (KNOWN[0], KNOWN[-1]),
}
KEPT = {
    # Bound in the module by an import that is deleted again; harmless to those who name it.
    "tf.LazyLoader": ("1.13", "1.15"),
    # The parts of tf.contrib are not listed, but for these, which are about GPU memory.
    **{
        f"tf.contrib.memory_stats{name}": ("1.13", "1.15")
        for name in ("", ".BytesInUse", ".BytesLimit", ".MaxBytesInUse")
    },
}
"""Names that the wheels don't show, kept from an earlier table."""

Ranges = dict[str, tuple[str, str]]


def load() -> Ranges:
    """Return each name with its first and last release; gaps in between are filled, since a table of many ranges for a
    name would gain nothing: what left and came back is looked for in releases between.
    """
    found = read_wheels.load()
    missing = set(KNOWN) - found.keys()
    if missing:
        raise SystemExit(f"not measured: {', '.join(sorted(missing))}; read_wheels.py reads them")
    ranges: Ranges = {}
    for release in KNOWN:
        for name in found[release]:
            ranges[name] = (ranges.get(name, (release, release))[0], release)
    for name, span in (ADDED | KEPT).items():
        ranges.setdefault(name, span)
    return ranges


def pack(ranges: Ranges) -> bytes:
    """Return the table as text: a line of the ranges, then one line per parent: its name, and ``child:range`` for each
    child.
    """
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


def present() -> Ranges:
    """Return the table as it is."""
    head, _, body = zlib.decompress((DATA / "names.z").read_bytes()).decode().partition("\n")
    codes = [(first, last) for first, _, last in (part.partition("-") for part in head.split(" "))]
    found: Ranges = {}
    for line in body.split("\n"):
        parent, _, children = line.partition(" ")
        for child, _, code in (part.partition(":") for part in children.split(" ")):
            found[f"{parent}.{child}"] = codes[int(code)]
    return found


def compare(old: Ranges, new: Ranges) -> None:
    """Print which names are in one table only, or have another range, by the module that they are in."""
    words: Counter[tuple[str, str]] = Counter()
    for name in old.keys() | new.keys():
        before, after = old.get(name), new.get(name)
        if before != after:
            module = ".".join(name.split(".")[: 3 if name.startswith("tf.compat.") else 2])
            change = f"{'-'.join(before) if before else 'absent'} becomes {'-'.join(after) if after else 'absent'}"
            words[module, change] += 1
    for (module, change), count in sorted(words.items(), key=lambda item: (-item[1], item[0])):
        print(f"{count:6} {module}: {change}")


def main(*options: str) -> None:
    """Write the table."""
    ranges = load()
    if "--compare" in options:
        compare(present(), ranges)
        return
    text = pack(ranges)
    packed = zlib.compress(text, 9)
    DATA.mkdir(exist_ok=True)
    (DATA / "names.z").write_bytes(packed)
    print(f"names.z: {len(ranges)} names, {len(text)} bytes of text, {len(packed)} packed")


if __name__ == "__main__":
    main(*sys.argv[1:])
