"""A program with all that it imports of its own project, read as a whole for `plan` and `verify`."""

from __future__ import annotations

import contextlib
import os
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import field, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from tfmemlint.engine.check_launches import as_started, findings_by_default
from tfmemlint.engine.entry_points import entry_at
from tfmemlint.engine.entry_setup import entry_setup, package_of
from tfmemlint.engine.project_files import files_of_project
from tfmemlint.engine.run_rules import run_rules
from tfmemlint.engine.suppress import dedupe
from tfmemlint.facts.leading import Leading
from tfmemlint.facts.mentions import CONFIGURES
from tfmemlint.interpreter import analyze
from tfmemlint.interpreter.modules import ModuleStore, ProgramModules, mentions_of
from tfmemlint.interpreter.program import Program
from tfmemlint.interpreter.unit import EntrySetup, ParsedModule
from tfmemlint.interpreter.values import Const
from tfmemlint.knowledge.configuring import INTENT_WORDS
from tfmemlint.knowledge.releases import Target
from tfmemlint.model.codes import INTERNAL_ERROR
from tfmemlint.model.finding import Finding, Severity
from tfmemlint.model.records import dataclass
from tfmemlint.project.entries import Entry
from tfmemlint.project.imports import Imported, scan
from tfmemlint.project.kinds import Kind
from tfmemlint.project.listing import Listings, called, graph_name
from tfmemlint.project.roots import package_root, project_root, search_path
from tfmemlint.project.search import SearchPath, locate_relative
from tfmemlint.sources import Source, Unreadable, decode
from tfmemlint.sources.line_map import Rows

if TYPE_CHECKING:
    from tfmemlint.deployment.launches import Launch
    from tfmemlint.interpreter.program import EnvWrite

MAX_SEARCHED_MODULES = 2_000
"""Modules of a program whose mentions are looked up: reading one of Keras's takes 0.5 ms, before its imports are."""
_ASKS = re.compile(rf"{CONFIGURES.pattern}|(?i:{'|'.join(INTENT_WORDS)})")
"""Finds code that may ask for something of a GPU's memory."""


def _find_leading(path: str, text: str, search: SearchPath, store: ModuleStore) -> Leading:
    """Return what leads to code that asks for GPU memory, among all modules that a program may import."""
    found = Leading(_ASKS.search)
    pending, known = [(path, text)], {path}
    while pending:
        path, text = pending.pop()
        imports = scan(text.encode("utf-8", "surrogatepass"))
        leads = set()
        for located in _locate(path, imports, search, store.listings):
            name = called(located)
            leads.add(graph_name(name))
            if name not in known and len(known) < MAX_SEARCHED_MODULES:
                known.add(name)
                with contextlib.suppress(Unreadable):
                    pending.append((name, decode(name, store.read(located)).text))
        found.add(graph_name(path), mentions_of(text, imports), leads)
    found.settle()
    return found


def _locate(path: str, imports: Sequence[Imported], search: SearchPath, listings: Listings) -> Iterator[str]:
    """Yield the files of the project's own modules that imports in the file at ``path`` may mean."""
    own = package_root(path, listings)[1]
    package = own if path.endswith("__init__.py") else own.rpartition(".")[0]
    for imported in imports:
        base = locate_relative(package, imported.level, imported.module) if imported.level else imported.module
        for name in (base, *(f"{base}.{name}" for name in imported.names)) if base else ():
            located = search.locate(name)
            if located is not None and located.path is not None:
                yield located.path


@dataclass(frozen=True, slots=True)
class Whole:
    """A program that was gone through.

    Attributes:
        program: what happens in it; its places are rows of ``rows``. rows: of all its files.
        files: its own modules but the one that is run, by their absolute paths.
        package: what relative imports in the file that is run start from; None where they can't work.
        imported: the modules that are imported before that file is run. path: where its modules are looked for.
        function: what is called at the end, as a console script does it, or "". tops: the first parts of the names of
        its modules. environment: the variables that it is started with, as events in rows of ``rows``.
        without_arguments: goes through it once more, as it is started without arguments and variables.
    """

    program: Program
    rows: Rows
    files: dict[str, ParsedModule] = field(default_factory=dict)
    package: str | None = None
    imported: tuple[str, ...] = ()
    path: tuple[str, ...] = ()
    function: str = ""
    tops: frozenset[str] = frozenset()
    environment: tuple[EnvWrite, ...] = ()
    without_arguments: Callable[[], Program] | None = field(default=None, compare=False)

    @property
    def variables(self) -> dict[str, str]:
        """The variables that it is started with, where their values are known."""
        return {write.name: str(write.value.value) for write in self.environment if isinstance(write.value, Const)}

    def is_own(self, top: str) -> bool:
        """Return True if a module whose name begins so is one of the program's."""
        return top in self.tops


def whole_of(
    source: Source,
    target: Target,
    *,
    alone: bool = False,
    begun: Launch | None = None,
    open_texts: Mapping[str, bytes] | None = None,
) -> Whole:
    """The program that starts in a file, with all that it imports of its own project.

    Args:
        source: the file, which need not be there: then it has no project. alone: follow no import. open_texts:
        the contents of files in place of those on disk (`ModuleStore.open_texts`).
        begun: how a configuration file starts it; None for a start by hand, with no variables set.

    Raises:
        SyntaxError, ValueError: the text isn't Python 3. RecursionError: it is nested too deeply.
    """
    rows = Rows(source)
    given = _given(begun, rows) if begun is not None else ()
    whole = _with_modules(source, target, rows, given, open_texts or {}, alone=alone)
    return replace(whole, environment=given)


def _given(begun: Launch, rows: Rows) -> tuple[EnvWrite, ...]:
    """The variables of a start, in rows of the program: the files that set them stand below its own."""
    from tfmemlint.deployment.launches import text_of

    above: dict[str, int] = {}
    found = []
    for write in begun.writes:
        if write.path not in above:
            try:
                rows.below(Source(write.path, text_of(write.path)))
            except Unreadable:
                continue
            above[write.path] = rows.firsts[-1]
        span, statement = (place.lower(above[write.path]) for place in (write.span, write.statement))
        found.append(replace(write, span=span, statement=statement, key=None, given=None))
    return tuple(found)


def _with_modules(
    source: Source,
    target: Target,
    rows: Rows,
    environment: tuple[EnvWrite, ...],
    open_texts: Mapping[str, bytes],
    *,
    alone: bool,
) -> Whole:
    data = source.text.encode("utf-8", "surrogatepass")
    is_file = os.path.abspath(source.path) in open_texts or Path(source.path).is_file()
    imports = scan(data) if is_file and not alone else ()
    listings = Listings()
    entry = entry_at(source.path, data, listings) if imports else None
    by_itself = EntrySetup(environment=environment) if environment else EntrySetup()

    def read_by_itself() -> Whole:
        plain = partial(analyze, source, target, as_started(by_itself, None))
        return Whole(analyze(source, target, by_itself), rows, without_arguments=plain)

    if entry is None:
        return read_by_itself()
    relative = any(imported.level for imported in imports)
    search = search_path(entry.path, kind=entry.kind, listings=listings)
    if entry.kind is Kind.SCRIPT and not relative:
        search = search.certain()  # it is this file that is run
    if not (relative or entry.conftests or any(search.locate(imported.module.split(".")[0]) for imported in imports)):
        return read_by_itself()
    store = ModuleStore(open_texts=open_texts, arrange=rows.below, listings=listings, shares_summaries=False)
    store.find_leading = lambda: _find_leading(rows.main.path, rows.main.text, search, store)
    store.find_universe = lambda: files_of_project(project_root(rows.main.path, listings))
    modules = ProgramModules(search, store)
    setup = replace(entry_setup(entry, modules, has_relative_imports=relative), environment=environment)
    program = analyze(source, target, setup)
    files = {os.path.normpath(Path.cwd() / name): module for name, module in store.parsed.items()}
    tops = frozenset(name.partition(".")[0] for name in modules.found)
    if not files:
        return read_by_itself()
    # As a part of its package it doesn't find what lies beside it by plain names.
    beside = str(Path(entry.path).absolute().parent) if setup.package is not None else ""
    places = tuple(place for place in search.directories if place != beside)
    imported = _imported_before(entry, has_relative_imports=relative)
    return Whole(
        program,
        rows,
        files,
        setup.package,
        imported,
        places,
        entry.function or "",
        tops,
        without_arguments=partial(analyze, source, target, as_started(setup, None)),
    )


def _imported_before(entry: Entry, *, has_relative_imports: bool) -> tuple[str, ...]:
    """Return the names of the modules that are imported before the file that a program starts in."""
    package = package_of(entry)
    if entry.kind is Kind.SCRIPT and not has_relative_imports:
        return ()
    if entry.kind in (Kind.SCRIPT, Kind.MAIN_MODULE):
        return (package,) if package else ()
    names = tuple(package_root(path)[1] for path in entry.conftests if path != entry.path)
    return (*names, *((package,) if package and package != entry.module else ()))


def findings_of(whole: Whole) -> list[Finding]:
    """Return the findings of the rules in a program, silenced ones included: a silenced call is still too late.

    Rules that are about what a program does as a whole look at all of it; for all else, each module is judged on its
    own.
    """
    from tfmemlint.rulekit.rule import rules

    spoken = [rule for rule in rules() if rule.severity is not Severity.ADVICE]
    own = [rule for rule in spoken if not rule.whole_program]
    found = list(run_rules(whole.program, spoken))
    if whole.without_arguments is not None and not whole.environment:
        found += findings_by_default(whole.program, found, spoken, whole.without_arguments)
    for module in whole.files.values():
        program = analyze(module, whole.program.target)
        program.gpu_memory_mib = whole.program.gpu_memory_mib
        found.extend(run_rules(program, own))
    # A rule that fails says nothing here: `check` reports it.
    return dedupe([finding for finding in found if finding.code != INTERNAL_ERROR], spoken)
