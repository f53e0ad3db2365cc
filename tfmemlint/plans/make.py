"""Make the plan of files, or of a text that is no file."""

from __future__ import annotations

import dataclasses
import importlib
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tfmemlint.config.nearest import Nearest
    from tfmemlint.engine.context import RunContext
    from tfmemlint.engine.item import Item
    from tfmemlint.knowledge.releases import Target
    from tfmemlint.plans.model import FilePlan, Plan, Problem

MAX_NEIGHBOURS = 4
"""The largest number of files that one process takes at once."""

_Plans = list["FilePlan | Problem | None"]
"""The plans of one file: started by hand, and by those configuration files that lead to another result."""


@dataclasses.dataclass(frozen=True, slots=True)
class _File:
    """A file to plan; ``alone`` means without the modules that it imports from its project."""

    path: str
    data: bytes
    named: bool
    alone: bool


def plan_paths(paths: Sequence[str], nearest: Nearest, context: RunContext, gpus: int | None) -> Plan:
    """Return the plan of the programs that start in files.

    Args:
        paths: files and directories; the working directory if there are none.
        nearest: what it says about files is followed.
        context: the run.
        gpus: the number of GPUs; None for those that the program names.
    """
    from tfmemlint.plans.model import Plan

    plan = Plan("", gpus, context.gpu_memory_mib)
    return _made(_files(paths, nearest, context, plan), plan, context)


def plan_text(data: bytes, path: str, context: RunContext, gpus: int | None, *, in_project: bool = False) -> Plan:
    """Return the plan of the program of a text.

    Args:
        data: the text.
        path: its name in reports, which tells a notebook.
        context: the run.
        gpus: the number of GPUs; None for those that the program names.
        in_project: it stands for the file at ``path``, and the modules that it imports from its project are followed.
    """
    from tfmemlint.engine.context import reset_project_caches
    from tfmemlint.plans.model import Plan

    reset_project_caches(context.modules.open_texts)
    context.modules.reset([path] if in_project else [])
    file = _File(path, data, named=True, alone=not in_project)
    return _made([file], Plan("", gpus, context.gpu_memory_mib), context)


def _made(files: list[_File], plan: Plan, context: RunContext) -> Plan:
    """Return the plan with what is planned of these files."""
    from tfmemlint.plans.model import Problem

    found_plans = [found for plans in _plans(files, context, plan.gpus) for found in plans]
    for found in without_what_programs_do(found_plans):
        if isinstance(found, Problem):
            plan.problems.append(found)
        elif found is None or not (found.entries or found.incomplete):
            plan.left_out += 1
        else:
            plan.files.append(found)
    plan.files.sort(key=lambda file: file.path)
    plan.target = str(_newest(plan, context.target))
    plan.problems.sort(key=lambda problem: (problem.path, problem.row or 0))
    return plan


def _newest(plan: Plan, target: Target | None) -> Target:
    """Return the release of the whole plan: the stated one, else the newest that a file was judged for."""
    from tfmemlint.knowledge.releases import Target

    found = {Target.parse(file.target) for file in plan.files if file.target}
    return target or max(found, default=Target.newest())


def _files(paths: Sequence[str], nearest: Nearest, context: RunContext, plan: Plan) -> list[_File]:
    """Return the files that may matter; those that can't be read are added to the plan's problems."""
    from tfmemlint.engine.front_end import find_files, read_items
    from tfmemlint.facts.prefilter import MATTERS
    from tfmemlint.plans.model import Problem
    from tfmemlint.project.kinds import Kind
    from tfmemlint.sources.kinds import PROGRAMS

    walk, files = find_files(list(dict.fromkeys(paths)) or ["."], nearest, kinds=PROGRAMS)
    plan.problems.extend(Problem(path, words) for path, words in walk.problems)
    plan.empty.extend(walk.empty)

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

    return map_items(plan, files, warm_up=warm_up, max_chunk=MAX_NEIGHBOURS, alone=context.in_process)


def _plan(file: _File, context: RunContext, gpus: int | None) -> _Plans:
    """Return the plans of one file, or the reason why there is none; None if the file asks to be left out."""
    from tfmemlint.plans.model import Problem
    from tfmemlint.plans.read import plan_of
    from tfmemlint.sources import Unreadable, decode
    from tfmemlint.sources.suppressions import read_suppressions

    if context.checkpoint is not None:
        context.checkpoint()
    path = file.path
    stated, target = context.stated_target(path), context.target_of(path)
    try:
        source = decode(path, file.data)
    except Unreadable as error:
        return [Problem(path, str(error), error.row or None)]
    if not file.named and read_suppressions(source.text).skip_file:
        return [None]
    memory = context.at(path).gpu_memory_mib
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
                open_texts=context.modules.open_texts,
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
