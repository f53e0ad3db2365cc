#!/usr/bin/env python3
"""Measure the cost of whole programs in `tfmemlint check`: a tree of many projects, and the same files one by one.

The tree holds projects of sixty files each: a package whose modules import each other, scripts and tests that import
them. In one project of four the scripts configure GPUs, by a module that they import; the others use TensorFlow, and
nothing of them matters. Every run is a process of its own. Seconds are those of the processor, for that process and
those that it starts: other work of the machine affects them less than the clock.

    python benchmarks/programs.py [--runs 5] [--files 1680] [--no-large] [--json FILE]
"""

from __future__ import annotations

import argparse
import json
import os
import random
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))

from make_tree import FOLDERS, WORDS, _length, _module
from run import _machine

FILES = 1680
FILES_PER_PROJECT = 60
"""Files of a project."""
PROJECTS_PER_CONFIGURING = 4
"""One project in this many configures GPUs."""
LARGE_FACTOR = 10
"""The large trees are this many times as large."""
MAX_RATIO, MAX_LARGE_RATIO = 1.5, 11.0
"""A tree may take this many times the seconds of its files one by one; a tree ten times as large, of the tree."""

GPU = '''\
"""Memory of the GPUs."""

import tensorflow as tf


def setup(growth: bool = True) -> int:
    """Let memory grow on all GPUs."""
    gpus = tf.config.list_physical_devices("GPU")
    for gpu in gpus:
        tf.config.experimental.set_memory_growth(gpu, growth)
    return len(gpus)
'''
SCRIPT = '''

def main() -> None:
    """Set the GPUs up, and work."""
    {first}
    {second}


if __name__ == "__main__":
    main()
'''
TEST = '''

def test_{name}() -> None:
    """It can be imported."""
    assert {name} is not None
'''


def make_programs(folder: Path, projects: int, configuring: int, seed: int = 11) -> int:
    """Write projects of `FILES_PER_PROJECT` files into ``folder``, of which the first ``configuring`` configure GPUs.

    Returns:
        how many files there are.
    """
    for number in range(projects):
        # Each is made of numbers of its own: a larger tree begins with the same projects.
        _project(random.Random(seed * 100_003 + number), folder / f"project_{number}", number < configuring, number)
    return projects * FILES_PER_PROJECT


def _project(rng: random.Random, folder: Path, configures: bool, number: int) -> None:
    package = f"{rng.choice(WORDS)}_{number}"
    top = folder / package
    made: list[str] = []
    files: dict[Path, str] = {folder / "pyproject.toml": f'[project]\nname = "{package}"\n'}
    inner = rng.sample(FOLDERS[:-1], 4)
    for directory in (top, *(top / name for name in inner)):
        files[directory / "__init__.py"] = ""
    scripts, tests = 3, 6
    for count in range(FILES_PER_PROJECT - len(inner) - 1 - scripts - tests - 1):
        name = f"{rng.choice(WORDS)}_{rng.choice(WORDS)}_{count}"
        where = rng.choice(inner)
        # Modules import those that were there before.
        used = rng.sample(made, min(len(made), rng.randint(0, 4)))
        imports = "".join(f"from {package}.{module} import EPSILON\n" for module in used)
        files[top / where / f"{name}.py"] = _with_imports(_module(rng, "", _length(rng)), imports)
        made.append(f"{where}.{name}")
    files[top / "gpu.py"] = GPU if configures else '"""Nothing of interest."""\n\n\ndef setup() -> int:\n    return 0\n'
    for count in range(scripts):
        used = rng.sample(made, 3)
        lines = "".join(f"import {package}.{module}\n" for module in used) + f"from {package} import gpu\n"
        work = f"print({package}.{used[0]}.EPSILON)"
        # In one of them it comes too late.
        order = ("gpu.setup()", work) if count else (f"{package}.{used[0]}.tf.constant(1)", "gpu.setup()")
        text = _with_imports(_module(rng, "", 60), lines) + SCRIPT.format(first=order[0], second=order[1])
        files[folder / f"{('train', 'evaluate', 'serve')[count]}.py"] = text
    for count in range(tests):
        used_one = rng.choice(made)
        name = used_one.rpartition(".")[2]
        imports = f"from {package}.{used_one.rpartition('.')[0]} import {name}\n"
        files[folder / "tests" / f"test_{count}_{name}.py"] = imports + TEST.format(name=name)
    for path, text in files.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8", newline="\n")


def _with_imports(text: str, imports: str) -> str:
    """Return a module with more imports behind its own."""
    return text.replace("import tensorflow as tf\n", f"import tensorflow as tf\n{imports}", 1)


@dataclass(frozen=True)
class Taken:
    """The cost of one way of checking a tree: the best of some runs."""

    what: str
    files: int
    seconds: float
    """Of the processor."""
    passed: float
    """On the clock."""
    memory: float
    """The largest that any of its processes was, in MiB."""


ALONE = "from tfmemlint.engine import front_end; front_end._add_programs = lambda *given: None\n"
RUN = "import sys; from tfmemlint.cli.main import main; sys.exit(main())"


def _taken(what: str, tree: Path, files: int, runs: int, *, alone: bool = False, cache: Path | None = None) -> Taken:
    # pip compiles what it installs: Python may keep bytecode here too, but not in this checkout.
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    environment.update(NO_COLOR="1", PYTHONPYCACHEPREFIX=str(tree.parent / "bytecode"))
    options = ["--no-cache"]
    if cache is not None:
        environment["TFMEMLINT_CACHE_DIR"] = str(cache)
        options = []
    command = [sys.executable, "-c", (ALONE if alone else "") + RUN, "check", "--output-format", "github", *options]
    found: list[tuple[float, float, float]] = []
    for number in range(runs + 1):
        start = time.perf_counter()
        process = subprocess.Popen(
            [sys.executable, __file__, "--child", *command], cwd=tree, env=environment, stdout=subprocess.PIPE
        )
        said, _ = process.communicate()
        passed = time.perf_counter() - start
        if process.returncode != 0:
            sys.exit(f"{' '.join(command)} ended with {process.returncode}")
        # The first run only warms up.
        if number:
            seconds, memory = json.loads(said)
            found.append((seconds, passed, memory))
    return Taken(what, files, min(run[0] for run in found), min(run[1] for run in found), max(run[2] for run in found))


def _child(command: Sequence[str]) -> int:
    """Run a command, and print the seconds that it took and the memory that one of its processes had at most."""
    done = subprocess.run(command, stdout=subprocess.DEVNULL)
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    unit = 1 if sys.platform == "darwin" else 1024
    print(json.dumps([used.ru_utime + used.ru_stime, used.ru_maxrss * unit / 2**20]))
    return 0 if done.returncode in (0, 1) else done.returncode


def measure(folder: Path, files: int, runs: int, *, large: bool) -> list[Taken]:
    """Make the trees in ``folder``, and check them."""
    projects = max(files // FILES_PER_PROJECT, PROJECTS_PER_CONFIGURING)
    configuring = projects // PROJECTS_PER_CONFIGURING
    tree = folder / "tree"
    count = make_programs(tree, projects, configuring)
    found = [
        _taken("each file by itself", tree, count, runs, alone=True),
        _taken("whole programs", tree, count, runs),
        _taken("whole programs, found before", tree, count, runs, cache=folder / "cache"),
    ]
    shutil.rmtree(tree)
    if large:
        few = max(runs // 2, 1)
        count = make_programs(tree, projects * LARGE_FACTOR, configuring)
        found.append(_taken("with many more files that don't matter", tree, count, few))
        shutil.rmtree(tree)
        count = make_programs(tree, projects * LARGE_FACTOR, configuring * LARGE_FACTOR)
        found.append(_taken("ten times as large", tree, count, few))
    return found


def main() -> int:
    """Measure, and print a table."""
    if sys.argv[1:2] == ["--child"]:
        return _child(sys.argv[2:])
    parser = argparse.ArgumentParser(description="Measure what it costs `tfmemlint check` to follow whole programs.")
    parser.add_argument("--runs", type=int, default=5, help="how often each command runs (default: 5)")
    parser.add_argument("--files", type=int, default=FILES, help=f"files in the tree (default: {FILES})")
    parser.add_argument("--no-large", action="store_true", help="leave out the trees that are ten times as large")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the numbers to a file, too")
    parser.add_argument("--strict", action="store_true", help="exit with 1 where a limit is missed")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        found = measure(Path(folder), arguments.files, arguments.runs, large=not arguments.no_large)
    print(_machine())
    print(f"the best of {arguments.runs} runs each; memory is that of the largest process\n")
    print(f"{'':42}{'files':>7}{'processor':>11}{'clock':>9}{'memory':>10}")
    for taken in found:
        print(f"{taken.what:42}{taken.files:>7}{taken.seconds:>9.2f} s{taken.passed:>7.2f} s{taken.memory:>6.0f} MiB")
    times = {"whole programs / each file by itself": (found[1].seconds / found[0].seconds, MAX_RATIO)}
    if len(found) > 4:
        times["ten times as large / whole programs"] = (found[4].seconds / found[1].seconds, MAX_LARGE_RATIO)
    print()
    for what, (ratio, limit) in times.items():
        print(f"{what}: {ratio:.2f} (limit: {limit:g}){'' if ratio <= limit else '  MISSED'}")
    if arguments.json is not None:
        numbers = {"machine": _machine(), "results": [asdict(taken) for taken in found]}
        arguments.json.write_text(json.dumps(numbers, indent=2) + "\n", encoding="utf-8")
    return 1 if arguments.strict and any(ratio > limit for ratio, limit in times.values()) else 0


if __name__ == "__main__":
    sys.exit(main())
