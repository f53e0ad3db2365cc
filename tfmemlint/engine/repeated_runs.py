"""A run over the same files as an earlier one: nothing that it depends on has changed, so its results are the same.

Results of single files and programs are cached as well, by what these depend on (`tfmemlint.engine.run`).
But then each run has to find anew what imports what, which release each file is for, and what fixes would do. Where the
state of the whole project is that of the last run (`tfmemlint.engine.tree_state`), none of it is asked for.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from typing import TYPE_CHECKING

from tfmemlint.engine.cache import VARIABLE, digest, open_cache
from tfmemlint.engine.cached_values import foreign_paths
from tfmemlint.engine.context import RunContext, reset_project_caches
from tfmemlint.engine.results import FileResult, KeptRun
from tfmemlint.engine.run import run
from tfmemlint.engine.tree_state import Changing, about_file, is_project_of_its_own, state_of
from tfmemlint.model.codes import INTERNAL_ERROR

if TYPE_CHECKING:
    from tfmemlint.config.files import Table

MIN_FILES = 20
"""Files from which on the state of a tree is asked for: opening one more file of the cache takes 5 ms."""
MAX_CLOCK_STEP_NS = 2_000_000_000
"""A file that was changed later than so long before a run may be changed again without another time: some file systems
count in seconds, or in two of them."""
_DECIDING = (
    "target", "keep_suppressed", "explain_fixes", "unsafe", "gpu_memory_mib", "read_gpu_memory", "fix_only",
    "whole_program", "kinds", "severities", "min_severity",
)  # fmt: skip
"""The fields of a context that results depend on; `RunContext.selection` is what the tables of options say."""


def recall_or_run(
    files: Sequence[tuple[str, bool]], context: RunContext, paths: Sequence[str], options: Iterable[Sequence[Table]]
) -> list[FileResult]:
    """Return the result of each file: what the last run has found if nothing has changed since, or what is found now.

    Args:
        files: each file with whether the user named that very file.
        context: the run, which fixes nothing.
        paths: what the user named.
        options: the tables of options that hold for some of the files.
    """
    started = time.time_ns()
    if not _can_be_recalled(files, context, paths):
        return run(files, context)
    cache = open_cache(os.getcwd(), name="runs")
    tops = set(map(os.path.abspath, paths))
    try:
        state, latest = state_of(tops, os.path.abspath(os.environ.get(VARIABLE) or os.devnull))
    except (Changing, OSError):
        return run(files, context)
    now = digest(state, files)
    key = _key(context, paths, options)
    known = cache.get(key, "run")
    # A cache that somebody else has written must not choose which files are quoted.
    if known is not None and not foreign_paths(known) <= {path for path, _ in files}:
        known = None
    if known is not None and known.state == now and _state_outside(known.outside) == known.state_outside:
        recalled = _recalled(known, files, context)
        if recalled is not None:
            return recalled
    results = run(files, context)
    if latest < started - MAX_CLOCK_STEP_NS and all(map(_lasts, results)):
        outside = _asked_outside(tops)
        kept = [result for result in results if not _is_plain(result)]
        cache.put(key, KeptRun(now, outside, _state_outside(outside), tuple(kept)))
        cache.save()
    return results


def _can_be_recalled(files: Sequence[tuple[str, bool]], context: RunContext, paths: Sequence[str]) -> bool:
    if not context.cache or context.fix or context.only_rules is not None or context.shard is not None:
        return False
    if len(files) < MIN_FILES or any(named for _, named in files) or context.modules.open_texts:
        return False
    from tfmemlint.rulekit.other_packages import modules_of_others

    return all(map(is_project_of_its_own, paths)) and not modules_of_others()


def _key(context: RunContext, paths: Sequence[str], options: Iterable[Sequence[Table]]) -> str:
    """Return the name of a run: what it is asked to do, and by which packages it is done."""
    packages = [(place, about_directory(place)) for place in sys.path]
    user = os.getuid() if hasattr(os, "getuid") else 0
    decided = [_stable(getattr(context, name)) for name in _DECIDING]
    tables = sorted({repr([(table.origin, table.root, _stable(table.values)) for table in each]) for each in options})
    return digest("run", list(paths), os.path.expanduser("~"), user, packages, decided, tables)


def about_directory(path: str) -> int:
    """Return when an entry of a directory was last added or removed, in nanoseconds; 0 if it is not there."""
    try:
        return os.stat(path or ".").st_mtime_ns
    except OSError:
        return 0


def _stable(value: object) -> object:
    """Return a value whose text is the same in each process: sets have no order."""
    if isinstance(value, Mapping):
        return sorted((repr(key), _stable(item)) for key, item in value.items())
    if isinstance(value, AbstractSet):
        return sorted(map(repr, value))
    if isinstance(value, (list, tuple)):
        return list(map(_stable, value))
    return repr(value)


def _asked_outside(tops: AbstractSet[str]) -> tuple[str, ...]:
    """Return the files outside of some trees that configuration files have led to, there or not."""
    program_paths = sys.modules.get("tfmemlint.deployment.program_paths")
    asked: AbstractSet[str] = program_paths.asked if program_paths is not None else frozenset()
    found = {os.path.abspath(path) for path in asked}
    return tuple(sorted(path for path in found if not any(path.startswith(os.path.join(top, "")) for top in tops)))


def _state_outside(paths: Iterable[str]) -> str:
    return digest([about_file(path) for path in paths])


def _is_plain(result: FileResult) -> bool:
    return not (result.candidate or result.findings or result.suppressed or result.notes)


def _lasts(result: FileResult) -> bool:
    """Return True if another run would have the same result: not if a part of the tool failed, perhaps for want of
    memory."""
    findings = [*result.findings, *result.suppressed]
    if findings and result.source is None:
        return False
    failed = result.program is not None and bool(result.program.failed)
    return not failed and not any(finding.code == INTERNAL_ERROR for finding in findings)


def _recalled(known: KeptRun, files: Sequence[tuple[str, bool]], context: RunContext) -> list[FileResult] | None:
    """Return all results of a run; None if a text can't be read any more, or was none of this run."""
    from tfmemlint.engine.item import Item
    from tfmemlint.engine.subjects import subject_of_item
    from tfmemlint.sources import Unreadable
    from tfmemlint.sources.kinds import kind_of, kind_of_text

    # Those who report ask for the texts that findings lead to, and for the releases of files.
    reset_project_caches()
    context.modules.reset(path for path, _ in files)
    results = {path: FileResult(path) for path, _ in files}
    try:
        for result in known.results:
            if result.path not in results:
                return None
            if result.findings or result.suppressed:
                data = context.modules.read(result.path)
                kind = kind_of(os.path.basename(result.path)) or kind_of_text(data)
                result.source = subject_of_item(Item(result.path, data, kind=kind)).source
            results[result.path] = result
    except Unreadable:
        return None
    return list(results.values())
