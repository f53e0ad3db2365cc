"""Give each file what all programs do in it."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from tfmemlint.engine.cached_values import foreign_paths
from tfmemlint.engine.file_key import file_key
from tfmemlint.engine.place_at_users import place_at_users
from tfmemlint.engine.program_file import findings_in, own_findings, report
from tfmemlint.engine.results import FileResult, ProgramResult

if TYPE_CHECKING:
    from tfmemlint.engine.cache import Cache
    from tfmemlint.engine.context import RunContext
    from tfmemlint.model.finding import Finding
    from tfmemlint.sources import Source


def merge_program_results(
    results: list[FileResult],
    given: set[str],
    context: RunContext,
    cache: Cache,
    others: Sequence[ProgramResult] = (),
) -> list[FileResult]:
    """Return the results of the given files, each with what all programs do in it.

    Also report files that were not given whose behaviour changes because a given file runs them, or which use a given
    file wrongly.

    Args:
        results: of the given files, and of those in which programs start.
        given: the paths of the given files.
        context: the run.
        cache: where the findings in a file by itself are.
        others: programs that have nothing to do with a given file but for a module in which something is found.
    """
    known = {result.path: result for result in results if result.path in given}
    # Of the programs that bring about one finding, the first is shown: the same one, in whatever order files are named.
    starting = sorted((result for result in results if result.program is not None), key=lambda result: result.path)
    programs = place_at_users(
        [*(result.program for result in starting if result.program is not None), *others], context
    )
    programs_in: dict[str, list[ProgramResult]] = {}
    for result, program in zip(starting, programs, strict=False):
        # The file in which a program starts has a name of its own if it is not below the working directory.
        for path in set(map(context.modules.name_of, program.paths)):
            if result.path in given or path in given:
                programs_in.setdefault(path, []).append(program)
            elif using := tuple(finding for finding in program.findings if _uses_given(finding, path, given)):
                programs_in.setdefault(path, []).append(dataclasses.replace(program, findings=using))
    for path, here in sorted(programs_in.items()):
        result = known.get(path) or FileResult(path, candidate=True)
        if result.source is None:
            module = context.modules.get(path)
            result.source = module.source if module is not None else None
        if result.source is None:
            continue
        own = result.own_findings = _own_findings(result.source, context, cache, result.own_findings)
        found = findings_in(result.source, here, own, context)
        if path not in known:
            by_itself = {(finding.code, finding.span) for finding in own}
            found = [finding for finding in found if (finding.code, finding.span) not in by_itself]
        modules = {finding.in_module.path for finding in found if finding.in_module is not None}
        about = [*here, *(program for program in programs if not modules.isdisjoint(program.paths))]
        result.entries = tuple(dict.fromkeys(program.entry for program in about))
        result.findings = report(result.source, found, context)
        if result.findings:
            known[path] = result
    return list(known.values())


def _uses_given(finding: Finding, path: str, given: set[str]) -> bool:
    """True if a finding in the file at ``path`` is there as that uses one of the given modules wrongly."""
    return finding.path == path and finding.in_module is not None and finding.in_module.path in given


def _own_findings(source: Source, context: RunContext, cache: Cache, known: list[Finding] | None) -> list[Finding]:
    """Return the findings in a file by itself: those ``known`` in this run, or those of an earlier one."""
    context = context.at(source.path)
    key = file_key(source.path, source.text, context) if cache.path is not None else ""
    if known is None and key:
        cached = cache.get(key, "findings")
        if cached is not None and foreign_paths(cached) <= {source.path}:
            return list(cached)
    found = known if known is not None else own_findings(source, context)
    if key and key not in cache:
        cache.put(key, found)
    return found


def module_sources(paths: Iterable[str], context: RunContext) -> dict[str, Source]:
    """Return the texts of modules that programs have imported, by their names in reports."""
    modules = {path: context.modules.get(path) for path in paths}
    return {path: module.source for path, module in modules.items() if module is not None}
