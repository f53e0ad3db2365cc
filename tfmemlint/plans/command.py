"""The command ``tfmemlint plan``: its options and its entry point."""

from __future__ import annotations

import argparse
import dataclasses
import importlib
import sys
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tfmemlint.config.files import Config
    from tfmemlint.engine.context import RunContext
    from tfmemlint.engine.item import Item
    from tfmemlint.knowledge.releases import Target
    from tfmemlint.plans.model import FilePlan, Plan, Problem
from tfmemlint.reporters.say import say

AS_ASKED, DIFFERS, FAILED = 0, 1, 2

MAX_GPUS = 64

_Plans = list["FilePlan | Problem | None"]
"""The plans of one file: started by hand, and by those configuration files that lead to another result."""
MAX_NEIGHBOURS = 4
"""The largest number of files that one process takes at once."""


@dataclasses.dataclass(frozen=True, slots=True)
class _File:
    """A file to plan; ``alone`` means without the modules that it imports from its project."""

    path: str
    data: bytes
    named: bool
    alone: bool


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Give ``parser`` the options of ``plan``."""
    add = parser.add_argument
    add("paths", nargs="*", metavar="PATH", help="files or directories (default: .)")
    add("--json", action="store_true", help="print plain data")
    add(
        "--target-version",
        metavar="X.Y",
        help="the TensorFlow release that the code runs on (default: the one that the project requires)",
    )
    add("--gpu-memory", metavar="SIZE", help="the memory of one GPU, such as 16GiB: fractions are shown in MiB")
    add(
        "--gpus",
        type=_gpus,
        metavar="N",
        help="the number of GPUs (default: those that the program names)",
    )


def _gpus(text: str) -> int:
    number = int(text) if text.isascii() and text.isdigit() else 0
    if not 1 <= number <= MAX_GPUS:
        raise argparse.ArgumentTypeError(f"{text!r} is no number of GPUs from 1 to {MAX_GPUS}")
    return number


def run(arguments: argparse.Namespace) -> int:
    """Plan the given paths and return the exit code.

    0: every intent takes effect, as far as the analysis can tell. 1: an intent and its prediction differ. 2: a path
    could not be read.
    """
    from tfmemlint.config.files import ConfigError, load
    from tfmemlint.engine.context import RunContext
    from tfmemlint.plans.model import Plan, Problem

    try:
        config = load()
        target, memory = config.target_and_memory(arguments.target_version, arguments.gpu_memory)
    except ConfigError as error:
        say(str(error))
        return FAILED
    context = RunContext(target=target, gpu_memory_mib=memory, kinds=config.file_kinds())
    plan = Plan("", arguments.gpus, memory)
    files = _files(arguments.paths, config, context, plan)
    found_plans = [found for plans in _plans(files, context, arguments.gpus) for found in plans]
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
        say("some of this is code for an older TensorFlow; say which one it runs on: --target-version 1.15")
    if plan.problems:
        return FAILED
    return DIFFERS if plan.differs else AS_ASKED


def _newest(plan: Plan, target: Target | None) -> Target:
    """Return the release of the whole plan: the stated one, else the newest that a file was judged for."""
    from tfmemlint.knowledge.releases import Target

    found = {Target.parse(file.target) for file in plan.files if file.target}
    return target or max(found, default=Target.newest())


def _files(paths: list[str], config: Config, context: RunContext, plan: Plan) -> list[_File]:
    """Return the files that may matter; those that can't be read are added to the plan's problems."""
    from tfmemlint.engine.front_end import find_files, read_items
    from tfmemlint.facts.prefilter import MATTERS
    from tfmemlint.plans.model import Problem
    from tfmemlint.project.kinds import Kind
    from tfmemlint.sources.kinds import PROGRAMS

    walk, files = find_files(list(dict.fromkeys(paths)) or ["."], config, kinds=context.kinds & PROGRAMS)
    plan.problems.extend(Problem(path, words) for path, words in walk.problems)
    for path in walk.empty:
        say(f"{path}: no Python files here")

    def is_wanted(item: Item) -> bool:
        return bool(item.named or item.words & MATTERS or context.launches_of(item.path))

    items = read_items(files, context, is_wanted)
    plan.left_out += len(items.left_out)
    found = []
    for item in items.wanted:
        if item.data is None:
            row = item.error.row or None if item.error is not None else None
            plan.problems.append(Problem(item.path, str(item.error), row))
            continue
        starts_program = item.entry is not None and item.entry.kind is not Kind.LIBRARY
        if item.given and (starts_program or is_wanted(item)):
            found.append(_File(item.path, item.data, item.named, alone=not (item.named or starts_program)))
        elif item.given:
            plan.left_out += 1
    return found


def without_what_programs_do(plans: Sequence[FilePlan | Problem | None]) -> Iterator[FilePlan | Problem | None]:
    """Yield the plans without the entries of modules that the plans of whole programs already cover."""
    from tfmemlint.plans.model import Problem

    covered = {
        (*plan.where(planned.place.span.row), planned.place.span.column, planned.purpose)
        for plan in plans
        if plan is not None and not isinstance(plan, Problem)
        for entry in plan.entries
        for planned in entry.intents
        if plan.where(planned.place.span.row)[0] != plan.path
    }
    for plan in plans:
        if plan is None or isinstance(plan, Problem) or not plan.alone:
            yield plan
            continue
        places = {
            entry: {
                (plan.path, planned.place.span.row, planned.place.span.column, planned.purpose)
                for planned in entry.intents
            }
            for entry in plan.entries
        }
        kept = tuple(entry for entry, intents in places.items() if not (intents and intents <= covered))
        if kept or not plan.entries:
            yield dataclasses.replace(plan, entries=kept)


def _plans(files: list[_File], context: RunContext, gpus: int | None) -> Iterator[_Plans]:
    from tfmemlint.engine.pool import map_items

    def warm_up(files: Sequence[_File]) -> None:
        importlib.import_module("tfmemlint.plans.read")
        for file in files:
            # All processes get these, and each is read once.
            context.launches_of(file.path)
            context.stated_target(file.path)

    def plan(file: _File) -> _Plans:
        return _plan(file, context, gpus)

    return map_items(plan, files, warm_up=warm_up, max_chunk=MAX_NEIGHBOURS)


def _plan(file: _File, context: RunContext, gpus: int | None) -> _Plans:
    """Return the plans of one file, or the reason why there is none; None if the file asks to be left out."""
    from tfmemlint.plans.model import Problem
    from tfmemlint.plans.read import plan_of
    from tfmemlint.sources import Unreadable, decode
    from tfmemlint.sources.suppressions import read_suppressions

    path = file.path
    stated, target = context.stated_target(path), context.target_of(path)
    try:
        source = decode(path, file.data)
    except Unreadable as error:
        return [Problem(path, str(error), error.row or None)]
    if not file.named and read_suppressions(source.text).skip_file:
        return [None]
    memory = context.gpu_memory_mib
    plans: list[FilePlan] = []
    try:
        for launch in (None, *context.launches_of(path)):
            found = plan_of(
                source,
                target,
                gpus=gpus if launch is None or gpus is not None else launch.gpus,
                memory=memory,
                named=file.named,
                alone=file.alone,
                begun=launch,
            )
            if launch is None or not found.predicts_the_same_as(plans[0]):
                plans.append(
                    dataclasses.replace(
                        found, target=str(target), target_is_stated=stated is not None, alone=file.alone
                    )
                )
        first, *launched = plans
        return [*launched] if launched and not first.entries else [first, *launched]
    except (SyntaxError, ValueError) as error:
        return [Problem(path, f"not valid Python: {getattr(error, 'msg', error)}", getattr(error, "lineno", None))]
    except (RecursionError, MemoryError):
        return [Problem(path, "nested too deeply to be read")]
    except Exception as error:  # a file that the tool fails on must not take the run with it
        return [Problem(path, f"tfmemlint failed on this file: {type(error).__name__}: {error}")]


def _is_old(plan: Plan) -> bool:
    """Return True if a program without a stated release ends because a name of TensorFlow's is gone, or does not exist
    yet."""
    from tfmemlint.rulekit.rule import codes_where

    of_another_release = codes_where(lambda rule: rule.of_another_release)
    stops = (entry.stop for file in plan.files for entry in file.entries if not file.target_is_stated)
    return any(stop is not None and not of_another_release.isdisjoint(stop.rules) for stop in stops)


def _show(plan: Plan, as_json: bool) -> None:
    for problem in plan.problems:
        place = problem.path if problem.row is None else f"{problem.path}:{problem.row}"
        say(f"{place}: {problem.message}")
    if as_json:
        import json

        from tfmemlint.plans.data import as_data

        print(json.dumps(as_data(plan), indent=2))
        return
    from tfmemlint.plans.report import show

    show(plan, sys.stdout)
