#!/usr/bin/env python3
"""Make ``tests/snapshots``: what ``tfmemlint check`` prints for each fixture, and what ``tfmemlint fix`` changes.

Run without arguments, it writes all files; with the codes of rules, only theirs.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from tests.snapshots import SNAPSHOTS, pages, stored


def main() -> int:
    """Write the files that are not as they would be made; return the exit code."""
    parser = argparse.ArgumentParser(prog="tools/make_snapshots.py", description="Make the files of tests/snapshots.")
    parser.add_argument("codes", nargs="*", metavar="CODE", help="a rule; by default, all")
    codes = parser.parse_args().codes
    kept = stored()
    made = {name: make() for code in codes or [""] for name, make in pages(code).items()}
    for name, text in made.items():
        if kept.get(name) != text:
            path = SNAPSHOTS / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(text.encode())
            print(f"written: tests/snapshots/{name}")
    for name in kept.keys() - made.keys() if not codes else ():
        (SNAPSHOTS / name).unlink()
        print(f"removed: tests/snapshots/{name}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
