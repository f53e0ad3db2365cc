"""The command ``tfmemlint verify``."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from typing import IO, TYPE_CHECKING

from tfmemlint.config.command_line import add_config_arguments
from tfmemlint.reporters.say import say
from tfmemlint.verify.shared_options import (
    add_options,
    folder,
    missing_for_pictures,
    print_report,
    progress,
    sandbox,
    seconds,
    size,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from tfmemlint.config.nearest import Nearest
    from tfmemlint.deployment.launches import Launch
    from tfmemlint.engine.context import RunContext
    from tfmemlint.engine.item import Item
    from tfmemlint.knowledge.releases import Target
    from tfmemlint.sources import Source
    from tfmemlint.verify.ground import Ground
    from tfmemlint.verify.prove import Proof, RunOptions

FAILED = 2
USUAL_MEMORY = "16GiB"
"""The memory of a simulated GPU where nobody says otherwise."""
_ABOUT = """\
Runs the part of each program that configures GPU memory (its slice) on the installed TensorFlow, in a separate
process, and reports for each intent of the program whether it takes effect. THIS RUNS THE PROGRAM'S CODE, in a
sandbox as good as this machine allows (`tfmemlint doctor` lists it): without the network, your environment variables
and your credentials; what it writes is refused, or not kept. `check` and `fix` run no code.
"""
_AFTER = """\
Arguments after -- are passed to the program. Exit code: 0 if every intent that could be tested takes effect, 1 if one
does not, 2 if a program could not be tested at all.
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Give ``parser`` the options of ``verify``."""
    parser.description, parser.epilog = _ABOUT, _AFTER
    add = parser.add_argument
    add("paths", nargs="+", metavar="PATH", help="programs, or directories of programs, to run")
    add("--whole", action="store_true", help="run the program itself up to its first use of a GPU, not its slice")
    add("--original", action="store_true", help="run each program before and after `fix`, and show both results")
    add("--unsafe-fixes", action="store_true", help="with --original: apply unsafe fixes as well")
    add(
        "--device",
        choices=("auto", "gpu", "driver", "edge"),
        default="auto",
        help="the device to run on: a real GPU; TensorFlow's GPU build over a simulated driver; GPUs simulated at"
        " TensorFlow's Python edge (default: the best that this machine has)",
    )
    add("--gpus", type=int, metavar="N", help="the number of simulated GPUs (default: as many as the program names)")
    add(
        "--gpu-memory",
        metavar="SIZE",
        help="the memory of a simulated GPU (default: 16GiB); with --original, shares become numbers of MiB of it"
        " where it is given, here or in a configuration file",
    )
    add_config_arguments(parser)
    add("--html", metavar="FILE", help="write the proofs as a page with pictures, too (needs matplotlib)")
    add_options(
        parser, timeout=60, cwd="one with nothing but the configuration files that it reads", json="the verdicts"
    )
    add("-v", "--verbose", action="store_true", help="show the slices, and the output of every program that failed")


def run(arguments: argparse.Namespace) -> int:
    """Verify the programs and return the exit code."""
    from tfmemlint.config.files import ConfigError
    from tfmemlint.config.nearest import Nearest
    from tfmemlint.engine.context import RunContext
    from tfmemlint.verify.prove import RunOptions
    from tfmemlint.verify.report import GroundInfo, as_json, exit_code, show
    from tfmemlint.verify.result import GroundError
    from tfmemlint.verify.sandbox_options import variables

    lacking = missing_for_pictures(arguments.html)
    if lacking:
        say(lacking)
        return FAILED
    try:
        conditions = RunOptions(
            gpus=_number(arguments.gpus),
            memory_mib=int(size("--gpu-memory", arguments.gpu_memory or USUAL_MEMORY)),
            timeout=seconds(arguments.timeout),
            host_mib=size("--host-memory", arguments.host_memory),
            argv=tuple(arguments.program_arguments),
            whole=arguments.whole,
            cwd=folder(arguments.cwd),
            env=variables(arguments.env),
            sandbox=sandbox(arguments),
        )
    except ValueError as error:
        say(str(error))
        return FAILED
    try:
        nearest = Nearest.of(config=arguments.config, isolated=arguments.isolated)
        context = RunContext(
            unsafe=arguments.unsafe_fixes,
            kinds=nearest.top.file_kinds(),
            gpu_memory_mib=conditions.memory_mib if arguments.gpu_memory else nearest.top.gpu_memory_mib,
        )
        sources, failed = _sources(arguments.paths, nearest, context)
    except ConfigError as error:
        say(str(error))
        return FAILED
    if not sources:
        nowhere = GroundInfo("", "", arguments.python or sys.executable, conditions.memory_mib)
        nothing = "" if failed else "no program here asks for anything of GPU memory\n"
        printed = print_report(
            arguments, lambda: as_json([], nowhere), lambda stream: print(nothing, end="", file=stream)
        )
        return FAILED if failed or not printed else 0
    from tfmemlint.verify.choose_ground import choose

    try:
        with progress() as tell:
            tell("starting TensorFlow")
            ground, why = choose(arguments.device, arguments.python)
            with ground:
                runs = list(_starts(sources, context, original=arguments.original))
                proofs = list(_proofs(runs, ground, conditions, context, arguments.original, tell))
                version = ground.version
    except GroundError as error:
        say(str(error), "`tfmemlint doctor` says what this machine has, and what is missing")
        return FAILED
    where = GroundInfo(ground.kind, version, ground.python, conditions.memory_mib, why, conditions.sandbox)

    def show_all(stream: IO[str]) -> None:
        if arguments.verbose:
            _show_slices(proofs, stream)
        show(proofs, where, stream, verbose=arguments.verbose)

    failed = not print_report(arguments, lambda: as_json(proofs, where), show_all) or failed
    if arguments.html:
        from tfmemlint.reporters.pictures.page import write
        from tfmemlint.verify.pictures import as_page

        problem = write(arguments.html, as_page(as_json(proofs, where)))
        if problem:
            say(problem)
            failed = True
    return FAILED if failed else exit_code(proofs)


def _proofs(
    runs: list[tuple[Source, Launch | None]],
    ground: Ground,
    conditions: RunOptions,
    context: RunContext,
    original: bool,
    tell: Callable[[str], None],
) -> Iterator[Proof]:
    """Yield the proof of each program, in order; several are run at a time."""
    import dataclasses
    from concurrent.futures import ThreadPoolExecutor

    context = dataclasses.replace(context, target=target_of_version(ground.version))
    ground.overhead_mib()  # once, while nothing else takes memory
    done = 0

    def prove_program(run: tuple[Source, Launch | None]) -> Proof:
        nonlocal done
        source, launch = run
        proof = _proof(source, ground, conditions, context, launch, original=original)
        done += 1
        tell(f"{done} of {len(runs)} programs: {source.path}")
        return proof

    with ThreadPoolExecutor(ground.at_once()) as pool:
        try:
            yield from pool.map(prove_program, runs)
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            ground.close()  # which ends what is still running
            raise


def _starts(sources: list[Source], context: RunContext, *, original: bool) -> Iterator[tuple[Source, Launch | None]]:
    """Yield each program as it is started by hand, and as the configuration files in its project start it.

    Before and after fixes it is started by hand alone, as fixes are made for that.
    """
    from tfmemlint.interpreter.values import UNKNOWN

    for source in sources:
        yield source, None
        for launch in () if original else context.launches_of(source.path):
            if all(write.value != UNKNOWN for write in launch.writes):
                yield source, launch


def _proof(
    source: Source,
    ground: Ground,
    conditions: RunOptions,
    context: RunContext,
    launch: Launch | None,
    *,
    original: bool,
) -> Proof:
    from tfmemlint.verify.prove import Proof, prove
    from tfmemlint.verify.result import GroundError

    try:
        if original:
            return _proof_of_fixes(source, ground, conditions, context)
        return prove(source, ground, conditions, context.target_of(source.path), launch)
    except SyntaxError as error:
        return Proof(source.path, problem=f"line {error.lineno or 1}: it can't be parsed: {error.msg}")
    except (ValueError, RecursionError, MemoryError) as error:
        return Proof(source.path, problem=f"it can't be read: {type(error).__name__}: {error}")
    except GroundError as error:
        return Proof(source.path, problem=str(error))


def _proof_of_fixes(source: Source, ground: Ground, conditions: RunOptions, context: RunContext) -> Proof:
    from tfmemlint.engine.python_file import PythonFile
    from tfmemlint.verify.prove import prove_fixed

    fixed = PythonFile.of(source).apply_fixes(context)
    target = context.target_of(source.path)
    return prove_fixed(source, fixed.text, ground, conditions, target, len(fixed.applied))


def _sources(paths: list[str], nearest: Nearest, context: RunContext) -> tuple[list[Source], bool]:
    """Return the programs, and whether some path could not be followed.

    Raises:
        ConfigError: a configuration file can't be followed.
    """
    from tfmemlint.engine.front_end import find_files, read_items
    from tfmemlint.facts.prefilter import MATTERS
    from tfmemlint.sources import Unreadable, decode
    from tfmemlint.sources.kinds import PROGRAMS

    walk, files = find_files(list(dict.fromkeys(paths)), nearest, kinds=PROGRAMS)
    for path, problem in walk.problems:
        say(f"{path}: {problem}")
    failed = bool(walk.problems)

    def is_wanted(item: Item) -> bool:
        return bool(item.words & MATTERS or item.named or context.launches_of(item.path))

    sources: list[Source] = []
    for item in read_items(sorted(files), context, is_wanted, with_programs=False).wanted:
        try:
            if item.data is None:
                raise item.error or Unreadable("")
            sources.append(decode(item.path, item.data))
        except Unreadable as error:
            failed = True
            say(f"{item.path}: {error}")
    return sources, failed


def _show_slices(proofs: list[Proof], stream: IO[str]) -> None:
    from tfmemlint.reporters.paint import Segment, cells, painter, printable

    paint = painter(stream, color=False)
    for proof in proofs:
        for run in proof.runs:
            if run.slice is not None:
                files = {proof.path: run.slice.text, **run.slice.modules}
                shown = proof.rows_of(run)
                for path, text in files.items():
                    rows = [(row, line) for row, line in enumerate(text.splitlines(), 1) if line.strip()]
                    if rows:
                        name = shown.place(rows[0][0])[0] if shown is not None else path
                        paint([[Segment(f"{printable(name)}: what was run:")]])
                    for row, line in rows:
                        number = shown.place(row)[1] if shown is not None else row
                        paint([[Segment(f"{number:5} {''.join(sign for sign, _ in cells(line))}")]])


def target_of_version(version: str) -> Target:
    """Return the release that programs are judged for: the one that they are run on."""
    from tfmemlint.knowledge.releases import Target

    try:
        return Target.parse(".".join(version.split(".")[:2]))
    except ValueError:
        return Target.newest()


def _number(gpus: int | None) -> int | None:
    if gpus is not None and not 0 <= gpus <= 64:
        raise ValueError("--gpus: from 0 to 64")
    return gpus
