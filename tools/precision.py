#!/usr/bin/env python3
"""Measure the share of default findings that are true on repositories that nobody here has seen.

``python tools/precision.py FOLDER --sheet SHEET.csv`` runs ``tfmemlint check`` and ``tfmemlint fix --diff`` on each
folder in FOLDER, which is one repository, and writes a sheet: one row for each finding, with the code around it and the
release that it was judged for, and one row for each file that a safe fix would change. A person fills in the column
``verdict``:

- ``true``: TensorFlow does what the finding says, on the release that the code is for, and it matters to the author;
- ``false``: it does not, or the release is not the code's, or the code is not TensorFlow's;
- ``arguable``: nobody can tell from the repository.

``python tools/precision.py --sum SHEET.csv...`` counts the verdicts. It fetches nothing and runs nothing of what it
reads (on Python 3.11 or later). Folders are made by hand, such as with ``git archive`` and ``git init``: without
``.git``, what the repository's root states holds for fewer of its files.
"""

from __future__ import annotations

import argparse
import csv
import json
import os
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

COLUMNS = ("repository", "kind", "code", "place", "severity", "says", "release", "around", "verdict", "why")
VERDICTS = ("true", "false", "arguable")
ROWS_AROUND = 4
"""Rows of code before and after a finding: enough to see the statement that it is in."""
MAX_SECONDS = 900
"""A repository that takes longer is reported as such, and has no rows."""


def main() -> int:
    """Write a sheet, or sum sheets up."""
    parser = argparse.ArgumentParser(description="precision on repositories that nobody has seen")
    parser.add_argument("folder", nargs="?", type=Path, help="a folder with one folder for each repository")
    parser.add_argument("--sheet", type=Path, help="the sheet to write")
    parser.add_argument("--judged", type=Path, nargs="*", default=[], help="judged sheets whose verdicts are kept")
    parser.add_argument("--sum", type=Path, nargs="+", help="judged sheets to sum up")
    given = parser.parse_args()
    if given.sum:
        return sum_up(given.sum)
    if given.folder is None or given.sheet is None:
        parser.error("give a folder and --sheet, or --sum")
    write_sheet(given.folder, given.sheet, verdicts_of(given.judged))
    return 0


def write_sheet(folder: Path, sheet: Path, known: dict[tuple[str, ...], tuple[str, str]]) -> None:
    """Run the tool on each repository of ``folder`` and write the sheet, with the verdicts that are known."""
    with sheet.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, COLUMNS)
        writer.writeheader()
        for repository in sorted(path for path in folder.iterdir() if path.is_dir()):
            begun = time.monotonic()
            count = 0
            findings = list(findings_of(repository))
            for row in (*findings, *(fixes_of(repository) if findings else ())):
                row["verdict"], row["why"] = known.get(_key(row), ("", ""))
                writer.writerow(row)
                count += 1
            file.flush()
            print(f"{repository.name}: {count} rows, {time.monotonic() - begun:.0f} s", flush=True)


def findings_of(repository: Path) -> Iterator[dict[str, str]]:
    """Yield the row of each default finding of a repository."""
    report = _run(repository, "check", "--output-format", "json", "--no-cache", ".")
    if report is None:
        return
    # An entry without a code says where the tool did not follow the code.
    findings = [finding for finding in json.loads(report) if finding["code"] is not None]
    if not findings:
        return
    shown = _run(repository, "check", "--output-format", "json", "--show-target", "--no-cache", ".")
    releases = {}
    for group in json.loads(shown)["targets"] if shown else ():
        for path in group["files"]:
            releases[path] = f"{group['tensorflow']} ({group['source']})"
    for finding in findings:
        row = finding["location"]["row"]
        yield {
            "repository": repository.name,
            "kind": "finding",
            "code": finding["code"],
            "place": f"{_within(repository, finding['filename'])}:{row}",
            "severity": finding["severity"],
            "says": _says(finding),
            "release": releases.get(_within(repository, finding["filename"]), ""),
            "around": _around(repository / _within(repository, finding["filename"]), finding, row),
        }


def fixes_of(repository: Path) -> Iterator[dict[str, str]]:
    """Yield a row for each file that a safe fix would change, with the difference."""
    diff = _run(repository, "fix", "--diff", "--no-cache", "--quiet", ".") or ""
    for part in ("\n" + diff).split("\n--- ")[1:]:
        name = part.split("\n", 1)[0].split("\t")[0].strip()
        yield {
            "repository": repository.name,
            "kind": "fix",
            "code": "",
            "place": name.removeprefix("a/"),
            "severity": "",
            "says": "",
            "release": "",
            "around": "--- " + part,
        }


def sum_up(sheets: Sequence[Path]) -> int:
    """Print the counts of verdicts: of all findings, of fixes, and by code. Return 1 if any row has no verdict."""
    rows = [row for sheet in sheets for row in _rows(sheet)]
    repositories = {row["repository"] for row in rows}
    print(f"{len(repositories)} repositories with findings or fixes")
    for kind in ("finding", "fix"):
        counts = Counter(row["verdict"] for row in rows if row["kind"] == kind)
        print(_line(f"{kind}s", counts))
    for code in sorted({row["code"] for row in rows if row["code"]}):
        print(_line(f"  {code}", Counter(row["verdict"] for row in rows if row["code"] == code)))
    left = [row for row in rows if row["verdict"] not in VERDICTS]
    for row in left:
        print(f"no verdict: {row['repository']} {row['place']} {row['code']}")
    return 1 if left else 0


def verdicts_of(sheets: Sequence[Path]) -> dict[tuple[str, ...], tuple[str, str]]:
    """Return the verdicts and reasons of judged sheets by repository, place, code and what is said."""
    return {_key(row): (row["verdict"], row["why"]) for sheet in sheets for row in _rows(sheet) if row["verdict"]}


def _line(name: str, counts: Counter[str]) -> str:
    parts = ", ".join(f"{counts[verdict]} {verdict}" for verdict in VERDICTS)
    judged = counts["true"] + counts["false"] + counts["arguable"]
    precision = f"; precision {counts['true'] / judged:.2f}" if judged else ""
    return f"{name}: {sum(counts.values())} ({parts}){precision}"


def _key(row: dict[str, str]) -> tuple[str, ...]:
    return row["repository"], row["kind"], row["place"], row["code"], row["says"] or row["around"]


def _rows(sheet: Path) -> list[dict[str, str]]:
    with sheet.open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def _says(finding: dict[str, Any]) -> str:
    parts = [finding["message"], finding.get("outcome") or "", finding.get("advice") or ""]
    return " | ".join(part for part in parts if part)


def _within(repository: Path, name: str) -> str:
    path = Path(name)
    return path.relative_to(repository.resolve()).as_posix() if path.is_absolute() else path.as_posix()


def _around(path: Path, finding: dict[str, Any], row: int) -> str:
    """Return the rows around a place: of the cell, where it is in a notebook."""
    try:
        text = path.read_text(encoding="utf-8", errors="replace")
        if path.suffix == ".ipynb":
            cells = [cell for cell in json.loads(text)["cells"] if cell.get("cell_type") == "code"]
            text = "".join(cells[(finding.get("cell") or 1) - 1]["source"])
    except (OSError, ValueError, KeyError, IndexError):
        return ""
    rows = text.splitlines()
    first = max(0, row - 1 - ROWS_AROUND)
    return "\n".join(f"{number + 1}: {rows[number]}" for number in range(first, min(len(rows), row + ROWS_AROUND)))


def _run(repository: Path, *words: str) -> str | None:
    """Return what the tool prints in a repository; None if it takes too long or ends with an error of its own."""
    command = [sys.executable, "-m", "tfmemlint", *words]
    # Else Python imports modules of the repository that are called like its own.
    environment = {**os.environ, "PYTHONSAFEPATH": "1"}
    try:
        ended = subprocess.run(
            command, cwd=repository, env=environment, capture_output=True, text=True, timeout=MAX_SECONDS, check=False
        )
    except subprocess.TimeoutExpired:
        print(f"{repository.name}: {words[0]} took more than {MAX_SECONDS} s", file=sys.stderr)
        return None
    if ended.returncode > 1:
        print(f"{repository.name}: {words[0]} failed: {ended.stderr.strip()}", file=sys.stderr)
        return None
    return ended.stdout


if __name__ == "__main__":
    sys.exit(main())
