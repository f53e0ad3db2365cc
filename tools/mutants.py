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
import ast
import compileall
import contextlib
import copy
import io
import os
import random
import re
import resource
import shutil
import signal
import sys
import tempfile
import time
import traceback
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
COPIED = ("tfmemlint", "rules", "tests", "fixtures", "pyproject.toml")
MODULES = (
    *("rules/tfm*.py", "tfmemlint/facts/*.py"),
    *(f"tfmemlint/interpreter/{name}.py" for name in ("values", "state", "scopes", "conditions", "control_flow")),
)
EQUIVALENT = Path(__file__).with_name("equivalent_mutants.txt")
STAGES = (
    ("tests/test_silence.py", "tests/interpreter", "tests/facts"),
    ("tests/test_fixtures.py",),
    ("tests/test_program_fixtures.py",),
    ("tests/test_swallowed_settings.py", "tests/test_unguarded.py", "tests/test_program_traces.py"),
)
"""Tests that are run on every mutant that is still alive, one stage after the other: none of them runs TensorFlow."""
SLOWER_AT_MOST = 4
"""How many times the processor time of the unchanged code a stage may take: what takes longer loops, and is killed."""
SPARE_S = 10.0
"""Processor seconds that a stage gets in addition, for imports and for a machine that is slower for a while."""

_BROKEN = 70
"""Exit status of a test process that failed by itself: such a mutant has not been killed by a test."""

_OPPOSITES: dict[type[ast.cmpop], tuple[type[ast.cmpop], ...]] = {
    ast.Lt: (ast.LtE, ast.GtE),
    ast.LtE: (ast.Lt, ast.Gt),
    ast.Gt: (ast.GtE, ast.LtE),
    ast.GtE: (ast.Gt, ast.Lt),
    ast.Eq: (ast.NotEq,),
    ast.NotEq: (ast.Eq,),
    ast.Is: (ast.IsNot,),
    ast.IsNot: (ast.Is,),
    ast.In: (ast.NotIn,),
    ast.NotIn: (ast.In,),
}
_SWAPPED = {"any": "all", "all": "any", "min": "max", "max": "min"}
_LEFT_OUT = ("annotation", "returns", "decorator_list", "type_params")
"""Fields of the syntax tree that change nothing when the code runs, or that make it unusable."""


@dataclass(frozen=True, slots=True)
class Mutant:
    """One change of one expression.

    Attributes:
        path: the file, from the root. row: its line. start, end: offsets of the expression in the file's text.
        before, after: the expression as it was, and as it is.
    """

    path: str
    row: int
    start: int
    end: int
    before: str
    after: str

    @property
    def change(self) -> str:
        """The change in words, on one line; the same wherever the expression moves to in its file."""
        return " ".join(f"{self.path}: {self.before} -> {self.after}".split())

    def text(self, original: str) -> str:
        """The file's text with the change made."""
        return f"{original[: self.start]}({self.after}){original[self.end :]}"


def main() -> int:
    """Draw mutants, run the tests on each, report."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("modules", nargs="*", default=MODULES, help="glob patterns of files, from the root")
    parser.add_argument("--exclude", action="append", default=[], help="a file that is left out")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--count", type=int, default=150, help="how many mutants to draw; 0 for all")
    parser.add_argument("--goal", type=float, default=0.9, help="the share that tests must kill")
    parser.add_argument("--list", action="store_true", help="print the mutants that would be tried")
    options = parser.parse_args()
    drawn = draw(all_mutants(options.modules, options.exclude), options.seed, options.count)
    if options.list:
        print(*(f"{mutant.path}:{mutant.row}: {mutant.change.partition(': ')[2]}" for mutant in drawn), sep="\n")
        return 0
    with tempfile.TemporaryDirectory(prefix="mutants-") as folder:
        survivors = run(drawn, Path(folder))
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
    found = [mutant for name in names if name not in excluded for mutant in mutants_of(name)]
    return [mutant for mutant in found if mutant.change not in known]


def draw(mutants: list[Mutant], seed: int, count: int) -> list[Mutant]:
    """Return ``count`` of the mutants, the same ones for the same seed and code."""
    drawn = random.Random(seed).sample(mutants, min(count or len(mutants), len(mutants)))
    return sorted(drawn, key=lambda mutant: (mutant.path, mutant.start, mutant.after))


def mutants_of(name: str) -> Iterator[Mutant]:
    """Yield the mutants of one file."""
    text = (ROOT / name).read_text(encoding="utf-8")
    starts = [0]
    for line in text.splitlines(keepends=True):
        starts.append(starts[-1] + len(line.encode()))
    data = text.encode()
    for node, after in _changes(ast.parse(text)):
        first, last = starts[node.lineno - 1] + node.col_offset, starts[(node.end_lineno or 1) - 1]
        last += node.end_col_offset or 0
        start, end = len(data[:first].decode()), len(data[:last].decode())
        yield Mutant(name, node.lineno, start, end, text[start:end], after)


def _changes(tree: ast.AST) -> Iterator[tuple[ast.expr, str]]:
    """Yield each expression that can be changed, with what to put there."""
    pending: list[ast.AST] = [tree]
    while pending:
        node = pending.pop()
        if isinstance(node, (ast.JoinedStr, ast.MatchValue)):
            # The text of a message; a pattern, which is no expression.
            continue
        if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING":
            continue
        if isinstance(node, ast.expr):
            yield from ((node, ast.unparse(changed)) for changed in _changed(node))
        for field in ("test", "guard", "ifs"):
            tests = getattr(node, field, None)
            for test in tests if isinstance(tests, list) else [tests]:
                if isinstance(test, ast.expr) and not isinstance(test, (ast.Compare, ast.Constant)):
                    yield test, f"not ({ast.unparse(test)})"
        for field, child in ast.iter_fields(node):
            if field not in _LEFT_OUT:
                pending.extend(item for item in (child if isinstance(child, list) else [child]) if _is_node(item))


def _is_node(item: object) -> bool:
    return isinstance(item, ast.AST)


def _changed(node: ast.expr) -> Iterator[ast.expr]:
    """Yield an expression's mutants."""
    match node:
        case ast.Compare(ops=ops):
            for place, operator in enumerate(ops):
                for opposite in _OPPOSITES[type(operator)]:
                    changed = copy.deepcopy(node)
                    changed.ops[place] = opposite()
                    yield changed
        case ast.BoolOp(op=operator, values=values):
            yield ast.BoolOp(ast.Or() if isinstance(operator, ast.And) else ast.And(), values)
            for place in range(len(values)):
                rest = values[:place] + values[place + 1 :]
                yield rest[0] if len(rest) == 1 else ast.BoolOp(operator, rest)
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            yield operand
        case ast.Constant(value=bool() as value):
            yield ast.Constant(not value)
        case ast.Constant(value=int() as number):
            yield ast.Constant(number + 1)
        case ast.Call(func=ast.Name(id=name)) if name in _SWAPPED:
            yield ast.Call(ast.Name(_SWAPPED[name]), node.args, node.keywords)


def run(mutants: Sequence[Mutant], folder: Path) -> list[Mutant]:
    """Run the tests on each mutant, in a copy under ``folder``; print and return those that survive.

    Raises:
        SystemExit: a test fails on the unchanged code.
    """
    _copy(folder)
    started = time.process_time()
    times: dict[tuple[str, ...], float] = {}
    survivors = []
    for number, mutant in enumerate(mutants, 1):
        path = folder / mutant.path
        original = path.read_text(encoding="utf-8")
        stages = _stages(mutant.path, folder)
        for stage in stages:
            if stage not in times:
                times[stage] = _time(stage, folder)
        path.write_text(mutant.text(original), encoding="utf-8")
        _forget_compiled(path)
        try:
            survives = _passes(stages, folder, times)
        finally:
            path.write_text(original, encoding="utf-8")
        if survives:
            survivors.append(mutant)
            print(f"{mutant.path}:{mutant.row}: {mutant.change.partition(': ')[2]}", flush=True)
        if number % 10 == 0:
            print(f"... {number} of {len(mutants)}, {len(survivors)} survive", file=sys.stderr, flush=True)
    used = time.process_time() - started + resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
    print(f"... {used:.0f} s of processor time", file=sys.stderr, flush=True)
    return survivors


def _copy(folder: Path) -> None:
    for name in COPIED:
        source = ROOT / name
        if source.is_dir():
            shutil.copytree(source, folder / name, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            shutil.copy2(source, folder / name)
    if not (folder / "tfmemlint" / "rules").exists():
        (folder / "tfmemlint" / "rules").symlink_to(folder / "rules")
    compileall.compile_dir(folder, quiet=2)


def _forget_compiled(path: Path) -> None:
    """Delete the compiled file of a module: the changed one may have the same size and time."""
    for compiled in (path.parent / "__pycache__").glob(f"{path.stem}.*.pyc"):
        compiled.unlink()


def _stages(name: str, folder: Path) -> list[tuple[str, ...]]:
    """Return the tests for a module, the likeliest to fail and the cheapest first."""
    own: tuple[str, ...] = ()
    code = re.fullmatch(r"rules/tfm(\d+)_.*", name)
    if code is not None:
        own = ("tests/test_fixtures.py", "tests/deployment/test_fixtures.py", "-k", f"TFM{code[1]}")
    else:
        room, stem = Path(name).parent.name, Path(name).stem
        test = Path("tests") / room / f"test_{stem}.py"
        own = (test.as_posix(),) if (folder / test).exists() else ()
    shared = [tuple(argument for argument in stage if (folder / argument).exists()) for stage in STAGES]
    return [stage for stage in (own, *shared) if stage]


def _time(stage: tuple[str, ...], folder: Path) -> float:
    """Return the processor seconds of a stage on the unchanged code."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    if not _passes([stage], folder, {}):
        sys.exit(f"tools/mutants.py: {' '.join(stage)} fails on the unchanged code")
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def _passes(stages: Sequence[tuple[str, ...]], folder: Path, times: dict[tuple[str, ...], float]) -> bool:
    """True if all tests of the stages pass, each within its time, in a process that has imported nothing of ours."""
    child = os.fork()
    if child == 0:
        status = _BROKEN
        try:
            status = _test(stages, folder, times)
        except BaseException:
            traceback.print_exc()
        finally:
            os._exit(status)
    ended = os.waitpid(child, 0)[1]
    if os.WIFEXITED(ended) and os.WEXITSTATUS(ended) == _BROKEN:
        sys.exit("tools/mutants.py: the tests could not be run")
    return ended == 0


def _test(stages: Sequence[tuple[str, ...]], folder: Path, times: dict[tuple[str, ...], float]) -> int:
    import pytest

    os.chdir(folder)
    os.environ["PYTHONPATH"] = str(folder)
    sys.path.insert(0, str(folder))
    sys.dont_write_bytecode = True
    signal.signal(signal.SIGXCPU, signal.SIG_DFL)
    allowed = 0.0
    for stage in stages:
        if stage in times:
            allowed += SLOWER_AT_MOST * times[stage] + SPARE_S
            resource.setrlimit(resource.RLIMIT_CPU, (int(allowed), resource.RLIM_INFINITY))
        with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
            status = pytest.main(["-x", "-q", "-p", "no:cacheprovider", "--tb=no", *stage])
        if status not in (pytest.ExitCode.OK, pytest.ExitCode.NO_TESTS_COLLECTED):
            return 1
    return 0


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
