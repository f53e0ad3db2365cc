#!/usr/bin/env python3
"""Hold the interpreter against programs that others wrote about what Python calls.

    python tools/pycg.py path/to/PyCG/micro-benchmark/snippets path/to/HeaderGen/callsites-jupyternb-micro-benchmark

A benchmark is a folder of small programs, each a folder with a ``main.py``: those of PyCG (vitsalis/PyCG), JarvisCG
(pythonJaRvis/pythonJaRvis.github.io) and HeaderGen (secure-software-engineering/HeaderGen). Nothing is fetched here.

Of each function in them there is a copy of the program in which that function starts TensorFlow's runtime and memory
growth is set in the last line. If the function runs, that line raises, and ``check`` must report it (TFM101);
otherwise ``check`` must be silent. Whether it runs is observed: Python runs the copy with a package called
``tensorflow`` that does no more than to write down what is called.

Copies whose last line is not reached, with whichever function, say nothing and are left out.
"""

from __future__ import annotations

import argparse
import ast
import json
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from tests.recording import starts_before_growth

GROWTH = """
for gpu in tf.config.list_physical_devices("GPU"):
    tf.config.experimental.set_memory_growth(gpu, True)
"""
_DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
RUNS = 12
"""Runs of a program that draws lots: a function that runs in one of them runs."""


@dataclass(slots=True)
class Copy:
    """A program in which one function starts the runtime.

    Attributes:
        program: the folder that it is a copy of, within the benchmark. function: ``file.py:row name``.
        folder: where the copy is. runs: that function ran before the last line; None where that line is not reached.
        severity: how the last line is reported; "" where it is not.
    """

    program: str
    function: str
    folder: Path
    runs: bool | None = None
    severity: str = ""

    @property
    def by_chance(self) -> bool:
        """True if the program draws lots."""
        return "random" in (self.folder / "main.py").read_text(encoding="utf-8")

    @property
    def outcome(self) -> str:
        """``hit``, ``miss``, ``false alarm``, ``silent``, or ``left out``."""
        if self.runs is None:
            return "left out"
        if self.runs:
            return "hit" if self.severity else "miss"
        return "false alarm" if self.severity else "silent"


def programs(benchmark: Path) -> Iterator[Path]:
    """Yield the folders of programs: those with a ``main.py``."""
    yield from sorted(path.parent for path in benchmark.rglob("main.py"))


def copies(benchmark: Path, into: Path) -> Iterator[Copy]:
    """Write, and yield, a copy of each program for each of its functions."""
    for number, program in enumerate(programs(benchmark)):
        files = sorted(program.rglob("*.py"))
        trees = {path: ast.parse(path.read_text(encoding="utf-8")) for path in files}
        for path in files:
            functions = [node for node in ast.walk(trees[path]) if isinstance(node, _DEFINITIONS)]
            for function in functions:
                folder = into / f"p{number:03}_{path.relative_to(program).as_posix().replace('/', '_')[:-3]}"
                folder = folder.with_name(f"{folder.name}_{function.lineno}_{function.name}")
                _write(program, folder, trees, path, function)
                name = f"{path.relative_to(program).as_posix()}:{function.lineno} {function.name}"
                yield Copy(program.relative_to(benchmark).as_posix(), name, folder)


def _write(program: Path, folder: Path, trees: dict[Path, ast.Module], path: Path, function: ast.AST) -> None:
    for source, tree in trees.items():
        target = folder / source.relative_to(program)
        target.parent.mkdir(parents=True, exist_ok=True)
        changed = source == path or source == program / "main.py"
        target.write_text(
            _with_start(source, tree, function if source == path else None, source == program / "main.py")
            if changed
            else source.read_text(encoding="utf-8"),
            encoding="utf-8",
        )


def _with_start(source: Path, tree: ast.Module, function: ast.AST | None, is_main: bool) -> str:
    """Return the text of a module whose ``function`` starts the runtime; at the end of ``main.py`` growth is set."""
    lines = source.read_text(encoding="utf-8").splitlines()
    if function is not None:
        assert isinstance(function, _DEFINITIONS)
        first = function.body[0]
        if first.lineno == function.lineno:  # all on one line
            head = lines[first.lineno - 1]
            lines[first.lineno - 1] = f"{head[: first.col_offset]}tf.constant(0); {head[first.col_offset :]}"
        else:
            row = first.lineno
            if isinstance(first, (*_DEFINITIONS, ast.ClassDef)) and first.decorator_list:
                row = min(decorator.lineno for decorator in first.decorator_list)
            lines.insert(row - 1, " " * first.col_offset + "tf.constant(0)")
    future = [node for node in tree.body if isinstance(node, ast.ImportFrom) and node.module == "__future__"]
    lines.insert(max((node.end_lineno or 0 for node in future), default=0), "import tensorflow as tf")
    return "\n".join(lines) + "\n" + (GROWTH if is_main else "")


def observe(copy: Copy) -> None:
    """Run a copy, and note whether its function ran before memory growth was set."""
    outcomes = {starts_before_growth(copy.folder / "main.py") for _ in range(RUNS if copy.by_chance else 1)}
    copy.runs = True if True in outcomes else outcomes.pop()


def check(found: Sequence[Copy], root: Path) -> None:
    """Run ``tfmemlint check`` on all copies, and note what it says of the last line of each."""
    command = [sys.executable, "-m", "tfmemlint", "check", "--select", "TFM101", "--output-format", "json"]
    for copy in found:
        # A program that stands alone, as its author wrote it.
        (copy.folder / "pyproject.toml").write_text('[project]\nname = "program"\nversion = "1"\n', encoding="utf-8")
    arguments = [*command, "--no-cache", "--exit-zero", str(root)]
    said = subprocess.run(arguments, capture_output=True, text=True, check=False)
    if said.returncode:
        sys.exit(said.stderr)
    by_folder = {copy.folder.resolve(): copy for copy in found}
    for finding in json.loads(said.stdout):
        path = Path(finding["filename"]).resolve()
        found_in = next((by_folder[parent] for parent in path.parents if parent in by_folder), None)
        if found_in is not None:
            found_in.severity = finding["severity"]


def report(name: str, found: Sequence[Copy], *, show: bool) -> bool:
    """Print the figures of one benchmark; return False where something is wrong."""
    count = Counter(copy.outcome for copy in found)
    run, idle = count["hit"] + count["miss"], count["false alarm"] + count["silent"]
    print(f"{name}: {len({copy.program for copy in found})} programs, {len(found)} functions")
    print(f"  run: {run}, of which reported {count['hit']} (recall {count['hit'] / max(run, 1):.3f})")
    print(f"  not run: {idle}, of which reported {count['false alarm']} (false alarms)")
    print(f"  left out, as the last line is not reached: {count['left out']}")
    for copy in found if show else ():
        if copy.outcome in ("miss", "false alarm"):
            print(f"  {copy.outcome}: {copy.program} {copy.function} [{copy.folder}]")
    return not count["miss"] and not count["false alarm"]


def main() -> int:
    """Run; 1 where a function is missed, or reported without being run."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", 1)[0])
    parser.add_argument("benchmarks", nargs="+", type=Path, help="folders of programs")
    parser.add_argument("--keep", type=Path, help="a folder for the copies")
    parser.add_argument("--quiet", action="store_true", help="print the figures only")
    options = parser.parse_args()
    root = options.keep or Path(tempfile.mkdtemp(prefix="pycg-"))
    try:
        good = True
        for number, benchmark in enumerate(options.benchmarks):
            place = root / f"benchmark{number}"
            found = list(copies(benchmark.resolve(), place))
            with ThreadPoolExecutor(2) as pool:
                list(pool.map(observe, found))
            check(found, place)
            good = report(str(benchmark), found, show=not options.quiet) and good
        return 0 if good else 1
    finally:
        if options.keep is None:
            shutil.rmtree(root, ignore_errors=True)


if __name__ == "__main__":
    sys.exit(main())
