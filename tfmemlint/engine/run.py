"""One run of ``check`` or ``fix`` over many files.

A file's result depends on that file, and where it is part of a program that configures GPU memory in several files, on
the others of that program: never on which files are given together, or in which order.
"""

from __future__ import annotations

import dataclasses
import os
import sys
from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING

from tfmemlint.engine.context import RunContext, reset_project_caches
from tfmemlint.engine.explain_fixes import explain_results
from tfmemlint.engine.front_end import read_items
from tfmemlint.engine.item import Item
from tfmemlint.engine.pool import WorkerDied, map_items
from tfmemlint.engine.results import FileResult, ProgramResult
from tfmemlint.engine.scan_file import wanted_by_rules
from tfmemlint.engine.subjects import subject_of_item, subject_of_result
from tfmemlint.model.codes import SYNTAX_ERROR
from tfmemlint.project.targets.find import current
from tfmemlint.sources import Unreadable
from tfmemlint.sources.kinds import DOCSTRING, PYTHON, kind_of, kind_of_text

if TYPE_CHECKING:
    from tfmemlint.engine.cache import Cache

MIN_ITEMS_FOR_CACHE = 8
"""Files to read closely from which the results of earlier runs are looked up. Opening the cache takes 3 ms, its imports
take 10 ms; a program of 20 lines takes 1.4 ms, and 0.3 ms with the cache. They are always looked up for a program of
several files."""
MAX_NEIGHBOURS = 8
"""Files that one process takes at once at most: programs that start side by side have modules in common, which one
process reads once."""
_NAMES = "names"
"""The key of the answers about single files by which releases are inferred."""
READS_MORE = 1
"""Cached for a program that reads other files than its imports tell: it is cached by all files of its project."""


def run(files: Iterable[tuple[str, bool]], context: RunContext) -> list[FileResult]:
    """Return the result of each file.

    Args:
        files: each file with whether the user named that very file: it is read then even if the prefilter says that it
            can't matter, as it may not be valid Python.
        context: the run.
    """
    items = read_items(files, context, wanted_by_rules(context))
    if context.shard is not None:
        from tfmemlint.engine.shards import keep_share

        keep_share(items, context.shard, context)
    results = [FileResult(path) for path in items.left_out]
    cache = _open_cache(items.wanted, context)
    current().known_answers = cache.get(_NAMES, "names") or {}
    if not any(item.entry is not None for item in items.wanted):
        results.extend(check_items(items.wanted, context, cache))
        _save(cache)
        return _finish(results, context)
    # What programs do in several files has to be known before the first of them is fixed.
    from tfmemlint.engine.merge_programs import merge_program_results

    results.extend(check_items(items.wanted, dataclasses.replace(context, fix=False), cache))
    programs = [result.program for result in results if result.program is not None]
    others = _other_programs(programs, set(items.given), context, cache)
    results = merge_program_results(results, set(items.given), context, cache, others)
    named = {item.path for item in items.wanted if item.named}
    results = [result if result.path in named else _without_what_does_not_matter(result, context) for result in results]
    programs += others
    _save(cache)
    if context.fix:
        from tfmemlint.engine.program_repairs import repair_programs

        results = [_fix_checked(result, context) for result in results]
        results = repair_programs(results, programs, set(items.given), context)
    return _finish(results, context, programs)


def _save(cache: Cache) -> None:
    """Keep what was found, and what was asked of single files to infer a release."""
    answers = current().answers()
    if answers is not None:
        cache.put(_NAMES, answers)
    cache.save()


def _other_programs(
    programs: Sequence[ProgramResult], given: set[str], context: RunContext, cache: Cache
) -> list[ProgramResult]:
    """Return the programs that have nothing to do with a given file but for a module, not given, in which something is
    found: it is one of the module only if they have it, too."""
    from tfmemlint.engine.place_at_users import modules_with_users

    modules = modules_with_users(programs) - given
    if not modules:
        return []
    from tfmemlint.engine.front_end import programs_of

    store = context.modules.anew()
    known = {program.entry.path for program in programs}
    items = [item for item in programs_of(sorted(modules), store) if item.entry and item.entry.path not in known]
    others = dataclasses.replace(context, fix=False, modules=store)
    return [result.program for result in check_items(items, others, cache) if result.program is not None]


def from_text(text: bytes, path: str, context: RunContext) -> FileResult:
    """Return the result of a text that is no file: standard input, or what an editor has not saved."""
    reset_project_caches()
    context.modules.reset(())
    context = dataclasses.replace(context, write=False)
    item = Item(path, text, kind=kind_of(os.path.basename(path)) or kind_of_text(text), named=True)
    (result,) = _finish([check_item(item, context)], context)
    return result


def check_items(items: Sequence[Item], context: RunContext, cache: Cache) -> Iterator[FileResult]:
    """Yield the result of each item, in order: a cached one, or a new one, which is cached."""
    keys = ["" if cache.path is None else _cache_key(item, context) for item in items]
    cached = [_looked_up(item, key, context, cache) if key else None for item, key in zip(items, keys, strict=True)]
    unknown = [item for item, known in zip(items, cached, strict=True) if known is None]
    results = map_items(
        partial(check_item, context=context),
        unknown,
        warm_up=partial(_warm_up, context),
        max_chunk=MAX_NEIGHBOURS,
        alone=context.in_process or (context.fix and (context.ask is not None or context.prove is not None)),
        first=_largest_program(unknown, context),
        lost=partial(_lost, context),
        jobs=context.jobs,
    )
    for item, key, known in zip(items, keys, cached, strict=True):
        if known is not None:
            yield check_item(item, context, known)
            continue
        result = next(results)
        value = subject_of_item(item).cacheable(result, context) if key else None
        if value is not None:
            cache.put(key, value)
        elif key and result.program is not None:
            _cache_with_all_files(result.program, key, context, cache)
        yield result


def _looked_up(item: Item, key: str, context: RunContext, cache: Cache) -> object:
    """Return what an earlier run has found of an item; None if there is nothing."""
    from tfmemlint.engine.cached_values import foreign_paths

    if item.entry is None:
        known = cache.get(key, "findings")
        return known if known is not None and foreign_paths(known) <= {item.path} else None
    store = context.modules
    files: Iterable[str] = store.contents.get(item.entry.path, ())
    known = cache.get(key, "program", "number")
    if known == READS_MORE:
        from tfmemlint.engine.programs import wider_key

        wider = wider_key(item.entry, context)
        known, files = cache.get(wider, "program") if wider else None, store.universe
    if known is None or isinstance(known, int) or known.entry != item.entry:
        return None
    foreign = foreign_paths(known)
    return None if foreign and not foreign <= set(map(store.name_of, files)) | {item.path} else known


def _cache_with_all_files(program: ProgramResult, key: str, context: RunContext, cache: Cache) -> None:
    """Cache the result of a program that reads files which its key does not know, by all files of its project."""
    from tfmemlint.engine.programs import is_covered_by_wider_key, wider_key

    wider = wider_key(program.entry, context) if is_covered_by_wider_key(program, context) else ""
    if wider:
        cache.put(key, READS_MORE)
        cache.put(wider, program)


def _largest_program(items: Sequence[Item], context: RunContext) -> int | None:
    """Return the number of the program of the most files: others begin with the same imports. None if there is none."""
    contents = context.modules.contents
    sizes = {
        number: len(contents.get(item.entry.path, ())) for number, item in enumerate(items) if item.entry is not None
    }
    return max(sizes, key=lambda number: sizes[number]) if sizes and not context.fix else None


def check_item(item: Item, context: RunContext, cached: object = None) -> FileResult:
    """Return the result of one file that is read closely. An error of the tool's own is a finding in it."""
    if context.checkpoint is not None:
        context.checkpoint()
    try:
        return _check_item(item, context.at(item.path), cached)
    except Exception as error:  # one file must not take the run with it
        return _failed(item.path, "tfmemlint", error, context)


def _check_item(item: Item, context: RunContext, cached: object) -> FileResult:
    error = item.error
    if item.data is not None:
        subject = subject_of_item(item)
        try:
            result = subject.fix(context) if context.fix else subject.examine(context, cached)
            return result if item.named else _without_what_does_not_matter(result, context)
        except Unreadable as reason:
            error = reason
    from tfmemlint.engine.trouble import unreadable

    assert error is not None
    return FileResult(item.path, candidate=True, findings=unreadable(item.path, error, context.rules_for(item.path)))


def _without_what_does_not_matter(result: FileResult, context: RunContext) -> FileResult:
    """Return the result of a file that nobody named, without a finding that it is no valid Python where that matters
    little."""
    if not any(finding.code == SYNTAX_ERROR for finding in result.findings):
        return result
    from tfmemlint.engine.not_python import without_what_does_not_matter

    return without_what_does_not_matter(result, context.at(result.path))


def _lost(context: RunContext, item: Item, error: WorkerDied) -> FileResult:
    """Return the result of a file on which the process died that worked on it."""
    return _failed(item.path, "tfmemlint", error, context)


def _failed(path: str, who: str, error: Exception, context: RunContext) -> FileResult:
    from tfmemlint.engine.trouble import internal_error

    findings = internal_error(path, who, error, context.rules_for(path))
    return FileResult(path, candidate=True, findings=findings)


def _cache_key(item: Item, context: RunContext) -> str:
    # A fix is never taken from the cache.
    return "" if context.fix or item.data is None else subject_of_item(item).key(context)


def _warm_up(context: RunContext, items: Sequence[Item]) -> None:
    """Read what says for which release, and how, the programs in ``items`` are run."""
    for item in items:
        context.stated_target(item.path)
        context.launches_of(item.path)


def _fix_checked(result: FileResult, context: RunContext) -> FileResult:
    """Return the result of a file that was checked before, fixed."""
    context = context.at(result.path)
    if result.source is None or not any(finding.fixable for finding in result.findings):
        return result
    try:
        fixed = subject_of_result(result).fix(context)
    except Exception as error:  # one file must not take the run with it
        fixed = _failed(result.path, "tfmemlint fix", error, context)
    return dataclasses.replace(
        fixed,
        entries=result.entries,
        program=result.program,
        notes=result.notes,
        own_findings=result.own_findings,
    )


def _finish(results: list[FileResult], context: RunContext, programs: Sequence[ProgramResult] = ()) -> list[FileResult]:
    """Explain the findings that are left, and add those in docstrings."""
    if context.keep_suppressed:
        for result in results:
            result.suppressed = [finding for finding in result.findings if finding.suppressed is not None]
            result.findings = [finding for finding in result.findings if finding.suppressed is None]
    explain_results(results, context, programs)
    for result in results:
        if result.source is not None and result.source.language == PYTHON:
            own = context.at(result.path)
            if DOCSTRING in own.kinds:
                from tfmemlint.engine.docstring_examples import add_examples

                add_examples(result, own)
    return results


def _open_cache(items: Sequence[Item], context: RunContext) -> Cache:
    """Return the results of earlier runs in this directory, where looking them up saves time."""
    from tfmemlint.engine.cache import Cache, open_cache

    has_programs = any(item.entry is not None for item in items)
    if not context.cache or (len(items) < MIN_ITEMS_FOR_CACHE and not has_programs):
        return Cache()
    from tfmemlint.rulekit.rule import rules

    modules = {getattr(sys.modules.get(type(rule).__module__), "__file__", None) for rule in rules()}
    cache = open_cache(os.getcwd(), (path for path in modules if path))
    cache.for_fixes = context.fix
    return cache
