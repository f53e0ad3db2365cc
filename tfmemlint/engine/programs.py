"""Whole programs: an entry point with all that it imports of its own project, and what is found in it."""

from __future__ import annotations

import contextlib
import dataclasses
import os
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

from tfmemlint.engine.cache import digest
from tfmemlint.engine.check_launches import as_started, findings_at_launches, findings_by_default
from tfmemlint.engine.config_files import content_of, named_config_files
from tfmemlint.engine.context import RunContext
from tfmemlint.engine.entry_setup import entry_setup
from tfmemlint.engine.results import NOT_PARSED, ProgramResult, WayTo
from tfmemlint.engine.run_rules import run_rules
from tfmemlint.engine.unclaimed import reached_in_modules
from tfmemlint.interpreter import analyze
from tfmemlint.interpreter.modules import ProgramModules
from tfmemlint.interpreter.program import Call, EnvWrite, Event, OptionStored, Program, ProtoMade, RuntimeStart
from tfmemlint.knowledge.environment import Moment, read_at
from tfmemlint.project.entries import Entry
from tfmemlint.project.imports import scan
from tfmemlint.project.kinds import Kind
from tfmemlint.project.roots import search_path
from tfmemlint.sources import Unreadable

if TYPE_CHECKING:
    from tfmemlint.deployment.launches import Launch
    from tfmemlint.interpreter.unit import EntrySetup, ParsedModule


def analyze_program(entry: Entry, context: RunContext) -> ProgramResult:
    """Return what is found in the program that starts at ``entry``; never raises."""
    from tfmemlint.rulekit.rule import rules

    context = context.at(entry.path)
    module = context.modules.get(entry.path)
    if module is None:
        return ProgramResult(entry, failed=NOT_PARSED)
    circle = context.modules.circles.get(entry.path)
    if circle is not None:
        return ProgramResult(entry, failed=f"it is one of {circle} modules that import each other in circles")
    target = context.target_of(entry.path)
    try:
        launches = context.launches_of(entry.path)
        setup = setup_of(entry, module, context)
        if not launches:
            setup = dataclasses.replace(setup, settled_by=context.modules.settled_by.get(entry.path, frozenset()))
        program = analyze(module, target, setup)
        program.gpu_memory_mib = context.gpu_memory_mib
    except (RecursionError, MemoryError):
        return ProgramResult(entry, failed="it is nested too deeply")
    except Exception as error:  # one program must not take the run with it; its files are judged on their own
        return ProgramResult(entry, failed=f"{type(error).__name__}: {error}")
    whole_program_rules = [rule for rule in rules() if rule.whole_program]
    found = reached_in_modules(program, list(run_rules(program, whole_program_rules)), whole_program_rules)

    def analyze_with(launch: Launch | None) -> Program:
        result = analyze(module, target, as_started(setup_of(entry, module, context), launch))
        result.gpu_memory_mib = context.gpu_memory_mib
        return result

    besides = list(findings_at_launches(module.source.path, found, launches, whole_program_rules, analyze_with))
    if entry.kind not in (Kind.TEST, Kind.LIBRARY) and not program.gave_up:
        # Nobody starts the others by themselves; one that was not followed to its end would not be this time, either.
        before = [*found, *besides]
        besides += findings_by_default(program, before, whole_program_rules, lambda: analyze_with(None))
    found += reached_in_modules(program, besides, whole_program_rules)
    events = [event for event in program.events if _matters(event)]
    reached = frozenset((event.path, event.span) for event in events)
    # The functions of a file of tests are called by pytest.
    called = entry.kind is Kind.TEST
    ways = frozenset(_way_to(event) for event in events if called or not event.state.entry_unknown)
    context.modules.release(program)
    return ProgramResult(
        entry,
        tuple(found),
        reached,
        tuple(program.gave_up),
        read=program.modules,
        ways=ways,
        config_files=program.config_files,
        missed=program.missed,
    )


def _way_to(event: Event) -> WayTo:
    return event.path, event.span, tuple((frame.path, frame.span) for frame in event.frames)


def setup_of(entry: Entry, module: ParsedModule, context: RunContext) -> EntrySetup:
    """Return how the program that starts at ``entry``, in the file of ``module``, is run."""
    imports = scan(module.source.text.encode("utf-8", "surrogatepass"))
    search = search_path(entry.path, kind=entry.kind, listings=context.modules.listings)
    modules = ProgramModules(search, context.modules)
    return entry_setup(entry, modules, has_relative_imports=any(each.level for each in imports))


def _matters(event: Event) -> bool:
    """True if a rule about whole programs may report something at an event."""
    if isinstance(event, Call):
        return event.name.startswith("tf.config.") or event.effect is not None
    if isinstance(event, EnvWrite):
        return read_at(event.name) not in (None, Moment.IMPORT)
    if isinstance(event, ProtoMade):
        return bool(event.fields)
    if isinstance(event, OptionStored):
        return True
    return isinstance(event, RuntimeStart) and event.what == "allocator"


def program_key(entry: Entry, context: RunContext) -> str:
    """Return the name under which the result of a program is cached: all that it depends on; "" if that isn't known."""
    contents = context.modules.contents.get(entry.path)
    return "" if contents is None else _key("program", entry, context.at(entry.path), contents)


def wider_key(entry: Entry, context: RunContext) -> str:
    """Return such a name that has all files of the projects in it: for a program that computes names of modules."""
    store = context.modules
    if store.contents.get(entry.path) is None:
        return ""
    for path in store.universe:
        if path not in store.digests:
            try:
                store.digests[path] = content_of(path, store.read(path))
            except Unreadable:
                store.digests[path] = ""
    return _key(
        "program of any files", entry, context.at(entry.path), {path: store.digests[path] for path in store.universe}
    )


def _key(kind: str, entry: Entry, context: RunContext, contents: Mapping[str, str]) -> str:
    store, leading = context.modules, context.modules.leading
    if leading is None:
        return ""
    search = search_path(entry.path, kind=entry.kind, listings=store.listings)
    places = {os.path.abspath(place) for place in {os.path.dirname(path) for path in contents}}
    places.update(search.directories)
    listings = [(place, *store.listings.of(place).summary) for place in sorted(places)]
    files = sorted((path, store.name_of(path), content) for path, content in contents.items())
    leads = [leading.of(path) for path, _, _ in files]
    target = context.target_of(entry.path)
    launches = [launch.about for launch in context.launches_of(entry.path)]
    return digest(kind, entry, target, context.gpu_memory_mib, search.about, listings, files, leads, launches)


def _config_files(paths: Iterable[str], context: RunContext) -> frozenset[str]:
    """Return the configuration files that modules may mean by the names in their texts."""
    found: set[str] = set()
    for path in paths:
        with contextlib.suppress(Unreadable):
            found |= named_config_files(path, context.modules.read(path))
    return frozenset(found)


def is_covered_by_key(result: ProgramResult, context: RunContext) -> bool:
    """True if `program_key` knows of all files that were read, or would be if they were there: not where the name of a
    module is computed."""
    return not result.missed and _is_covered(result, context, context.modules.contents.get(result.entry.path, ()))


def is_covered_by_wider_key(result: ProgramResult, context: RunContext) -> bool:
    """True if `wider_key` knows of all files that were read."""
    return _is_covered(result, context, context.modules.universe)


def _is_covered(result: ProgramResult, context: RunContext, paths: Iterable[str]) -> bool:
    if result.config_files and not result.config_files <= _config_files(paths, context):
        return False
    return not result.failed and result.read <= {context.modules.name_of(path) for path in paths}
