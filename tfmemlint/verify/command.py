"""The command ``tfmemlint verify``."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from tfmemlint.verify.shared_options import add_options, folder, progress, say, seconds, size

if TYPE_CHECKING:
    from collections.abc import Callable

    from tfmemlint.deployment.launches import Launch
    from tfmemlint.knowledge.releases import Target
    from tfmemlint.sources import Source
    from tfmemlint.verify.ground import Ground
    from tfmemlint.verify.prove import Proof, RunOptions

FAILED = 2
_ABOUT = """\
Runs the part of each program that configures GPU memory (its slice) on the installed TensorFlow, in a process of its
own, and says for each thing that the program wants whether it takes effect. THIS RUNS THE PROGRAM'S CODE: with a time
limit, a memory limit and an empty working directory, but with your rights. `check` and `fix` run nothing.
"""
_AFTER = """\
Arguments after -- are the program's own. Exit code: 0 where all that could be judged takes effect, 1 where something
does not, 2 where a program could not be judged at all.
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The options of ``verify``."""
    parser.description, parser.epilog = _ABOUT, _AFTER
    add = parser.add_argument
    add("paths", nargs="+", metavar="PATH", help="programs, or directories of programs, to run")
    add("--whole", action="store_true", help="run the program itself up to its first use of a GPU, not its slice")
    add("--original", action="store_true", help="run it as it is and as `fix` would leave it, and show both")
    add("--unsafe-fixes", action="store_true", help="with --original: apply the unsafe fixes, too")
    add(
        "--device",
        choices=("auto", "gpu", "driver", "edge"),
        default="auto",
        help="what to run on: a real GPU; TensorFlow's GPU build over a simulated driver; GPUs simulated at"
        " TensorFlow's Python edge (default: the best that this machine has)",
    )
    add("--gpus", type=int, metavar="N", help="how many simulated GPUs (default: as many as the program names)")
    add("--gpu-memory", metavar="SIZE", default="16GiB", help="the memory of a simulated GPU (default: 16GiB)")
    add_options(parser, timeout=60, cwd="an empty one", json="the verdicts")
    add("-v", "--verbose", action="store_true", help="show the slices, and the output of every program that failed")


def run(arguments: argparse.Namespace) -> int:
    """Verify the programs; gives the exit code."""
    from tfmemlint.config.files import ConfigError, load
    from tfmemlint.verify.prove import RunOptions
    from tfmemlint.verify.report import GroundInfo, as_json, exit_code, show
    from tfmemlint.verify.result import GroundError

    try:
        conditions = RunOptions(
            gpus=_number(arguments.gpus),
            memory_mib=int(size("--gpu-memory", arguments.gpu_memory)),
            timeout=seconds(arguments.timeout),
            host_mib=size("--host-memory", arguments.host_memory),
            argv=tuple(arguments.program_arguments),
            whole=arguments.whole,
            cwd=folder(arguments.cwd),
        )
    except ValueError as error:
        say(str(error))
        return FAILED
    try:
        kinds = load().file_kinds()
    except ConfigError as error:
        say(str(error))
        return FAILED
    sources, failed = _sources(arguments.paths, kinds)
    if not sources:
        if not failed and arguments.json != "-":
            print("no program here asks for anything of GPU memory")
        nowhere = GroundInfo("", "", arguments.python or sys.executable, conditions.memory_mib)
        return FAILED if failed or not _write_json(arguments.json, as_json([], nowhere)) else 0
    from tfmemlint.verify.choose_ground import choose

    try:
        with progress() as tell:
            tell("starting TensorFlow")
            ground, why = choose(arguments.device, arguments.python)
            with ground:
                runs = list(_starts(sources, kinds, original=arguments.original))
                proofs = list(_proofs(runs, ground, conditions, arguments, tell))
                version = ground.version
    except GroundError as error:
        say(f"{error}\n`tfmemlint doctor` says what this machine has, and what is missing")
        return FAILED
    where = GroundInfo(ground.kind, version, ground.python, conditions.memory_mib, why)
    failed = not _write_json(arguments.json, as_json(proofs, where)) or failed
    if arguments.json != "-":
        if arguments.verbose:
            _show_slices(proofs)
        show(proofs, where, sys.stdout, verbose=arguments.verbose)
    return FAILED if failed else exit_code(proofs)


def _write_json(file: str | None, text: str) -> bool:
    """Write the proofs where they are wanted; whether that worked."""
    if file == "-":
        sys.stdout.write(text)
    elif file:
        try:
            Path(file).write_text(text, encoding="utf-8")
        except OSError as error:
            say(f"{file}: {error.strerror or error}")
            return False
    return True


def _proofs(
    runs: list[tuple[Source, Launch | None]],
    ground: Ground,
    conditions: RunOptions,
    arguments: argparse.Namespace,
    tell: Callable[[str], None],
) -> Iterator[Proof]:
    """The proof of each program, in their order; several are run at a time."""
    from concurrent.futures import ThreadPoolExecutor

    target = target_of_version(ground.version)
    ground.overhead_mib()  # once, while nothing else takes memory
    done = 0

    def one(start: tuple[Source, Launch | None]) -> Proof:
        nonlocal done
        source, begun = start
        proof = _proof(source, ground, conditions, target, arguments, begun)
        done += 1
        tell(f"{done} of {len(runs)} programs: {source.path}")
        return proof

    with ThreadPoolExecutor(ground.at_once()) as pool:
        try:
            yield from pool.map(one, runs)
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            ground.close()  # which ends what is still running
            raise


def _starts(sources: list[Source], kinds: frozenset[str], *, original: bool) -> Iterator[tuple[Source, Launch | None]]:
    """Each program started by hand, and as the configuration files of these kinds in its project start it; before and
    after fixes by hand alone, as fixes are made for that."""
    from tfmemlint.deployment.project_launches import launches_of
    from tfmemlint.interpreter.values import UNKNOWN

    for source in sources:
        yield source, None
        for begun in () if original else launches_of(source.path, kinds):
            if all(one.value != UNKNOWN for one in begun.writes):
                yield source, begun


def _proof(
    source: Source,
    ground: Ground,
    conditions: RunOptions,
    target: Target,
    arguments: argparse.Namespace,
    begun: Launch | None,
) -> Proof:
    from tfmemlint.verify.prove import Proof, prove
    from tfmemlint.verify.result import GroundError

    try:
        if arguments.original:
            return _both(source, ground, conditions, target, unsafe=arguments.unsafe_fixes)
        return prove(source, ground, conditions, target, begun)
    except SyntaxError as error:
        return Proof(source.path, problem=f"line {error.lineno or 1}: it can't be parsed: {error.msg}")
    except (ValueError, RecursionError, MemoryError) as error:
        return Proof(source.path, problem=f"it can't be read: {type(error).__name__}: {error}")
    except GroundError as error:
        return Proof(source.path, problem=str(error))


def _both(source: Source, ground: Ground, conditions: RunOptions, target: Target, *, unsafe: bool) -> Proof:
    from tfmemlint.engine.check_source import check_source
    from tfmemlint.fixes.loop import Options, fix_source
    from tfmemlint.model.finding import Severity
    from tfmemlint.rulekit.rule import rules
    from tfmemlint.verify.prove import prove_fixed

    used = [rule for rule in rules() if rule.severity is not Severity.ADVICE]
    fixed = fix_source(
        source,
        rules=used,
        target=target,
        check=lambda text: check_source(text, used, target),
        options=Options(unsafe=unsafe),
    )
    return prove_fixed(source, fixed.text, ground, conditions, target, len(fixed.applied))


def _sources(paths: list[str], kinds: frozenset[str]) -> tuple[list[Source], bool]:
    """The programs, and whether some path could not be followed."""
    from tfmemlint.deployment.project_launches import launches_of, reset_cache
    from tfmemlint.rulekit.triggers import matters
    from tfmemlint.sources import Unreadable, decode, read_bytes, walk

    reset_cache()
    found = walk(list(dict.fromkeys(paths)), exclude=(), respect_gitignore=True, root=str(Path.cwd()))
    failed = False
    for path, problem in found.problems:
        failed = True
        say(f"{path}: {problem}")
    sources: list[Source] = []
    for path in sorted(found.files):
        try:
            data = read_bytes(path)
            if matters(data) or path in paths or launches_of(path, kinds):
                sources.append(decode(path, data))
        except Unreadable as error:
            failed = True
            say(f"{path}: {error}")
    return sources, failed


def _show_slices(proofs: list[Proof]) -> None:
    for proof in proofs:
        for one in proof.runs:
            if one.slice is not None:
                files = {proof.path: one.slice.text, **one.slice.modules}
                shown = proof.rows_of(one)
                for path, text in files.items():
                    rows = [(row, line) for row, line in enumerate(text.splitlines(), 1) if line.strip()]
                    if rows:
                        name = shown.place(rows[0][0])[0] if shown is not None else path
                        print(f"{name}: what was run:")
                    for row, line in rows:
                        print(f"{shown.place(row)[1] if shown is not None else row:5} {line}")


def target_of_version(version: str) -> Target:
    """The release that programs are judged for is the one that they are run on."""
    from tfmemlint.knowledge.releases import Target

    try:
        return Target.parse(".".join(version.split(".")[:2]))
    except ValueError:
        return Target.newest()


def _number(gpus: int | None) -> int | None:
    if gpus is not None and not 0 <= gpus <= 64:
        raise ValueError("--gpus: from 0 to 64")
    return gpus
