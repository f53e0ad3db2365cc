#!/usr/bin/env python3
"""Measure the time of `tfmemlint check` on folders of your own beside `ruff check --isolated --no-cache`.

Each command is a process of its own, with all that it starts; the commands take turns, so that what else the machine
does falls on all of them alike. Seconds are those of the processor: on a machine that others use, too, those on the
clock say little. What counts is the median.

    python benchmarks/folders.py [--runs 7] [--json FILE] FOLDER...
    python benchmarks/folders.py --profile FOLDER

Cold is without a cache; warm is with one that an earlier run has filled.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from importlib import metadata
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))

from run import _machine, _script

PROFILE = """
import cProfile, os, pstats, sys
from tfmemlint.cli.main import main
os.cpu_count = lambda: 1
profile, out = cProfile.Profile(), sys.stdout
sys.stdout = open(os.devnull, "w")
profile.runcall(main, ["check", "--no-cache"])
sys.stdout = out
pstats.Stats(profile).sort_stats("cumtime").print_stats(40)
pstats.Stats(profile).sort_stats("tottime").print_stats(25)
"""
"""One process, so that all of its work is seen."""


@dataclass(frozen=True)
class Row:
    """Medians of the seconds of processor time that the commands take on one folder."""

    folder: str
    files: int
    ruff: float
    cold: float
    warm: float

    @property
    def times(self) -> float:
        """The time of a cold run, as a multiple of ruff's."""
        return self.cold / self.ruff

    @property
    def warmth(self) -> float:
        """The part of a cold run's time that a warm run takes."""
        return self.warm / self.cold


def main() -> int:
    """Measure, and print a table."""
    parser = argparse.ArgumentParser(description="Measure `tfmemlint check` beside ruff on folders.")
    parser.add_argument("folders", nargs="+", type=Path, metavar="FOLDER")
    parser.add_argument("--runs", type=int, default=7, help="how often each command runs (default: 7)")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the numbers to a file, too")
    parser.add_argument("--profile", action="store_true", help="print a profile of one run instead")
    arguments = parser.parse_args()
    if arguments.profile:
        return max(subprocess.run([sys.executable, "-c", PROFILE], cwd=each).returncode for each in arguments.folders)
    print(f"{_machine()}; ruff {metadata.version('ruff')}, tfmemlint {metadata.version('tfmemlint')}")
    print(f"seconds of processor time, medians of {arguments.runs} runs\n", flush=True)
    print(f"{'folder':24} {'files':>6} {'ruff':>8} {'cold':>8} {'times':>6} {'warm':>8} {'of cold':>8}")
    rows = []
    for folder in arguments.folders:
        row = _measure(folder, arguments.runs)
        rows.append(row)
        print(
            f"{row.folder:24} {row.files:6} {row.ruff:8.3f} {row.cold:8.3f} {row.times:6.1f} {row.warm:8.3f}"
            f" {row.warmth:8.2f}",
            flush=True,
        )
    if len(rows) > 1:
        times, warmths = [row.times for row in rows], [row.warmth for row in rows]
        print(f"\ntimes ruff's: median {statistics.median(times):.1f}, worst {max(times):.1f}")
        print(f"warm, of cold: median {statistics.median(warmths):.2f}, worst {max(warmths):.2f}")
    if arguments.json is not None:
        found = [{**asdict(row), "times": row.times, "warmth": row.warmth} for row in rows]
        arguments.json.write_text(json.dumps({"machine": _machine(), "rows": found}, indent=2) + "\n", encoding="utf-8")
    return 0


def _measure(folder: Path, runs: int) -> Row:
    tool, ruff = _script("tfmemlint"), _script("ruff")
    with tempfile.TemporaryDirectory() as place:
        # pip compiles what it installs: Python may keep bytecode here too, but not in this checkout.
        environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
        bytecode = os.environ.get("PYTHONPYCACHEPREFIX", str(Path(place, "bytecode")))
        environment.update(NO_COLOR="1", PYTHONPYCACHEPREFIX=bytecode, TFMEMLINT_CACHE_DIR=str(Path(place, "cache")))
        commands = [[ruff, "check", "--isolated", "--no-cache"], [tool, "check", "--no-cache"], [tool, "check"]]
        taken: list[list[float]] = [[] for _ in commands]
        for number in range(runs + 1):
            for command, times in zip(commands, taken, strict=True):
                seconds = processor_time(command, folder, environment)
                if number:
                    # The first run only warms up: bytecode, the files, the cache.
                    times.append(seconds)
    files = sum(name.endswith(".py") for _, _, names in os.walk(folder) for name in names)
    return Row(folder.resolve().name, files, *map(statistics.median, taken))


def processor_time(command: Sequence[str], folder: Path, environment: dict[str, str]) -> float:
    """Return the seconds of the processor that a command and all that it starts take."""
    process = subprocess.Popen(
        command, cwd=folder, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode not in (0, 1):
        sys.exit(f"{' '.join(command)} ended with {process.returncode} in {folder}")
    return usage.ru_utime + usage.ru_stime


if __name__ == "__main__":
    sys.exit(main())
