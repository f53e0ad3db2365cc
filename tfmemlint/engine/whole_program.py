"""A program with all that it imports of its own project, read as a whole for `plan` and `verify`."""

from __future__ import annotations

import contextlib
import os
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

from tfmemlint.facts.mentions import CONFIGURES, Leading, Mentions, Piece
from tfmemlint.interpreter import analyze, parse
from tfmemlint.interpreter.modules import find
from tfmemlint.interpreter.program import Program
from tfmemlint.interpreter.unit import EntrySetup, ModuleSummary, ParsedModule, ResolvedModule
from tfmemlint.interpreter.values import Const
from tfmemlint.knowledge.configuring import INTENT_WORDS
from tfmemlint.knowledge.releases import Target
from tfmemlint.model.finding import Finding
from tfmemlint.project.entries import Entry, console_scripts, entry_of
from tfmemlint.project.imports import Imported, scan
from tfmemlint.project.kinds import Kind
from tfmemlint.project.listing import Listings, called
from tfmemlint.project.roots import package_root, project_root, search_path
from tfmemlint.project.search import SearchPath, locate_relative
from tfmemlint.sources import Source, Unreadable, decode, read_bytes
from tfmemlint.sources.line_map import Rows

if TYPE_CHECKING:
    from tfmemlint.deployment.launches import Launch
    from tfmemlint.interpreter.program import EnvWrite

MOST_FILES = 2_000
"""Files of a project of which it is looked up what they mention."""
_ASKS = re.compile(rf"{CONFIGURES.pattern}|(?i:{'|'.join(INTENT_WORDS)})")
"""Finds code that may ask for something of a GPU's memory."""


@dataclass(slots=True)
class _Modules:
    """Where a program finds the modules of its project; each is read when it is first asked for."""

    search: SearchPath
    rows: Rows
    texts: dict[str, ParsedModule | None] = field(default_factory=dict)
    asked: set[str] = field(default_factory=set)
    quiet: dict[int, bool] = field(default_factory=dict)
    search_listings: Listings = field(default_factory=Listings)
    _leading: Leading | None = None

    def sets(self, path: str, name: str, lines: Sequence[str]) -> bool:
        """Whether a function of the module at ``path`` may configure a GPU, or ask for anything of its memory, by the
        names that it mentions."""
        if self._leading is None:
            self._leading = self._all_leading()
        piece = Piece(name, "\n".join(lines))
        return self._leading.is_about(piece) or self._leading.mentioned(piece, path)

    def _all_leading(self) -> Leading:
        """What leads to such code, among all modules that the program may import."""
        found = Leading(_ASKS)
        pending, known = [(self.rows.main.path, self.rows.main.text)], {self.rows.main.path}
        while pending:
            path, text = pending.pop()
            imports = scan(text.encode("utf-8", "surrogatepass"))
            leads = set()
            for located in self._located(path, imports):
                name = called(located)
                leads.add(name)
                if name not in known and len(known) < MOST_FILES:
                    known.add(name)
                    with contextlib.suppress(Unreadable):
                        pending.append((name, decode(name, read_bytes(located)).text))
            names = {part for one in imports for part in (*one.module.split("."), *one.names) if part}
            found.add(path, Mentions(text, names), leads)
        found.settle()
        return found

    def _located(self, path: str, imports: Sequence[Imported]) -> Iterator[str]:
        """The files of the project's own modules that imports in the file at ``path`` may mean."""
        own = package_root(path, self.search_listings)[1]
        package = own if path.endswith("__init__.py") else own.rpartition(".")[0]
        for one in imports:
            base = locate_relative(package, one.level, one.module) if one.level else one.module
            for name in (base, *(f"{base}.{name}" for name in one.names)) if base else ():
                located = self.search.locate(name)
                if located is not None and located.path is not None:
                    yield located.path

    def kept(self, name: str) -> ModuleSummary | None:
        """Nothing is known from earlier programs: this one has rows of its own."""
        return None

    def keep(self, name: str, kept: ModuleSummary) -> None:
        """Nothing is kept for later ones."""

    def place(self, name: str) -> object:
        """Where the module of this absolute name is; None where it is not the project's own, or can't be told."""
        return self.search.locate(name)

    def find(self, name: str) -> ResolvedModule | None:
        """The module of this absolute name; None where it is not the project's own, or can't be told."""
        found = find(name, self.search, self.get)
        if found is not None:
            self.asked.add(name)
        return found

    def get(self, path: str) -> ParsedModule | None:
        """The module in this file; None where it can't be read."""
        real = os.path.normpath(Path.cwd() / path)
        if real not in self.texts:
            self.texts[real] = self._read(real)
        return self.texts[real]

    def _read(self, path: str) -> ParsedModule | None:
        name = called(path)
        try:
            source = decode(name, read_bytes(path))
            parse(source)  # before it gets rows of its own
            return parse(self.rows.below(source))
        except (Unreadable, SyntaxError, ValueError, RecursionError, MemoryError):
            return None


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

    @property
    def variables(self) -> dict[str, str]:
        """The variables that it is started with, where their values are known."""
        return {one.name: str(one.value.value) for one in self.environment if isinstance(one.value, Const)}

    def is_own(self, top: str) -> bool:
        """Whether a module whose name begins so is one of the program's."""
        return top in self.tops


def whole_of(source: Source, target: Target, *, alone: bool = False, begun: Launch | None = None) -> Whole:
    """The program that starts in a file, with all that it imports of its own project.

    Args:
        source: the file, which need not be there: then it has no project. alone: follow no import.
        begun: how a configuration file starts it; None for a start by hand, with no variables set.

    Raises:
        SyntaxError, ValueError: the text isn't Python 3. RecursionError: it is nested too deeply.
    """
    rows = Rows(source)
    given = _given(begun, rows) if begun is not None else ()
    whole = _with_modules(source, target, rows, given, alone=alone)
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
        span, statement = (one.lower(above[write.path]) for one in (write.span, write.statement))
        found.append(replace(write, span=span, statement=statement, key=None, given=None))
    return tuple(found)


def _with_modules(
    source: Source, target: Target, rows: Rows, environment: tuple[EnvWrite, ...], *, alone: bool
) -> Whole:
    data = source.text.encode("utf-8", "surrogatepass")
    imports = () if alone or not Path(source.path).is_file() else scan(data)
    listings = Listings()
    entry = entry_at(source.path, data, listings) if imports else None
    by_itself = EntrySetup(environment=environment) if environment else None
    if entry is None:
        return Whole(analyze(source, target, by_itself), rows)
    relative = any(one.level for one in imports)
    search = search_path(entry.path, kind=entry.kind, listings=listings)
    if entry.kind is Kind.SCRIPT and not relative:
        search = search.certain()  # it is this file that is run
    if not (relative or entry.conftests or any(search.locate(one.module.split(".")[0]) for one in imports)):
        return Whole(analyze(source, target, by_itself), rows)
    modules = _Modules(search, rows, search_listings=listings)
    run, imported = _run(entry, modules, relative=relative)
    run = replace(run, environment=environment)
    program = analyze(source, target, run)
    files = {path: text for path, text in modules.texts.items() if text is not None}
    tops = frozenset(name.partition(".")[0] for name in modules.asked)
    if not files:
        return Whole(analyze(source, target, by_itself), rows)
    # As a part of its package it doesn't find what lies beside it by plain names.
    beside = str(Path(entry.path).absolute().parent) if run.package is not None else ""
    places = tuple(place for place in search.directories if place != beside)
    return Whole(program, rows, files, run.package, imported, places, entry.function or "", tops)


def entry_at(path: str, data: bytes, listings: Listings) -> Entry:
    """How the program is run that starts in a file: as it says, by a command of its project, or by its functions."""
    entry = entry_of(path, data, listings)
    if entry is not None:
        return entry
    module = package_root(path, listings)[1]
    for owner, function in console_scripts(project_root(path, listings)):
        if owner == module:
            return Entry(Kind.CONSOLE, path, module, function)
    return Entry(Kind.LIBRARY, path, module)


def _run(entry: Entry, modules: _Modules, *, relative: bool) -> tuple[EntrySetup, tuple[str, ...]]:
    """How a program is run, and the modules that are imported before the file that it starts in."""
    package = entry.module if entry.path.endswith("__init__.py") else entry.module.rpartition(".")[0]
    if entry.kind is Kind.SCRIPT and not relative:
        return EntrySetup(modules), ()
    if entry.kind in (Kind.SCRIPT, Kind.MAIN_MODULE):
        return EntrySetup(modules, package=package or None), (package,) if package else ()
    conftests = [path for path in entry.conftests if path != entry.path]
    before = tuple(text for path in conftests if (text := modules.get(path)) is not None)
    names = tuple(package_root(path)[1] for path in conftests)
    run = EntrySetup(modules, entry.module, package or None, before, entry.function)
    return run, (*names, *((package,) if package and package != entry.module else ()))


def findings_of(whole: Whole) -> list[Finding]:
    """What the rules say of a program, whatever comments silence: what is silenced comes too late all the same.

    Rules that are about what a program does as a whole look at all of it; for all else, each module is judged on its
    own.
    """
    from tfmemlint.engine.check_source import dedupe
    from tfmemlint.model.finding import Severity
    from tfmemlint.rulekit.rule import rules

    spoken = [rule for rule in rules() if rule.severity is not Severity.ADVICE]
    found: list[Finding] = []
    programs = [(whole.program, True), *((analyze(one, whole.program.target), False) for one in whole.files.values())]
    for program, is_whole in programs:
        program.gpu_memory_mib = whole.program.gpu_memory_mib
        for rule in spoken:
            if rule.whole_program and not is_whole:
                continue
            try:
                found.extend(
                    one for one in rule.check(program) if rule.whole_program or one.path == program.source.path
                )
            except Exception:  # a rule that fails says nothing here; `check` reports it
                continue
    return dedupe(found, {rule.code: rule for rule in spoken})
