"""The functions of the library: `check`, `fix` and `plan`, which run no code of what they look at and print nothing.

They may be called from several threads; one at a time does its work while the others wait. No call leaves anything
behind that another one could see.
"""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Sequence
from typing import TYPE_CHECKING

from tfmemlint.api.convert import changes_of, file_text, findings_of, fixed_of, problems_of
from tfmemlint.api.planned import PlanResult
from tfmemlint.api.request import Codes, Group, Options, Paths, Text, analysis, files_of, groups_of, parse_source
from tfmemlint.api.results import CheckResult, Finding, FixResult, Problem
from tfmemlint.config.files import Config
from tfmemlint.engine.run import from_text, run

if TYPE_CHECKING:
    from tfmemlint.engine.context import RunContext
    from tfmemlint.engine.results import FileResult

_NO_PROBLEMS: Sequence[tuple[str, str]] = ()


def check(
    source: str | Paths,
    *,
    path: str | os.PathLike[str] | None = None,
    select: Codes | None = None,
    extend_select: Codes = (),
    ignore: Codes = (),
    target_version: str | None = None,
    gpu_memory: str | None = None,
    isolated: bool = False,
    explain_fixes: bool = True,
) -> CheckResult:
    """Return what is wrong in a text, or in files.

    Args:
        source: a text; or a `pathlib.Path` of a file or directory, or several.
        path: the file that a text stands for. Its name tells its kind (``notes.md``, ``train.ipynb``); its project
            tells the release and the configuration, and the programs that it is part of are read with the text in place
            of the file, which need not be there. A text without a path is a Python program by itself.
        select: run these rules in place of the usual ones: codes or their beginnings.
        extend_select: run these rules besides.
        ignore: do not run these rules.
        target_version: the TensorFlow release to judge for, such as ``"2.15"``; None for the one that the project
            states, or else the newest.
        gpu_memory: the memory of one GPU, such as ``"16GiB"``.
        isolated: read no configuration file; otherwise the file nearest to each path holds.
        explain_fixes: compute the fix of each finding, or the reason why there is none. Some milliseconds for each.

    Raises:
        ConfigError: an option, or a configuration file, can't be followed.
        FileNotFoundError: a path is not there.
        TypeError, ValueError: ``source`` is neither a text nor paths, or a text that names a file.
    """
    options = Options(select, extend_select, ignore, target_version, gpu_memory, isolated)
    explain = "always" if explain_fixes else "never"
    findings: list[Finding] = []
    problems: list[Problem] = []
    number = 0
    with analysis():
        for results, context, path_problems in runs(parse_source(source, path), options, explain_fixes=explain):
            findings += findings_of(results, context)
            problems += problems_of(results, path_problems)
            number += len(results)
    return CheckResult(tuple(findings), number, tuple(problems))


def fix(
    source: str | Paths,
    *,
    path: str | os.PathLike[str] | None = None,
    write: bool = False,
    unsafe: bool = False,
    allow_dirty: bool = False,
    whole_program: bool = False,
    select: Codes | None = None,
    extend_select: Codes = (),
    ignore: Codes = (),
    target_version: str | None = None,
    gpu_memory: str | None = None,
    isolated: bool = False,
) -> FixResult:
    """Return a text, or files, after their fixes; files are written only if that is asked for.

    Args:
        source: as for `check`.
        path: as for `check`.
        write: write the files. Each is old or new as a whole, whatever happens on the way.
        unsafe: also apply fixes that a person should look at.
        allow_dirty: also write files with changes that git does not have yet.
        whole_program: also change files that were not given, if they are in the same project and a fix needs it.
        select, extend_select, ignore, target_version, gpu_memory, isolated: as for `check`.

    Raises:
        ConfigError, FileNotFoundError, TypeError, ValueError: as for `check`; a text can't be written.
    """
    given = parse_source(source, path)
    if write and isinstance(given, Text):
        raise ValueError("write=True is for paths: the new text is in the result")
    options = Options(select, extend_select, ignore, target_version, gpu_memory, isolated, unsafe)
    every: list[FileResult] = []
    findings: list[Finding] = []
    problems: list[Problem] = []
    more = {"fix": True, "write": write, "allow_dirty": allow_dirty, "whole_program": whole_program}
    with analysis():
        for results, context, path_problems in runs(given, options, explain_fixes="always", **more):
            every += results
            findings += findings_of(results, context)
            problems += problems_of(results, path_problems)
        changes = changes_of(every)
        text = _new_text(given, every) if isinstance(given, Text) else None
    failed = {result.path for result in every if result.problem}
    if write:
        changes = tuple(change for change in changes if change.path not in failed)
    return FixResult(changes, fixed_of(every), tuple(findings), text, write and bool(changes), tuple(problems))


def plan(
    source: str | Paths,
    *,
    path: str | os.PathLike[str] | None = None,
    gpus: int | None = None,
    target_version: str | None = None,
    gpu_memory: str | None = None,
    isolated: bool = False,
) -> PlanResult:
    """Return what programs want of each GPU, and what they get, by reading alone.

    Args:
        source: as for `check`.
        path: as for `check`.
        gpus: the number of GPUs; None for those that the program names.
        target_version, gpu_memory, isolated: as for `check`.

    Raises:
        ConfigError, FileNotFoundError, TypeError, ValueError: as for `check`.
    """
    from tfmemlint.api.convert_plan import result_of
    from tfmemlint.plans.make import plan_paths, plan_text

    if gpus is not None and gpus < 1:
        raise ValueError(f"{gpus} is no number of GPUs")
    options = Options(target_version=target_version, gpu_memory=gpu_memory, isolated=isolated)
    given = parse_source(source, path)
    with analysis():
        if isinstance(given, Text):
            context = _of_text(given, options)
            made = plan_text(given.data, given.path, context, gpus, in_project=given.stands_for_file)
            return result_of(made)
        found = [
            result_of(plan_paths(group.paths, group.nearest, options.context(group.config), gpus))
            for group in groups_of(given, options)
        ]
    return PlanResult(
        tuple(program for result in found for program in result.programs),
        any(result.differs for result in found),
        tuple(problem for result in found for problem in result.problems),
    )


_Run = tuple[list["FileResult"], "RunContext", Sequence[tuple[str, str]]]
"""The results of files, the context that they were made in, and paths with their problems."""


def runs(given: Text | list[str], options: Options, **more: object) -> list[_Run]:
    """Return the runs over what was given: one for a text, and one for the paths of each configuration file."""
    if isinstance(given, Text):
        return [run_text(given, options, **more)]
    return [_run_group(group, options, **more) for group in groups_of(given, options)]


def run_text(given: Text, options: Options, **more: object) -> _Run:
    """Return the run over a text; ``more`` are fields of `RunContext`."""
    context = dataclasses.replace(_of_text(given, options), **more)  # type: ignore[arg-type]
    if not given.stands_for_file:
        return [from_text(given.data, given.path, context)], context, _NO_PROBLEMS
    return run([(given.path, True)], dataclasses.replace(context, write=False)), context, _NO_PROBLEMS


def _of_text(given: Text, options: Options) -> RunContext:
    if given.stands_for_file:
        return options.context(options.config_at(given.path), {os.path.abspath(given.path): given.data})
    return dataclasses.replace(options.context(Config()), in_project=False)


def _run_group(group: Group, options: Options, **more: object) -> _Run:
    more = {**more, "named": tuple(group.paths)}
    context = dataclasses.replace(options.context(group.config), **more)  # type: ignore[arg-type]
    files, problems, litter = files_of(group)
    if context.write:
        from tfmemlint.fixes.write_together import finish_interrupted

        finish_interrupted(litter)
    return sorted(run(files, context), key=lambda result: result.path), context, problems


def _new_text(given: Text, results: Sequence[FileResult]) -> str:
    """Return a text after its fixes; as it was given where nothing changes, or where it can't be read."""
    for result in results:
        if _same(result.path, given.path) and result.old is not None and result.source is not None:
            return file_text(result.old, result.source.text)
    for result in results:
        if _same(result.path, given.path) and result.source is not None:
            return file_text(result.source, result.source.text)
    return given.data.decode("utf-8", "surrogatepass")


def _same(path: str, other: str) -> bool:
    return os.path.normpath(path) == os.path.normpath(other)
