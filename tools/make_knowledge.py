"""Write ``docs/knowledge.md``: the counts of the tables of names, release by release.

Usage: python tools/make_knowledge.py [--check]
"""

from __future__ import annotations

import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT), str(ROOT / "tools" / "knowledge")]

import read_wheels  # noqa: E402

from tfmemlint.knowledge.releases import KNOWN  # noqa: E402

PAGE = ROOT / "docs" / "knowledge.md"
_HEAD = """\
# Facts about TensorFlow

Every claim about TensorFlow comes from a measured table. This page counts the names;
[tools/knowledge](../tools/knowledge/README.md) describes how each table is made.

## Names

The public names of each release, read from its wheel for Linux and from the wheels of Keras, the estimator and
TensorBoard that pip installs with it; none of their code is run. `new` and `gone` compare with the row above.
`tf.compat.v2` and `tf.contrib` count as one name each.

| release | names | in `tf.keras` | in `tf.compat.v1` | in `tf.config` | new | gone |
|---|--:|--:|--:|--:|--:|--:|
"""
_TAIL = """
Code for a release before {oldest} is judged for {oldest}, code for a release after {newest} for {newest}. A wheel does
not show attributes of classes, private modules, and the parts of `tf.contrib`: they are never reported as missing. With
Keras 3 (from 2.16 on) `tf.keras` has the names of the newest Keras at the time of reading.
"""


def page() -> str:
    """Return the text of the page."""
    found = read_wheels.load()
    before: set[str] = set()
    lines = []
    for release in sorted(found, key=read_wheels.order):
        now = found[release]
        counts = [len(now), *(_below(now, prefix) for prefix in ("tf.keras.", "tf.compat.v1.", "tf.config."))]
        changes = [len(now - before), len(before - now)] if before else ["", ""]
        lines.append(f"| {release} | " + " | ".join(str(count) for count in [*counts, *changes]) + " |\n")
        before = now
    return _HEAD + "".join(lines) + _TAIL.format(oldest=KNOWN[0], newest=KNOWN[-1])


def _below(names: set[str], start: str) -> int:
    return sum(name.startswith(start) for name in names)


def main(*options: str) -> int:
    """Write the page, or with ``--check`` return 1 if it is out of date."""
    if "--check" in options:
        return int(PAGE.read_text(encoding="utf-8") != page())
    PAGE.write_text(page(), encoding="utf-8")
    return 0


if __name__ == "__main__":
    raise SystemExit(main(*sys.argv[1:]))
