#!/usr/bin/env python3
"""Measure processor time and memory of `tfmemlint check` on trees of 1,000 to 100,000 files, and draw them.

    python benchmarks/scale.py [--files 1000 3000 10000] [--json FILE] [--plot FILE.svg]

Each size is a tree of its own (`make_tree.py`), checked without a cache, beside ``ruff check --isolated --no-cache``.
Seconds are those of the processor, of all processes together; memory is that of the largest process, in MiB.
``--plot`` needs matplotlib. ``--from FILE`` draws what an earlier run has written with ``--json``.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))

from make_tree import make_tree
from run import _machine, _script

SIZES = (1_000, 3_000, 10_000, 30_000, 100_000)
TOOLS = ("tfmemlint", "ruff")


@dataclass(frozen=True)
class Point:
    """One command on one tree: seconds of the processor, and MiB of its largest process."""

    tool: str
    files: int
    seconds: float
    mib: float


def main() -> int:
    """Measure, print a table, and draw it if asked to."""
    parser = argparse.ArgumentParser(description="Measure `tfmemlint check` on trees of growing size.")
    parser.add_argument("--files", nargs="+", type=int, default=SIZES, help="sizes of the trees, in files")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the numbers to a file, too")
    parser.add_argument("--from", dest="earlier", type=Path, metavar="FILE", help="take the numbers from a file")
    parser.add_argument("--plot", type=Path, metavar="FILE", help="draw them as SVG")
    arguments = parser.parse_args()
    if arguments.earlier is not None:
        written = json.loads(arguments.earlier.read_text(encoding="utf-8"))
        machine, points = written["machine"], [Point(**point) for point in written["points"]]
    else:
        machine, points = _machine(), _measured(arguments.files)
    if arguments.json is not None:
        found = {"machine": machine, "points": [asdict(point) for point in points]}
        arguments.json.write_text(json.dumps(found, indent=2) + "\n", encoding="utf-8")
    if arguments.plot is not None:
        _draw(points, arguments.plot)
    return 0


def _measured(sizes: Sequence[int]) -> list[Point]:
    commands = {
        "tfmemlint": [_script("tfmemlint"), "check", "--no-cache"],
        "ruff": [_script("ruff"), "check", "--isolated", "--no-cache"],
    }
    print(f"{_machine()}\n\n{'files':>8} {'command':10} {'seconds':>8} {'ms a file':>10} {'MiB':>6}", flush=True)
    points = []
    for files in sizes:
        with tempfile.TemporaryDirectory() as place:
            make_tree(Path(place, "tree"), files)
            if files == sizes[0]:
                # The first run of all only warms up: it compiles what it imports.
                for tool in TOOLS:
                    _point(tool, commands[tool], Path(place, "tree"), files)
            for tool in TOOLS:
                point = _point(tool, commands[tool], Path(place, "tree"), files)
                points.append(point)
                print(
                    f"{files:8} {tool:10} {point.seconds:8.2f} {1000 * point.seconds / files:10.3f} {point.mib:6.0f}",
                    flush=True,
                )
    return points


def _point(tool: str, command: Sequence[str], tree: Path, files: int) -> Point:
    # pip compiles what it installs: Python may keep bytecode here too, but not in this checkout.
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    environment.update(NO_COLOR="1", PYTHONPYCACHEPREFIX=str(Path(tempfile.gettempdir(), "tfmemlint-bytecode")))
    # The largest process of all is asked for in a process between, which has no other children.
    measure = (
        "import json, resource, subprocess, sys\n"
        "done = subprocess.run(sys.argv[1:], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)\n"
        "usage = resource.getrusage(resource.RUSAGE_CHILDREN)\n"
        "print(json.dumps([done.returncode, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024]))\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", measure, *command], cwd=tree, env=environment, capture_output=True, text=True, check=True
    )
    status, seconds, mib = json.loads(done.stdout)
    if status not in (0, 1):
        sys.exit(f"{tool} ended with {status} on {files} files")
    return Point(tool, files, round(seconds, 3), round(mib, 1))


def _draw(points: Sequence[Point], path: Path) -> None:
    import matplotlib as mpl

    mpl.use("svg")
    mpl.rcParams.update({"svg.hashsalt": "tfmemlint", "font.size": 10, "svg.fonttype": "none"})
    from matplotlib import pyplot

    figure, (times, memory) = pyplot.subplots(1, 2, figsize=(9.2, 3.6), layout="constrained")
    for tool, colour, marker in zip(TOOLS, ("#b3541e", "#4a6fa5"), ("o", "s"), strict=True):
        own = [point for point in points if point.tool == tool]
        sizes = [point.files for point in own]
        times.plot(sizes, [point.seconds for point in own], color=colour, marker=marker, label=tool)
        memory.plot(sizes, [point.mib for point in own], color=colour, marker=marker, label=tool)
    for axes, title, unit in ((times, "Processor time", "seconds"), (memory, "Largest process", "MiB")):
        axes.set(xscale="log", title=title, xlabel="files", ylabel=unit)
        axes.grid(True, which="major", color="#dddddd", linewidth=0.6)
        axes.spines[["top", "right"]].set_visible(False)
        axes.legend(frameon=False)
    times.set_yscale("log")
    memory.set_ylim(bottom=0)
    figure.savefig(path, metadata={"Date": None})


if __name__ == "__main__":
    sys.exit(main())
