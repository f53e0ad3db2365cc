"""Make ``tfmemlint/knowledge/data/types.txt`` from what `measure_types.py` has printed on several releases.

    .venv/bin/python tools/knowledge/make_types.py tools/knowledge/measured/types-*.txt

A member is written with the releases that may have it: one that 2.4 lacks and 2.9 has may be there from 2.5 on. So what
the table says is missing is missing for sure; nothing is concluded about releases between two that differ.
"""

from __future__ import annotations

import sys
from collections import defaultdict
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

from tfmemlint.knowledge.releases import KNOWN, Target, position  # noqa: E402

TABLE = ROOT / "tfmemlint" / "knowledge" / "data" / "types.txt"
Members = dict[str, set[str]]


def read(path: str) -> tuple[str, Members]:
    """Return the release that a file is about, and the members of each type in it."""
    head, *lines = Path(path).read_text(encoding="ascii").splitlines()
    types: Members = {}
    for line in lines:
        kind, *rest = line.split(" ")
        name = f"message {rest.pop(0)}" if kind == "message" else kind
        types[name] = set(rest)
    return head.removeprefix("# "), types


def possible(releases: list[str], having: set[str]) -> str:
    """Return ``:FIRST-LAST`` for the releases that may have a member; ``""`` where all may."""
    first = min(position(release) for release in having)
    last = max(position(release) for release in having)
    before = [position(release) for release in releases if position(release) < first]
    after = [position(release) for release in releases if position(release) > last]
    left = KNOWN[max(before) + 1] if before else ""
    right = KNOWN[min(after) - 1] if after else ""
    return f":{left}-{right}" if left or right else ""


def make(paths: list[str]) -> str:
    """Return the table."""
    measured = dict(sorted(map(read, paths), key=lambda pair: Target.parse(pair[0]).index))
    having: dict[str, dict[str, set[str]]] = defaultdict(lambda: defaultdict(set))
    for release, types in measured.items():
        for name, found in types.items():
            for member in found:
                having[name][member].add(release)
    lines = [f"# members of TensorFlow's objects, as found in {', '.join(measured)} by tools/knowledge/make_types.py"]
    for name, members in sorted(having.items()):
        releases = [release for release, types in measured.items() if name in types]
        parts = [f"{member}{possible(releases, those)}" for member, those in sorted(members.items())]
        lines.append(" ".join([name, *parts]))
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    if not sys.argv[1:]:
        sys.exit(__doc__)
    TABLE.write_text(make(sys.argv[1:]), encoding="ascii")
    print(f"{TABLE.name}: {len(TABLE.read_text().splitlines()) - 1} types")
