#!/usr/bin/env python3
"""List the fixtures of a rule wherever they lie under ``fixtures/``, each with what is expected of it.

Rows are those of the files as they are, claims included.
"""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from tests.fixture_files import FIXTURES, read_text, strip_markers  # noqa: E402
from tfmemlint.rulekit.rule import codes  # noqa: E402

CLAIMS = ("raises", "lacks", "observed", "fixed", "withheld", "known")
"""The claims of a header that are shown."""


def main() -> int:
    """Print the list; the exit code is 2 where there is no such rule."""
    parser = argparse.ArgumentParser(prog="tools/list_fixtures.py", description="List the fixtures of a rule.")
    parser.add_argument("code", help="the rule's code, such as TFM305")
    code = parser.parse_args().code.upper()
    if code not in codes():
        print(f"tools/list_fixtures.py: there is no rule {code}", file=sys.stderr)
        return 2
    count = 0
    for path, words in listed(code):
        print(f"{path.relative_to(ROOT).as_posix()}  {words}")
        count += 1
    print(f"{count} files have to do with {code}")
    return 0


def listed(code: str) -> Iterator[tuple[Path, str]]:
    """Yield the files of a rule's own folders, then all others in which it is expected, each with what is expected."""
    for path in sorted(path for path in FIXTURES.rglob("*") if path.is_file() and "__pycache__" not in path.parts):
        if path.suffix == ".found":
            continue
        try:
            rows, header = expected(path)
        except (UnicodeDecodeError, SyntaxError, ValueError):
            rows, header = {}, {}
        own = [row for row, found in sorted(rows.items()) if code in found]
        in_own_folder = path.parent.name == code
        if not own and not in_own_folder:
            continue
        if ".fixed." in path.name:
            yield path, "what the fix makes of it"
        elif not own:
            yield path, "is silent"
        else:
            others = sorted({other for found in rows.values() for other in found} - {code})
            words = f"{code} in row {', '.join(map(str, own))}" + (f"; also {', '.join(others)}" if others else "")
            claims = [f"{key}: {header[key]}" for key in CLAIMS if key in header]
            yield path, "; ".join([words, *claims])


def expected(path: Path) -> tuple[dict[int, list[str]], dict[str, str]]:
    """Return the expected codes by row of a file, and its header."""
    listed = path.with_name(f"{path.name}.found")
    if listed.exists():
        found: dict[int, list[str]] = {}
        for row, code in re.findall(r"^(\d+) (TFM\d{3})", listed.read_text(encoding="utf-8"), re.MULTILINE):
            found.setdefault(int(row), []).append(code)
        return found, {}
    _, rows, header = strip_markers(read_text(path))
    return {row + len(header): codes for row, codes in rows.items()}, header


if __name__ == "__main__":
    sys.exit(main())
