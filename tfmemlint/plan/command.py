"""``tfmemlint plan``: its options, and what it does."""

from __future__ import annotations

import argparse
import dataclasses
import os
import sys
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tfmemlint.config.files import Config
    from tfmemlint.knowledge.releases import Target
    from tfmemlint.plan.model import FilePlan, Plan, Problem
    from tfmemlint.sources import Source

AS_ASKED, DIFFERS, FAILED = 0, 1, 2

MOST_GPUS = 64
_OF_ANOTHER_RELEASE = frozenset({"TFM206", "TFM501"})

_Read = tuple[str, bytes, bool, bool]
"""A file's path, its bytes, whether it was named itself, and whether it is looked at without what it imports."""
_Job = tuple["Target | None", int | None, float | None, frozenset[str]]
"""The release, how many GPUs there are, the MiB of each, and the kinds of files that are read."""
_Found = list["FilePlan | Problem | None"]
"""What comes of a file: its plan, and those of its starts by configuration files that come to something else."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Give ``parser`` the options of ``plan``."""
    add = parser.add_argument
    add("paths", nargs="*", metavar="PATH", help="files or directories (default: .)")
    add("--json", action="store_true", help="print plain data")
    add(
        "--target-version",
        metavar="X.Y",
        help="the TensorFlow release that the code runs on (default: what the project asks for)",
    )
    add("--gpu-memory", metavar="SIZE", help="the memory of one GPU, such as 16GiB: shares become numbers of MiB")
    add("--gpus", type=_gpus, metavar="N", help="how many GPUs there are (default: what the program names)")


def _gpus(text: str) -> int:
    number = int(text) if text.isascii() and text.isdigit() else 0
    if not 1 <= number <= MOST_GPUS:
        raise argparse.ArgumentTypeError(f"{text!r} is no number of GPUs from 1 to {MOST_GPUS}")
    return number


def run(arguments: argparse.Namespace) -> int:
    """Plan the given paths; returns 0 where all that is asked for will happen, as far as is known, 1 where some wish
    and what becomes of it differ, 2 where some path could not be read."""
    from tfmemlint.config.files import ConfigError, load
    from tfmemlint.plan.model import Plan, Problem

    try:
        config = load()
        target, memory = _options(arguments, config)
    except ConfigError as error:
        _say(str(error))
        return FAILED
    plan = Plan("", arguments.gpus, memory)
    files = list(_files(arguments, config, plan))
    found_plans = [
        one for found in _plans(files, (target, arguments.gpus, memory, config.file_kinds())) for one in found
    ]
    for found in without_what_programs_do(found_plans):
        if isinstance(found, Problem):
            plan.problems.append(found)
        elif found is None or not (found.entries or found.incomplete):
            plan.left_out += 1
        else:
            plan.files.append(found)
    plan.files.sort(key=lambda file: file.path)
    plan.target = str(_newest(plan, target))
    plan.problems.sort(key=lambda problem: (problem.path, problem.row or 0))
    _show(plan, arguments.json)
    if target is None and _is_old(plan):
        _say("some of this is code for an older TensorFlow; say which one it runs on: --target-version 1.15")
    if plan.problems:
        return FAILED
    return DIFFERS if plan.differs else AS_ASKED


def _newest(plan: Plan, target: Target | None) -> Target:
    """The release of the whole plan: the one that was told, else the newest that a file was judged for."""
    from tfmemlint.knowledge.releases import Target

    found = {Target.parse(file.target) for file in plan.files if file.target}
    return target or max(found, default=Target.newest())


def _options(arguments: argparse.Namespace, config: Config) -> tuple[Target | None, float | None]:
    """The release, where one is told, and the size of a GPU; the command line comes before the file.

    Raises:
        ConfigError: an option can't be followed.
    """
    from tfmemlint.config.files import ConfigError, parse_memory
    from tfmemlint.knowledge.releases import Target

    target, memory, option = config.target_version, config.gpu_memory_mib, "--target-version"
    try:
        if arguments.target_version is not None:
            target = Target.parse(arguments.target_version)
        option = "--gpu-memory"
        if arguments.gpu_memory is not None:
            memory = parse_memory(arguments.gpu_memory)
    except ValueError as error:
        raise ConfigError("", f"{option}: {error}") from None
    return target, memory


def _files(arguments: argparse.Namespace, config: Config, plan: Plan) -> Iterator[_Read]:
    """The files that may matter, with their bytes; what can't be read goes to the plan's problems."""
    from tfmemlint.deployment.project_launches import launches_of, reset_cache
    from tfmemlint.plan.model import Problem
    from tfmemlint.rulekit.triggers import matters
    from tfmemlint.sources import Unreadable, read_bytes, walk

    reset_cache()
    paths = list(dict.fromkeys(arguments.paths)) or ["."]
    found = walk(
        paths,
        exclude=(*(config.exclude or ()), *config.extend_exclude),
        respect_gitignore=config.respect_gitignore,
        respect_gitattributes=config.respect_gitattributes,
        root=str(config.root),
    )
    plan.problems.extend(Problem(path, words) for path, words in found.problems)
    for path in found.empty:
        _say(f"{path}: no Python files here")
    named = {os.path.normpath(path) for path in paths}
    read: dict[str, bytes] = {}
    for path in found.files:
        try:
            read[path] = read_bytes(path)
        except Unreadable as error:
            plan.problems.append(Problem(path, str(error), error.row or None))
    programs = _programs(found.files, read) if len(read) > 1 else set()
    for path, data in read.items():
        is_named = os.path.normpath(path) in named
        is_program = is_named or os.path.normpath(path) in programs
        if is_program or matters(data) or launches_of(path, config.file_kinds()):
            yield path, data, is_named, not is_program
        else:
            plan.left_out += 1


def _programs(paths: list[str], read: Mapping[str, bytes]) -> set[str]:
    """The files in which programs start that import modules of their project, and may configure something there."""
    from tfmemlint.engine.find_programs import starting
    from tfmemlint.interpreter.modules import prepare
    from tfmemlint.project.kinds import Kind

    found = starting(prepare(paths), paths, read)
    return {os.path.normpath(one.path) for one in found if one.kind is not Kind.LIBRARY}


def without_what_programs_do(plans: Sequence[FilePlan | Problem | None]) -> Iterator[FilePlan | Problem | None]:
    """Leave out, of modules that were looked at by themselves, what the plans of whole programs tell already."""
    from tfmemlint.plan.model import Problem

    told = {
        (*plan.where(one.place.span.row), one.place.span.column, one.wish)
        for plan in plans
        if plan is not None and not isinstance(plan, Problem)
        for entry in plan.entries
        for one in entry.asked
        if plan.where(one.place.span.row)[0] != plan.path
    }
    for plan in plans:
        if plan is None or isinstance(plan, Problem) or not plan.alone:
            yield plan
            continue
        places = {
            entry: {(plan.path, one.place.span.row, one.place.span.column, one.wish) for one in entry.asked}
            for entry in plan.entries
        }
        kept = tuple(entry for entry, asked in places.items() if not (asked and asked <= told))
        if kept or not plan.entries:
            yield dataclasses.replace(plan, entries=kept)


def _plans(files: list[_Read], job: _Job) -> Iterator[_Found]:
    from tfmemlint.deployment.project_launches import launches_of
    from tfmemlint.engine.run import WORTH_A_POOL
    from tfmemlint.project.targets.find import reset_cache

    finder = reset_cache()
    workers = min(os.cpu_count() or 1, 8)
    if len(files) < WORTH_A_POOL or workers < 2 or not hasattr(os, "fork"):
        for file in files:
            yield _one(file, job)
        return
    import importlib
    import multiprocessing
    from concurrent.futures import ProcessPoolExecutor
    from itertools import repeat

    # Imported here, once: the workers are forks of this process.
    importlib.import_module("tfmemlint.interpreter.interpreter")
    importlib.import_module("tfmemlint.plan.read")
    from tfmemlint.rulekit.rule import rules

    rules()
    for path, *_ in files:
        # Known to all of them, and read once.
        launches_of(path, job[3])
        if job[0] is None:
            finder.of_file(path)
    with ProcessPoolExecutor(workers, mp_context=multiprocessing.get_context("fork")) as pool:
        yield from pool.map(_one, files, repeat(job), chunksize=4)


def _one(file: _Read, job: _Job) -> _Found:
    """The plan of one file, or why there is none; None where the file asks to be left out."""
    from tfmemlint.deployment.project_launches import launches_of
    from tfmemlint.knowledge.releases import Target
    from tfmemlint.plan.model import Problem
    from tfmemlint.plan.read import plan_of
    from tfmemlint.project.targets.find import current
    from tfmemlint.sources import Unreadable, decode
    from tfmemlint.sources.suppressions import read_suppressions

    path, data, named, alone = file
    target, gpus, memory, kinds = job
    stated = target or current().of_file(path).target
    target = stated or Target.newest()
    try:
        source: Source = decode(path, data)
    except Unreadable as error:
        return [Problem(path, str(error), error.row or None)]
    if not named and read_suppressions(source.text).skip_file:
        return [None]
    plans: list[FilePlan] = []
    try:
        for begun in (None, *launches_of(path, kinds)):
            found = plan_of(source, target, gpus=gpus, memory=memory, named=named, alone=alone, begun=begun)
            if begun is None or not found.comes_to_the_same_as(plans[0]):
                plans.append(dataclasses.replace(found, target=str(target), told=stated is not None, alone=alone))
        first, *others = plans
        return [*others] if others and not first.entries else [first, *others]
    except (SyntaxError, ValueError) as error:
        return [Problem(path, f"not valid Python: {getattr(error, 'msg', error)}", getattr(error, "lineno", None))]
    except (RecursionError, MemoryError):
        return [Problem(path, "nested too deeply to be read")]
    except Exception as error:  # a file that the tool fails on must not take the run with it
        return [Problem(path, f"tfmemlint failed on this file: {type(error).__name__}: {error}")]


def _is_old(plan: Plan) -> bool:
    """Whether a program of which nobody says what it runs on ends because a name of TensorFlow's is gone, or not there
    yet."""
    stops = (entry.stop for file in plan.files for entry in file.entries if not file.told)
    return any(stop is not None and not _OF_ANOTHER_RELEASE.isdisjoint(stop.rules) for stop in stops)


def _show(plan: Plan, as_json: bool) -> None:
    for problem in plan.problems:
        place = problem.path if problem.row is None else f"{problem.path}:{problem.row}"
        _say(f"{place}: {problem.message}")
    if as_json:
        import json

        from tfmemlint.plan.data import as_data

        print(json.dumps(as_data(plan), indent=2))
        return
    from tfmemlint.plan.report import show

    show(plan, sys.stdout)


def _say(message: str) -> None:
    print(f"tfmemlint: {message}", file=sys.stderr)
