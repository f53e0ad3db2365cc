"""Whole programs: an entry point with all that it imports of its own project, and what is found in it."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from tfmemlint.engine.cache import digest
from tfmemlint.engine.job import FileResult, drop_unselected_advice, launches_of, rules_for, target_of
from tfmemlint.engine.run import key_of as file_key
from tfmemlint.interpreter import analyze
from tfmemlint.interpreter.modules import OwnModules, Texts, current
from tfmemlint.interpreter.program import Call, EnvWrite, Event, RuntimeStart
from tfmemlint.interpreter.unit import EntrySetup, ParsedModule
from tfmemlint.knowledge.environment import Moment, read_at
from tfmemlint.model.codes import RUN_CODES
from tfmemlint.model.finding import Finding, Span
from tfmemlint.project.entries import Entry
from tfmemlint.project.imports import scan
from tfmemlint.project.kinds import Kind
from tfmemlint.project.roots import search_path
from tfmemlint.sources import Source

if TYPE_CHECKING:
    from tfmemlint.engine.cache import Cache
    from tfmemlint.engine.job import Job
    from tfmemlint.rulekit.rule import Rule


@dataclass(frozen=True, slots=True)
class ProgramResult:
    """What was found in a program, in any of its files, whatever comments silence; and where it was not followed.

    ``reached``: the places of all that it does to the runtime and its configuration. ``failed``: why it was not
    followed at all, or "". ``read``: the files that it is made of.
    """

    entry: Entry
    findings: tuple[Finding, ...] = ()
    reached: frozenset[tuple[str, Span]] = frozenset()
    gave_up: tuple[str, ...] = ()
    failed: str = ""
    read: frozenset[str] = frozenset()

    @property
    def paths(self) -> set[str]:
        """The files in which it does something that matters."""
        return {self.entry.path, *(path for path, _ in self.reached), *(one.path for one in self.findings)}

    @property
    def known(self) -> bool:
        """Whether it is a program that really runs, and was followed to its end."""
        return self.entry.kind is not Kind.LIBRARY and not self.notes

    @property
    def notes(self) -> tuple[str, ...]:
        """Where it was not followed, for people."""
        return (*self.gave_up, *([self.failed] if self.failed else []))


def judge(entry: Entry, texts: Texts, job: Job) -> ProgramResult:
    """Go through the program that starts at ``entry``; never raises."""
    from tfmemlint.engine.check_source import judge_program
    from tfmemlint.rulekit.rule import rules

    text = texts.get(entry.path)
    if text is None:
        return ProgramResult(entry, failed="it can't be read")
    try:
        program = analyze(text, target_of(job, entry.path), _run(entry, text, texts))
        program.gpu_memory_mib = job.gpu_memory_mib
    except (RecursionError, MemoryError):
        return ProgramResult(entry, failed="it is nested too deeply")
    except Exception as error:  # one program must not take the run with it; its files are judged on their own
        return ProgramResult(entry, failed=f"{type(error).__name__}: {error}")
    across = [rule for rule in rules() if rule.whole_program]
    found = list(judge_program(program, across))
    found += _where_started(entry, text, texts, job, across, found)
    reached = frozenset((one.path, one.span) for one in program.events if _matters(one))
    texts.done(program)
    return ProgramResult(entry, tuple(found), reached, tuple(program.gave_up), read=program.modules)


def _where_started(
    entry: Entry, text: ParsedModule, texts: Texts, job: Job, rules: Sequence[Rule], found: Sequence[Finding]
) -> list[Finding]:
    """What is found besides where a configuration file starts the program."""
    starts = launches_of(job, entry.path)
    if not starts:
        return []
    from tfmemlint.engine.check_launches import started
    from tfmemlint.engine.check_source import judge_program

    target, run = target_of(job, entry.path), _run(entry, text, texts)

    def judged(writes: tuple[EnvWrite, ...], concerned: Sequence[Rule]) -> Iterator[Finding]:
        return judge_program(analyze(text, target, replace(run, environment=writes)), concerned)

    return list(started(text.source.path, found, starts, rules, judged))


def _matters(event: Event) -> bool:
    """Whether an event is one that a rule about whole programs may speak of."""
    if isinstance(event, Call):
        return event.name.startswith("tf.config.") or event.effect is not None
    if isinstance(event, EnvWrite):
        return read_at(event.name) not in (None, Moment.IMPORT)
    return isinstance(event, RuntimeStart) and event.what == "allocator"


def key_of(entry: Entry, job: Job) -> str:
    """By what name is kept what is found in a program: all that it depends on."""
    texts = current()
    contents, setting = texts.contents.get(entry.path), texts.setting
    if contents is None or setting is None:
        return ""
    search = search_path(entry.path, kind=entry.kind, listings=texts.listings)
    places = {os.path.dirname(os.path.abspath(path)) for path in contents}.union(search.directories)
    listings = [(place, *texts.listings.of(place).summary) for place in sorted(places)]
    files = sorted((path, texts.called(path), content) for path, content in contents.items())
    leading = [setting.of(path) for path, _, _ in files]
    return digest(
        *("program", entry, target_of(job, entry.path), job.gpu_memory_mib, search.about, listings, files, leading),
        [one.about for one in launches_of(job, entry.path)],
    )


def is_told_by_key(judged: ProgramResult) -> bool:
    """Whether nothing was gone through but what `key_of` knows of: not where the name of a module is computed."""
    texts = current()
    known = {texts.called(path) for path in texts.contents.get(judged.entry.path, ())}
    return not judged.failed and judged.read <= known


def begin(outcome: FileResult, entry: Entry, job: Job, known: object = None) -> FileResult:
    """The outcome of the file that a program starts in, as far as that program goes, and what is found in that file by
    itself; ``known`` if the program was gone through before."""
    if isinstance(known, ProgramResult):
        judged = known
    else:
        texts = current()
        texts.make_room(texts.contents.get(entry.path, ()))
        judged = judge(entry, texts, job)
        if outcome.source is not None:
            outcome.alone = _alone(outcome.source, job, texts.get(entry.path))
    outcome.judged, outcome.notes, outcome.programs = judged, judged.notes, (entry,)
    return outcome


def merge_program_results(outcomes: list[FileResult], named: set[str], job: Job, cache: Cache) -> list[FileResult]:
    """Give each file what all programs do in it.

    Of the files that nobody named, those are among the outcomes that a named one makes do what they don't do by
    themselves.
    """
    known = {outcome.path: outcome for outcome in outcomes if outcome.path in named}
    doing: dict[str, list[ProgramResult]] = {}
    for outcome in outcomes:
        for path in outcome.judged.paths if outcome.judged is not None else ():
            if outcome.path in named or path in named:
                doing.setdefault(path, []).append(outcome.judged)  # type: ignore[arg-type]
    for path, programs in sorted(doing.items()):
        outcome = known.get(path) or FileResult(path, candidate=True)
        if outcome.source is None:
            text = current().get(path)
            outcome.source = text.source if text is not None else None
        if outcome.source is None:
            continue
        alone = _known_alone(outcome.source, job, cache, outcome.alone)
        found = _of_file(outcome.source, programs, alone)
        if path not in known:
            own = {(one.code, one.span) for one in alone}
            found = [one for one in found if (one.code, one.span) not in own]
        outcome.programs = tuple(one.entry for one in programs)
        outcome.findings = _said(outcome.source, found, job)
        if outcome.findings:
            known[path] = outcome
    return list(known.values())


def look(source: Source, entries: Sequence[Entry], job: Job) -> list[Finding]:
    """What is found in a file if it has the text of ``source``, by itself and in the programs that start at
    ``entries``."""
    texts = current().with_instead({source.path: source})
    judged = [judge(entry, texts, job) for entry in entries]
    return _said(source, _of_file(source, judged, _alone(source, job)), job)


def _of_file(source: Source, programs: Sequence[ProgramResult], alone: Sequence[Finding]) -> list[Finding]:
    """What is found in one file: what programs do in it, and what it is by itself. Where a program that really runs
    comes to a place, it is known what happens there; what might happen if another one came there is no matter."""
    from tfmemlint.rulekit.rule import rules

    across = {rule.code for rule in rules() if rule.whole_program}
    own = any(current().called(one.entry.path) == source.path and not one.notes for one in programs)
    reached = {span for one in programs if one.known for path, span in one.reached if path == source.path}
    found = [one for one in alone if one.code not in across or not (own or one.span in reached)]
    for judged in programs:
        here = (one for one in judged.findings if one.path == source.path)
        found.extend(one for one in here if judged.known or one.span not in reached)
    return found


def sources(paths: Iterable[str]) -> dict[str, Source]:
    """The texts of modules that programs have imported, by what they are called."""
    texts = {path: current().get(path) for path in paths}
    return {path: text.source for path, text in texts.items() if text is not None}


def _known_alone(source: Source, job: Job, cache: Cache, known: list[Finding] | None) -> list[Finding]:
    """What a file is by itself: ``known`` by now, or from before."""
    key = file_key(source.path, source.text, job) if cache.path is not None else ""
    found = cache.get(key) if key and known is None else known
    if not isinstance(found, list):
        found = _alone(source, job, current().get(source.path))
    elif known is None:
        return found
    if key:
        cache.put(key, found)
    return found


def _alone(source: Source, job: Job, parsed: ParsedModule | None = None) -> list[Finding]:
    from tfmemlint.engine.check_source import judge_source

    rules = rules_for(job.selection, source.path)
    own = parsed if parsed is not None and parsed.source.text == source.text else None
    target = target_of(job, source.path)
    return judge_source(source, rules, target, job.gpu_memory_mib, launches_of(job, source.path), own)


def _said(source: Source, found: Sequence[Finding], job: Job) -> list[Finding]:
    from tfmemlint.engine.check_source import dedupe_and_suppress

    rules = rules_for(job.selection, source.path)
    codes = {rule.code for rule in rules} | RUN_CODES
    return drop_unselected_advice(dedupe_and_suppress(source, [one for one in found if one.code in codes], rules), job)


def _run(entry: Entry, text: ParsedModule, texts: Texts) -> EntrySetup:
    package: str | None = entry.module.rpartition(".")[0]
    if entry.path.endswith("__init__.py"):
        package = entry.module
    data = text.source.text.encode("utf-8", "surrogatepass")
    inside = entry.kind is not Kind.SCRIPT or any(one.level for one in scan(data))
    search = search_path(entry.path, kind=entry.kind, listings=texts.listings)
    modules = OwnModules(search, texts)
    if entry.kind in (Kind.SCRIPT, Kind.MAIN_MODULE):
        return EntrySetup(modules, package=(package or None) if inside else None)
    before = tuple(one for path in entry.conftests if path != entry.path and (one := texts.get(path)) is not None)
    return EntrySetup(modules, entry.module, package or None, before, entry.function)
