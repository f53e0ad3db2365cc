"""One run over many files: read, screen, check, fix, write.

A file's outcome depends on that file, and where it is part of a program that configures GPU memory in several files, on
the others of that program: never on which files are named together, or in which order.
"""

from __future__ import annotations

import contextlib
import dataclasses
import importlib
import os
import re
import sys
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from tfmemlint.engine.job import (
    FileResult,
    Item,
    Job,
    drop_unselected_advice,
    launches_of,
    reset_project_caches,
    rules_for,
    target_of,
)
from tfmemlint.engine.prefilter_cache import screened
from tfmemlint.facts.prefilter import ABOUT, CONFIGURES, MATTERS, NAMES_GPU
from tfmemlint.model.codes import INTERNAL_ERROR
from tfmemlint.model.finding import Finding
from tfmemlint.rulekit.triggers import scan, scan_document, search_of_any_file
from tfmemlint.sources import Source, Unreadable, decode, read_bytes
from tfmemlint.sources.kinds import DOCSTRING, DOCUMENTS, PYTHON, SETTINGS, kind_of, kind_of_text
from tfmemlint.sources.text import NOTEBOOK

if TYPE_CHECKING:
    from tfmemlint.engine.cache import Cache
    from tfmemlint.rulekit.rule import Rule

WORTH_A_POOL = 24
"""Files to read closely from which a second process pays for its start."""

WORTH_A_CACHE = 8
"""Files to read closely from which what was found before is looked for; a program of several files always is."""

LARGE_NOTEBOOK = 2 * 2**20
"""Bytes. Most of such a notebook is outputs: pictures in lines of millions of characters. Only its code is searched."""

FEW_FILES = 100
"""Files, named one by one, whose projects are looked through for the programs that they are part of. Where more are
named, nearly always whole projects are, and those that configure nothing lead nowhere else."""
KEPT = 32 * 1024 * 1024
"""Bytes of files that are kept from the first look to the second; what is beyond is read again."""
FEW = 40
"""Findings for which a report for people tells what the fix would do: more than that nobody reads one by one, and each
costs as much as checking a dozen files."""


def run(files: Iterable[tuple[str, bool]], job: Job) -> list[FileResult]:
    """The outcome of each file; the flag says whether it was named itself, in which case it is read even where its
    bytes say that it can't matter."""
    reset_project_caches()
    outcomes = _checked(files, job)
    return _finished(outcomes, job)


def _finished(outcomes: list[FileResult], job: Job) -> list[FileResult]:
    """What is the same for all files once they have been looked at."""
    explain_all(outcomes, job)
    if DOCSTRING in job.kinds:
        from tfmemlint.engine.embedded import add_examples

        for outcome in outcomes:
            add_examples(outcome, job)
    return outcomes


def _checked(files: Iterable[tuple[str, bool]], job: Job) -> list[FileResult]:
    items: list[Item] = []
    outcomes: list[FileResult] = []
    paths: list[str] = []
    documents: set[str] = set()
    texts: dict[str, bytes] = {}
    room = KEPT
    sets: dict[str, bool] = {}
    some_configure = False
    anywhere, in_any_file = job.reads_every_tensorflow_file, search_of_any_file(job.selected)
    files = list(files)
    known = screened(os.getcwd(), len(files), cache=job.cache)
    for path, named in files:
        try:
            data = read_bytes(path)
        except Unreadable as error:
            items.append(Item(path, None, error))
            continue
        kind = kind_of(os.path.basename(path)) or kind_of_text(data)
        if kind in DOCUMENTS:
            documents.add(path)
            said = known.ask(kind, data, scan_document)
            if said & MATTERS or (anywhere and said & ABOUT) or (named and b"\0" in data):
                items.append(Item(path, data, kind=kind))
            else:
                outcomes.append(FileResult(path))
            continue
        paths.append(path)
        notebook = path.endswith(NOTEBOOK)
        said = known.ask(kind or "", data, _scan_notebook if notebook else scan)
        some_configure = some_configure or bool(said & CONFIGURES)
        if not notebook:
            sets[os.path.normpath(path)] = bool(said & CONFIGURES)
        if room >= len(data):
            texts[os.path.normpath(path)] = data
            room -= len(data)
        wanted = said & MATTERS or (anywhere and said & ABOUT) or (said & NAMES_GPU and launches_of(job, path))
        told = in_any_file is not None and in_any_file(data)
        if wanted or told or (named and not _is_plain(path, data)):
            items.append(Item(path, data))
        else:
            outcomes.append(FileResult(path))
    known.save()
    if some_configure or len(paths) <= FEW_FILES:
        items = _with_programs(items, paths, texts, sets)
        among = {item.path for item in items}
        outcomes = [outcome for outcome in outcomes if outcome.path not in among]
    cache = cache_for(items, job)
    if not any(item.entry is not None for item in items):
        outcomes.extend(_all(items, job, cache))
        cache.save()
        return outcomes
    # What programs do in several files has to be known before the first of them is mended.
    from tfmemlint.engine import programs

    outcomes.extend(_all(items, dataclasses.replace(job, fix=False), cache))
    outcomes = programs.merge_program_results(outcomes, {*paths, *documents}, job, cache)
    cache.save()
    return [_mended(outcome, job) for outcome in outcomes] if job.fix else outcomes


def _scan_notebook(data: bytes) -> int:
    if len(data) > LARGE_NOTEBOOK:
        from tfmemlint.sources.notebook import decode_notebook

        with contextlib.suppress(Unreadable):
            return scan(decode_notebook("", data).text.encode("utf-8", "surrogatepass"))
    # The quotes in a notebook's code are escaped in its JSON.
    return scan(data.replace(b'\\"', b'"'))


def cache_for(items: list[Item], job: Job) -> Cache:
    """What earlier runs in this directory have found, where that saves more time than it takes."""
    from tfmemlint.engine.cache import Cache, open_cache

    if not job.cache or (len(items) < WORTH_A_CACHE and not any(item.entry is not None for item in items)):
        return Cache()
    from tfmemlint.rulekit.rule import rules

    modules = {getattr(sys.modules.get(type(rule).__module__), "__file__", None) for rule in rules()}
    return open_cache(os.getcwd(), (path for path in modules if path))


def key_of(path: str, data: bytes | str, job: Job) -> str:
    """By what name is kept what is found in a file by itself: all that it depends on."""
    from tfmemlint.engine.cache import digest

    codes = [rule.code for rule in rules_for(job.selection, path)]
    starts = [one.about for one in launches_of(job, path)]
    told: object = None
    if kind_of(os.path.basename(path)) in DOCUMENTS:
        from tfmemlint.engine.embedded import oldest_said

        told = job.target is not None, oldest_said(path, job)
    return digest("file", path, data, codes, target_of(job, path), job.gpu_memory_mib, starts, told)


def _with_known(item: Item, job: Job, cache: Cache) -> Item:
    """A file with what was found in it before, where it is known."""
    if cache.path is None or item.data is None:
        return item
    if item.entry is not None:
        from tfmemlint.engine import programs

        key = programs.key_of(item.entry, job)
    else:
        key = "" if job.fix or _asks_others(item) else key_of(item.path, item.data, job)
    return dataclasses.replace(item, key=key, known=cache.get(key) if key else None)


_VARIABLE = re.compile(rb"\b(?:TF|CUDA|XLA|NVIDIA|PYTORCH)_[A-Z]")


def _asks_others(item: Item) -> bool:
    """Whether other files of its project may tell what a variable in a file is for: it is set by a shell, or the
    like."""
    if item.kind in SETTINGS:
        return True
    return (item.kind in DOCUMENTS or item.path.endswith(NOTEBOOK)) and _VARIABLE.search(item.data or b"") is not None


def _remember(item: Item, outcome: FileResult, cache: Cache) -> None:
    if not item.key or item.known is not None:
        return
    if item.entry is None:
        # What failed may go well another time.
        if outcome.alone is not None and not any(one.code == INTERNAL_ERROR for one in outcome.alone):
            cache.put(item.key, outcome.alone)
    elif outcome.judged is not None:
        from tfmemlint.engine import programs

        if programs.is_told_by_key(outcome.judged):
            cache.put(item.key, outcome.judged)


def _mended(outcome: FileResult, job: Job) -> FileResult:
    """A file that was looked at already, fixed."""
    source = outcome.source
    if source is None or not any(finding.fixable for finding in outcome.findings):
        return outcome
    from tfmemlint.engine.fix_file import fixed

    if source.language != PYTHON:
        from tfmemlint.engine.embedded import looked

        return fixed(outcome, source, job, looked(outcome.path, job))
    if not outcome.programs:
        rules = rules_for(job.selection, outcome.path)
        return fixed(outcome, source, job, lambda text: check(text, job, rules))
    from tfmemlint.engine import programs
    from tfmemlint.interpreter import modules

    outcome = fixed(outcome, source, job, lambda text: programs.look(text, outcome.programs, job))
    if outcome.source is not None:
        modules.replaced(outcome.source)
    return outcome


def _with_programs(items: list[Item], paths: list[str], texts: dict[str, bytes], sets: dict[str, bool]) -> list[Item]:
    """The files to read closely, with the programs of several files that start there; and the files that such programs
    start in besides."""
    from tfmemlint.engine.find_programs import starting
    from tfmemlint.interpreter.modules import prepare

    starts = {entry.path: entry for entry in starting(prepare(paths), paths, texts, sets)}
    found = [dataclasses.replace(item, entry=starts.pop(os.path.normpath(item.path), None)) for item in items]
    for path, entry in starts.items():
        try:
            found.append(Item(path, read_bytes(path), entry=entry))
        except Unreadable:
            continue
    return found


def _all(items: list[Item], job: Job, cache: Cache) -> Iterator[FileResult]:
    items = [_with_known(item, job, cache) for item in items]
    made = _each([item for item in items if item.known is None], job)
    for item in items:
        outcome = next(made) if item.known is None else one(item, job)
        _remember(item, outcome, cache)
        yield outcome


def _each(items: list[Item], job: Job) -> Iterator[FileResult]:
    workers = min(os.cpu_count() or 1, 8)
    alone = job.fix and (job.ask is not None or job.prove is not None)
    if alone or len(items) < WORTH_A_POOL or workers < 2 or not hasattr(os, "fork"):
        for item in items:
            yield one(item, job)
        return
    import multiprocessing
    from concurrent.futures import ProcessPoolExecutor

    # Imported here, once: the workers are forks of this process.
    importlib.import_module("tfmemlint.interpreter.interpreter")
    from tfmemlint.rulekit.rule import rules

    rules()
    for item in items:
        # Known to all of them, and read once.
        target_of(job, item.path)
        launches_of(job, item.path)
    context = multiprocessing.get_context("fork")
    # Programs that start side by side have modules in common: one process goes through several of them.
    together = max(1, min(8, len(items) // (2 * workers)))
    with ProcessPoolExecutor(workers, mp_context=context) as pool:
        yield from pool.map(_one, [(item, job) for item in items], chunksize=together)


def _is_plain(path: str, data: bytes) -> bool:
    """Whether a file that can't matter is good Python: one that a person names is not passed over in silence."""
    import ast

    try:
        ast.parse(decode(path, data).text)
    except (Unreadable, SyntaxError, ValueError, RecursionError, MemoryError):
        return False
    return True


def _one(item: tuple[Item, Job]) -> FileResult:
    return one(*item)


def one(item: Item, job: Job) -> FileResult:
    """The outcome of one file that is read closely."""
    rules = rules_for(job.selection, item.path)
    outcome = FileResult(item.path, candidate=True)
    error = item.error
    if item.data is not None:
        try:
            if item.kind in DOCUMENTS:
                from tfmemlint.engine.embedded import judged

                return judged(outcome, item, job)
            source = decode(item.path, item.data)
        except Unreadable as found:
            error = found
    if item.data is None or error is not None:
        from tfmemlint.engine.check_source import unreadable

        assert error is not None
        outcome.findings = unreadable(item.path, error, rules)
        return outcome
    outcome.source = source
    if item.entry is not None:
        from tfmemlint.engine import programs

        return programs.begin(outcome, item.entry, job, item.known)
    if not job.fix:
        from tfmemlint.engine.check_source import dedupe_and_suppress, judge_source

        known = item.known if isinstance(item.known, list) else None
        if known is None:
            known = judge_source(
                source, rules, target_of(job, item.path), job.gpu_memory_mib, launches_of(job, item.path)
            )
        outcome.alone = known
        outcome.findings = drop_unselected_advice(dedupe_and_suppress(source, outcome.alone, rules), job)
        return outcome
    from tfmemlint.engine.fix_file import fixed

    return fixed(outcome, source, job, lambda text: check(text, job, rules))


def check(source: Source, job: Job, rules: list[Rule]) -> list[Finding]:
    """What ``rules`` say of a text; advice of a rule that isn't advice as a whole only where it was asked for."""
    from tfmemlint.engine.check_source import check_source

    target, starts = target_of(job, source.path), launches_of(job, source.path)
    return drop_unselected_advice(check_source(source, rules, target, job.gpu_memory_mib, starts), job)


def from_text(text: bytes, path: str, job: Job) -> FileResult:
    """The outcome of a text that is no file (standard input)."""
    reset_project_caches()
    kind = kind_of(os.path.basename(path)) or kind_of_text(text)
    job = dataclasses.replace(job, write=False)
    (outcome,) = _finished([one(Item(path, text, kind=kind), job)], job)
    return outcome


def explain_all(outcomes: list[FileResult], job: Job) -> None:
    """Say of what is left what a fix would do, or why there is none; where that is asked for."""
    if job.fix or job.explain_fixes == "never":
        return
    offered = sum(finding.fixable for outcome in outcomes for finding in outcome.findings)
    if offered and (job.explain_fixes != "few" or offered <= FEW):
        from tfmemlint.engine.fix_file import explain

        explain(outcomes, job)
