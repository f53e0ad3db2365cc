#!/usr/bin/env python3
"""Change one condition at a time in a copy of the code, and report which changes no test notices.

``python tools/mutants.py --seed 1 --count 150`` draws 150 changes (mutants) from the modules below, runs the tests on
each, the cheapest first, and prints the mutants that survive, with file and line. ``--list`` prints them and runs
nothing. Exit code 1 where the share of killed mutants is below ``--goal``. The work tree is never written to.

Mutants that behave like the code itself are listed in ``tools/equivalent_mutants.txt``, each with the reason; they are
not drawn. A mutant that no test notices and that is not equivalent is a missing test.

The libraries for this were tried and do not fit: cosmic-ray 8.7 parses with parso, which has no ``match`` statement;
mutmut 3.8 leaves decorated functions out (every property) and code outside of functions (every threshold), and draws
no samples.
"""

from __future__ import annotations

import argparse
import compileall
import contextlib
import io
import os
import pickle
import random
import re
import resource
import shutil
import sys
import tempfile
import time
import traceback
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from tools.mutations import Mutant, mutants_of

ROOT = Path(__file__).resolve().parents[1]
COPIED = ("tfmemlint", "rules", "tests", "fixtures", "pyproject.toml")
MODULES = (
    *("rules/tfm*.py", "tfmemlint/facts/*.py", "tfmemlint/interpreter/values/*.py", "tfmemlint/interpreter/state/*.py"),
    *("tfmemlint/interpreter/operations/conditions.py", "tfmemlint/interpreter/operations/guards.py"),
    *(f"tfmemlint/interpreter/nodes/{name}.py" for name in ("branches", "contexts", "tries")),
)
GENERATED = "tfmemlint/facts/search_index.py"
"""Left out: ``tools/make_search_index.py`` writes it, and a test compares it with the rules."""
EQUIVALENT = Path(__file__).with_name("equivalent_mutants.txt")
TESTS = (
    *("tests/facts", "tests/interpreter", "tests/rulekit", "tests/test_silence.py", "tests/test_fixtures.py"),
    *("tests/deployment/test_fixtures.py", "tests/test_program_fixtures.py", "tests/test_program_traces.py"),
    *("tests/test_swallowed_settings.py", "tests/test_unguarded.py", "tests/test_snapshots.py"),
)
"""The tests that may notice a mutant: none of them runs TensorFlow. Of these, those that run its line are tried."""
MAX_SLOWDOWN = 4
"""The tests may take this many times their processor time on the unchanged code."""
SPARE_S = 10.0
"""Processor seconds that they get in addition, for imports and for a machine that is slower for a while."""

_BROKEN = 70
"""Exit status of a test process that failed by itself: such a mutant has not been killed by a test."""


def main() -> int:
    """Draw mutants, run the tests on each, report."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("modules", nargs="*", default=MODULES, help="glob patterns of files, from the root")
    parser.add_argument("--exclude", action="append", default=[], help="a file that is left out")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--count", type=int, default=150, help="how many mutants to draw; 0 for all")
    parser.add_argument("--goal", type=float, default=0.9, help="the share that tests must kill")
    parser.add_argument("--tests", nargs="+", default=TESTS, help="files or folders of tests, from the root")
    parser.add_argument("--list", action="store_true", help="print the mutants that would be tried")
    options = parser.parse_args()
    drawn = draw(all_mutants(options.modules, options.exclude), options.seed, options.count)
    if options.list:
        print(*(f"{mutant.path}:{mutant.row}: {mutant.change.partition(': ')[2]}" for mutant in drawn), sep="\n")
        return 0
    with tempfile.TemporaryDirectory(prefix="mutants-") as folder:
        survivors = run(drawn, Path(folder), options.tests)
    killed = len(drawn) - len(survivors)
    share = killed / len(drawn) if drawn else 1.0
    print(f"seed {options.seed}: {killed} of {len(drawn)} mutants killed ({share:.2f})")
    return 0 if share >= options.goal else 1


def all_mutants(patterns: Sequence[str], excluded: Sequence[str]) -> list[Mutant]:
    """Return every mutant of the files, but for those known to be equivalent."""
    known = set()
    if EQUIVALENT.exists():
        known = {line for line in EQUIVALENT.read_text(encoding="utf-8").splitlines() if line[:1] not in ("", "#", " ")}
    paths = sorted({path for pattern in patterns for path in ROOT.glob(pattern)})
    names = [path.relative_to(ROOT).as_posix() for path in paths]
    found = [mutant for name in names if name not in (GENERATED, *excluded) for mutant in mutants_of(name, ROOT)]
    return [mutant for mutant in found if mutant.change not in known]


def draw(mutants: list[Mutant], seed: int, count: int) -> list[Mutant]:
    """Return ``count`` of the mutants, the same ones for the same seed and code, in an order by chance.

    So the first ones of a run that is broken off are a sample, too.
    """
    return random.Random(seed).sample(mutants, min(count or len(mutants), len(mutants)))


def run(mutants: Sequence[Mutant], folder: Path, tests: Sequence[str] = TESTS) -> list[Mutant]:
    """Run the tests on each mutant, in a copy under ``folder``; print and return those that survive.

    Raises:
        SystemExit: the tests could not be run.
    """
    _copy(folder)
    record = _recorded(folder, tests)
    survivors = []
    for number, mutant in enumerate(mutants, 1):
        path = folder / mutant.path
        original = path.read_text(encoding="utf-8")
        chosen = record.tests_of(mutant)
        path.write_text(mutant.text(original), encoding="utf-8")
        _forget_compiled(path)
        try:
            survives = not chosen or _passes(folder, Chosen(chosen), record.limit_s(chosen))
        finally:
            path.write_text(original, encoding="utf-8")
        if survives:
            survivors.append(mutant)
            words = mutant.change.partition(": ")[2]
            print(f"{mutant.path}:{mutant.row}: {words} ({len(chosen)} tests)", flush=True)
        if number % 10 == 0:
            print(f"... {number} of {len(mutants)}, {len(survivors)} survive", file=sys.stderr, flush=True)
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    print(f"... {used.ru_utime + used.ru_stime:.0f} s of processor time", file=sys.stderr, flush=True)
    return survivors


@dataclass(slots=True)
class Record:
    """A run of all tests on the unchanged code.

    Attributes:
        times: the processor seconds of each test. ran: the tests that ran each line, by file and line.
    """

    times: dict[str, float]
    ran: dict[str, dict[int, list[str]]]

    def tests_of(self, mutant: Mutant) -> list[str]:
        """Return the tests that can notice a mutant: those about its module first, then the cheapest."""
        chosen = set(self.times)
        if mutant.runs_later:
            lines = self.ran.get(mutant.path, {})
            chosen = {test for row in range(mutant.first_row, mutant.last_row + 1) for test in lines.get(row, ())}
        code = re.fullmatch(r"rules/tfm(\d+)_.*", mutant.path)
        own = f"TFM{code[1]}" if code is not None else f"{Path(mutant.path).parent.name}/"
        if code is not None:
            # Several tests look at one run of a fixture, and the first of them makes it: the others ran no line.
            chosen |= {test for test in self.times if "test_snapshots" in test and own in test}
        return sorted(chosen & set(self.times), key=lambda test: (own not in test, self.times[test], test))

    def limit_s(self, tests: Sequence[str]) -> int:
        """Return how many processor seconds some tests may take: what takes longer loops, and is killed."""
        return int(MAX_SLOWDOWN * sum(self.times[test] for test in tests) + SPARE_S)


class Chosen:
    """A plugin of pytest that runs some tests, in their order."""

    def __init__(self, tests: Sequence[str]) -> None:
        self.places = {test: place for place, test in enumerate(tests)}

    @property
    def paths(self) -> list[str]:
        """The files that the tests are in."""
        return sorted({test.partition("::")[0] for test in self.places})

    def pytest_collection_modifyitems(self, items: list[Any]) -> None:
        """Leave the others out."""
        items[:] = sorted((item for item in items if item.nodeid in self.places), key=lambda item: self._place(item))

    def _place(self, item: Any) -> int:
        return self.places[item.nodeid]


class Recorder:
    """A plugin of pytest that records which lines each test runs, and how long it takes."""

    def __init__(self, folder: Path, paths: Sequence[str]) -> None:
        from coverage import Coverage

        self.paths = paths

        self._coverage = Coverage(data_file=None, include=[f"{folder}/tfmemlint/*", f"{folder}/rules/*"])
        self._started = 0.0
        self.times: dict[str, float] = {}
        self.failed: set[str] = set()
        self._coverage.start()

    def pytest_runtest_setup(self, item: Any) -> None:
        """A test begins."""
        self._coverage.switch_context(item.nodeid)
        self._started = time.process_time()

    def pytest_runtest_teardown(self, item: Any) -> None:
        """A test has ended."""
        self.times[item.nodeid] = time.process_time() - self._started
        self._coverage.switch_context("")

    def pytest_runtest_logreport(self, report: Any) -> None:
        """A test has failed, or not."""
        if report.failed:
            self.failed.add(report.nodeid)

    def record(self, folder: Path) -> Record:
        """Return what was recorded of the tests that pass."""
        self._coverage.stop()
        for test in sorted(self.failed):
            print(f"... left out, it fails on the unchanged code: {test}", file=sys.stderr, flush=True)
            self.times.pop(test, None)
        data = self._coverage.get_data()
        ran: dict[str, dict[int, list[str]]] = {}
        for name in data.measured_files():
            path = Path(name).resolve().relative_to(folder.resolve()).as_posix()
            ran[path] = {row: [test for test in tests if test] for row, tests in data.contexts_by_lineno(name).items()}
        return Record(self.times, ran)


def _recorded(folder: Path, tests: Sequence[str]) -> Record:
    """Run all tests on the unchanged code; leave out those that fail.

    Raises:
        SystemExit: they cannot be run.
    """
    kept = folder / "record.pickle"
    if not _passes(folder, tests, 0, kept):
        sys.exit("tools/mutants.py: the tests could not be run on the unchanged code")
    record = pickle.loads(kept.read_bytes())
    assert isinstance(record, Record)
    return record


def _copy(folder: Path) -> None:
    for name in COPIED:
        source = ROOT / name
        if source.is_dir():
            shutil.copytree(source, folder / name, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            shutil.copy2(source, folder / name)
    if not (folder / "tfmemlint" / "rules").exists():
        (folder / "tfmemlint" / "rules").symlink_to(folder / "rules")
    for name in ("tfmemlint", "rules", "tests"):
        compileall.compile_dir(folder / name, quiet=2)


def _forget_compiled(path: Path) -> None:
    """Delete the compiled file of a module: the changed one may have the same size and time."""
    for compiled in (path.parent / "__pycache__").glob(f"{path.stem}.*.pyc"):
        compiled.unlink()


def _passes(folder: Path, chosen: Chosen | Sequence[str], limit_s: int, kept: Path | None = None) -> bool:
    """True if the chosen tests pass within their time, in a process that has imported nothing of ours.

    Where files of tests are given, all tests in them run, and what they do is recorded in the file ``kept``.

    Raises:
        SystemExit: the tests could not be run.
    """
    child = os.fork()
    if child == 0:
        status = _BROKEN
        try:
            status = _test(folder, chosen, limit_s, kept)
        except BaseException:
            traceback.print_exc()
        finally:
            os._exit(status)
    ended = os.waitpid(child, 0)[1]
    if os.WIFEXITED(ended) and os.WEXITSTATUS(ended) == _BROKEN:
        sys.exit("tools/mutants.py: the tests could not be run")
    return ended == 0


def _test(folder: Path, chosen: Chosen | Sequence[str], limit_s: int, kept: Path | None) -> int:
    import pytest

    os.chdir(folder)
    os.environ["PYTHONPATH"] = str(folder)
    sys.path.insert(0, str(folder))
    sys.dont_write_bytecode = True
    if limit_s:
        resource.setrlimit(resource.RLIMIT_CPU, (limit_s, resource.RLIM_INFINITY))
    plugin = chosen if isinstance(chosen, Chosen) else Recorder(folder, chosen)
    paths = [path for path in plugin.paths if (folder / path).exists()]
    with contextlib.redirect_stdout(io.StringIO()) as said, contextlib.redirect_stderr(said):
        stop = ["-x"] if kept is None else []
        status = pytest.main(["-q", "-p", "no:cacheprovider", "--tb=line", *stop, *paths], plugins=[plugin])
    if isinstance(plugin, Recorder) and kept is not None:
        if status not in (pytest.ExitCode.OK, pytest.ExitCode.TESTS_FAILED):
            print(said.getvalue(), file=sys.stderr)
            return 1
        kept.write_bytes(pickle.dumps(plugin.record(folder)))
        return 0
    return 0 if status == pytest.ExitCode.OK else 1


def _import_what_is_not_ours() -> None:
    """Import what every test process needs, once."""
    import importlib

    for name in (
        "pytest",
        "hypothesis",
        "libcst",
        "libcst.matchers",
        "yaml",
        "pathspec",
        "markdown_it",
        "rich.console",
    ):
        importlib.import_module(name)


if __name__ == "__main__":
    _import_what_is_not_ours()
    sys.exit(main())
