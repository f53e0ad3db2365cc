#!/usr/bin/env python3
"""Compare the time of `tfmemlint check` with its peers: whole processes, side by side, in one run.

One clean file is checked beside a Python that starts and imports argparse; a large tree beside ruff. The commands take
turns, so that other work of the machine affects all of them alike; the median counts.

    python benchmarks/run.py [--runs 11] [--json FILE] [--strict]
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import shlex
import shutil
import statistics
import subprocess
import sys
import sysconfig
import tempfile
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))

from make_tree import FILES, make_tree

CLEAN = """\
import tensorflow as tf

for gpu in tf.config.list_physical_devices("GPU"):
    tf.config.experimental.set_memory_growth(gpu, True)

model = tf.keras.Sequential([tf.keras.layers.Dense(10)])
model.compile(optimizer="adam", loss="mse")
"""


@dataclass(frozen=True)
class Result:
    """Two commands beside each other: seconds, and how many times the peer's may be taken."""

    what: str
    peer: str
    ours: float
    theirs: float
    limit: float
    spread: float
    """The slowest run of ours over the fastest."""

    @property
    def times(self) -> float:
        return self.ours / self.theirs

    @property
    def kept(self) -> bool:
        return self.times <= self.limit


def main() -> int:
    """Measure, and print a table; with ``--strict``, 1 where a limit is missed."""
    parser = argparse.ArgumentParser(description="Measure `tfmemlint check` beside its peers.")
    parser.add_argument("--runs", type=int, default=11, help="how often each command runs (default: 11)")
    parser.add_argument("--files", type=int, default=FILES, help=f"files in the tree (default: {FILES})")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the numbers to a file, too")
    parser.add_argument("--strict", action="store_true", help="exit with 1 where a limit is missed")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        results = _measure(Path(folder), arguments.runs, arguments.files)
    for line in _table(results):
        print(line)
    if arguments.json is not None:
        found = [{**asdict(result), "times": result.times, "kept": result.kept} for result in results]
        arguments.json.write_text(
            json.dumps({"machine": _machine(), "results": found}, indent=2) + "\n", encoding="utf-8"
        )
    return 1 if arguments.strict and not all(result.kept for result in results) else 0


def _measure(folder: Path, runs: int, files: int) -> list[Result]:
    tool, ruff = _script("tfmemlint"), _script("ruff")
    clean = folder / "clean.py"
    clean.write_text(CLEAN, encoding="utf-8")
    tree = folder / "tree"
    counts = make_tree(tree, files)
    # pip compiles what it installs: Python may keep bytecode here too, but not in this checkout.
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    environment.update(NO_COLOR="1", PYTHONPYCACHEPREFIX=str(folder / "bytecode"))
    print(_machine())
    print(f"the tree: {counts.files} files, {counts.lines} lines; {counts.configuring} configure GPU memory")
    print(f"medians of {runs} runs\n", flush=True)
    small = [[tool, "check", str(clean)], [sys.executable, "-c", "import argparse"]]
    many = [[tool, "check"], [ruff, "check", "--isolated", "--no-cache"]]
    return [
        _result("one clean file", "python -c 'import argparse'", _alternate(small, folder, environment, 3 * runs), 5),
        _result(
            f"{counts.files} files", "ruff check --isolated --no-cache", _alternate(many, tree, environment, runs), 3
        ),
    ]


def _script(name: str) -> str:
    """Return a command of the environment that runs this."""
    found = shutil.which(name, path=sysconfig.get_path("scripts")) or shutil.which(name)
    if found is None:
        sys.exit(f"benchmarks/run.py: {name} is not installed here: pip install -e '.[test]'")
    return found


def _alternate(
    commands: Sequence[Sequence[str]], folder: Path, environment: dict[str, str], runs: int
) -> list[list[float]]:
    """Seconds of each run of each command; the first run of each only warms up."""
    taken: list[list[float]] = [[] for _ in commands]
    for _ in range(runs + 1):
        for command, times in zip(commands, taken, strict=True):
            start = time.perf_counter()
            done = subprocess.run(command, cwd=folder, env=environment, capture_output=True)
            times.append(time.perf_counter() - start)
            if done.returncode not in (0, 1):
                said = (done.stdout[-2000:] + done.stderr).decode(errors="replace")
                sys.exit(f"{shlex.join(command)} ended with {done.returncode}:\n{said}")
    return [times[1:] for times in taken]


def _result(what: str, peer: str, times: Sequence[Sequence[float]], limit: float) -> Result:
    ours, theirs = times
    return Result(what, peer, statistics.median(ours), statistics.median(theirs), limit, max(ours) / min(ours))


def _table(results: Sequence[Result]) -> list[str]:
    rows = [("tfmemlint check on", "takes", "beside", "which takes", "times", "limit")]
    rows += [
        (
            result.what,
            f"{result.ours * 1000:.0f} ms",
            result.peer,
            f"{result.theirs * 1000:.0f} ms",
            f"{result.times:.2f}",
            f"{result.limit:g}{'' if result.kept else '  MISSED'}",
        )
        for result in results
    ]
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    return ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows]


def _machine() -> str:
    return f"Python {platform.python_version()} on {platform.system()} {platform.machine()}, {os.cpu_count()} cores"


if __name__ == "__main__":
    sys.exit(main())
