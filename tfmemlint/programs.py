"""Whole programs: an entry point with all that it imports of its own project, and what is found in it."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from tfmemlint.cache import digest
from tfmemlint.engine import RUN_CODES
from tfmemlint.facts.mentions import CONFIGURES, Leading, Mentions, Piece
from tfmemlint.finding import Finding, Span
from tfmemlint.flow import analyze, parse
from tfmemlint.flow.program import Call, EnvWrite, Event, Program, Start
from tfmemlint.flow.unit import Found, Kept, Run, Text, Unit
from tfmemlint.job import Outcome, asked_for, enabled, starts_of, target_of
from tfmemlint.knowledge.environment import Moment, read_at
from tfmemlint.project.entries import Entry, console_scripts, entry_of, is_test, says_so
from tfmemlint.project.imports import scan
from tfmemlint.project.kinds import Kind
from tfmemlint.project.listing import Listings
from tfmemlint.project.reaching import LARGEST_PROJECT, Graph, graph
from tfmemlint.project.roots import conftests, package_root, project_root, search_path
from tfmemlint.run import FEW_FILES
from tfmemlint.run import key_of as file_key
from tfmemlint.screen import about_tensorflow, configures
from tfmemlint.sources import Source, Unreadable, decode, read_bytes
from tfmemlint.sources.kinds import NOTEBOOK as NOTEBOOKS
from tfmemlint.sources.kinds import PYTHON
from tfmemlint.sources.text import NOTEBOOK

if TYPE_CHECKING:
    from tfmemlint.cache import Cache
    from tfmemlint.job import Job
    from tfmemlint.project.search import SearchPath
    from tfmemlint.rule import Rule


MOST_PARSED = 2 * 1024 * 1024
"""Characters of modules that stay parsed while programs are gone through that have nothing to do with them."""


def _absolute(path: str) -> str:
    # Links stay as they are: a file goes by the name that a person knows it by.
    return os.path.normpath(os.path.join(os.getcwd(), path))


@dataclass(slots=True)
class Texts:
    """The modules of a project, each read and parsed once.

    Attributes:
        shown: what a file is called, by its absolute path, where a person named it; others go by their path from here.
        instead: texts that stand in for files: what a fix would make of them.
    """

    shown: Mapping[str, str] = field(default_factory=dict)
    instead: Mapping[str, Source] = field(default_factory=dict)
    _known: dict[str, Text | None] = field(default_factory=dict)
    _mentions: dict[str, Mentions | None] = field(default_factory=dict)
    setting: Leading | None = None
    """What leads to code that configures GPUs, among the modules of all programs."""
    listings: Listings = field(default_factory=Listings)
    quiet: dict[int, bool] = field(default_factory=dict)
    kept: dict[object, Kept] = field(default_factory=dict)
    """What importing modules came to, by where they are."""
    contents: dict[str, dict[str, str]] = field(default_factory=dict)
    """Of programs, by the file that they start in: all files that they may be made of, each with a digest of it."""

    def called(self, path: str) -> str:
        """What the file at ``path`` is called in reports."""
        real = _absolute(path)
        given = self.shown.get(real)
        if given is not None:
            return given
        here = os.path.relpath(real)
        return real if here.startswith(os.pardir) else here

    def get(self, path: str) -> Text | None:
        """A module's text; None where it can't be read or isn't valid Python."""
        name = self.called(path)
        if name not in self._known:
            self._known[name] = self._read(path, name)
        return self._known[name]

    def _read(self, path: str, name: str) -> Text | None:
        try:
            source = self.instead.get(name) or decode(name, read_bytes(path))
            return parse(source)
        except (Unreadable, SyntaxError, ValueError, RecursionError, MemoryError):
            return None

    def mentions(self, path: str) -> Mentions | None:
        """What a module mentions; None where it can't be read."""
        name = self.called(path)
        if name not in self._mentions:
            self._mentions[name] = self._mentioned(path, name)
        return self._mentions[name]

    def _mentioned(self, path: str, name: str) -> Mentions | None:
        try:
            source = self.instead.get(name) or decode(name, read_bytes(path))
        except Unreadable:
            return None
        imports = scan(source.text.encode("utf-8", "surrogatepass"))
        return Mentions(source.text, {part for one in imports for part in (*one.module.split("."), *one.names) if part})

    def forget_mentions(self) -> None:
        """Let go of what the modules mention."""
        self._mentions.clear()

    def make_room(self, wanted: Iterable[str]) -> None:
        """Let go of all that was parsed, where much of it is not among what the next program may be made of."""
        own = {self.called(path) for path in wanted}
        if sum(len(text.source.text) for name, text in self._known.items() if text and name not in own) > MOST_PARSED:
            # All of it at once: what is kept of one module speaks of others.
            for unit in self._kept_units():
                unit.let_go()
            self._known.clear()
            self.kept.clear()
            self.quiet.clear()

    def _kept_units(self) -> Iterator[Unit]:
        for kept in self.kept.values():
            yield from (unit for unit, _ in kept.units.values())
            yield from kept.needs.values()

    def done(self, program: Program) -> None:
        """Nobody asks for a program any more, but for those of its modules of which something was kept."""
        kept = {id(unit) for unit in self._kept_units()}
        for unit in program.units:
            if id(unit) not in kept:
                unit.let_go()

    def with_instead(self, instead: Mapping[str, Source]) -> Texts:
        """The same, but for some files another text."""
        known = {name: text for name, text in self._known.items() if name not in instead}
        mentions = {name: one for name, one in self._mentions.items() if name not in instead}
        return Texts(self.shown, {**self.instead, **instead}, known, mentions, self.setting, self.listings)


@dataclass(slots=True)
class OwnModules:
    """Where the modules of a program are found."""

    search: SearchPath
    texts: Texts
    quiet: dict[int, bool] = field(init=False)
    _same: dict[str, tuple[Kept, bool]] = field(default_factory=dict)
    """What was kept of modules, and whether this program finds all that they ask for in the same places."""

    def __post_init__(self) -> None:
        self.quiet = self.texts.quiet

    def place(self, name: str) -> object:
        """Where the module of this absolute name is; None where it is not the project's own, or can't be told."""
        return self.search.locate(name)

    def kept(self, name: str) -> Kept | None:
        """What an earlier program has come to that found this module, and all that it asks for, in the same places."""
        found = self.texts.kept.get(self.place(name))
        if found is None:
            return None
        known, same = self._same.get(name, (None, False))
        if known is not found:
            same = all(self.place(one) == place for one, place in found.places.items())
            self._same[name] = found, same
        return found if same else None

    def keep(self, name: str, kept: Kept) -> None:
        """Keep that for later programs."""
        self.texts.kept[self.place(name)] = kept
        self._same[name] = kept, True

    def sets(self, path: str, name: str, lines: Sequence[str]) -> bool:
        """Whether a function of the module at ``path`` may configure a GPU, by the names that it mentions."""
        setting = self.texts.setting
        if setting is None or path in self.texts.instead:
            return True
        piece = Piece(name, "\n".join(lines))
        return setting.is_about(piece) or setting.mentioned(piece, os.path.normpath(path))

    def find(self, name: str) -> Found | None:
        """The module of this absolute name; None where it is not the project's own, or can't be told."""
        located = self.search.locate(name)
        if located is None:
            return None
        if located.path is None:
            return Found(name, None, is_package=True)
        text = self.texts.get(located.path)
        return Found(name, text, located.is_package, readable=text is not None)


@dataclass(frozen=True, slots=True)
class Judged:
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


def judge(entry: Entry, texts: Texts, job: Job) -> Judged:
    """Go through the program that starts at ``entry``; never raises."""
    from tfmemlint.engine import judge_program
    from tfmemlint.rule import rules

    text = texts.get(entry.path)
    if text is None:
        return Judged(entry, failed="it can't be read")
    try:
        program = analyze(text, target_of(job, entry.path), _run(entry, text, texts))
        program.gpu_memory_mib = job.gpu_memory_mib
    except (RecursionError, MemoryError):
        return Judged(entry, failed="it is nested too deeply")
    except Exception as error:  # one program must not take the run with it; its files are judged on their own
        return Judged(entry, failed=f"{type(error).__name__}: {error}")
    across = [rule for rule in rules() if rule.across]
    found = list(judge_program(program, across))
    found += _where_started(entry, text, texts, job, across, found)
    reached = frozenset((one.path, one.span) for one in program.events if _matters(one))
    texts.done(program)
    return Judged(entry, tuple(found), reached, tuple(program.gave_up), read=program.modules)


def _where_started(
    entry: Entry, text: Text, texts: Texts, job: Job, rules: Sequence[Rule], found: Sequence[Finding]
) -> list[Finding]:
    """What is found besides where a configuration file starts the program."""
    starts = starts_of(entry.path)
    if not starts:
        return []
    from tfmemlint.settings.joining import started

    target, run = target_of(job, entry.path), _run(entry, text, texts)
    return list(started(found, starts, rules, lambda writes: analyze(text, target, replace(run, environment=writes))))


def _matters(event: Event) -> bool:
    """Whether an event is one that a rule about whole programs may speak of."""
    if isinstance(event, Call):
        return event.name.startswith("tf.config.") or event.outcome is not None
    if isinstance(event, EnvWrite):
        return read_at(event.name) not in (None, Moment.IMPORT)
    return isinstance(event, Start) and event.what == "allocator"


_texts = Texts()
"""The modules that this process has read."""


def prepare(paths: Iterable[str]) -> None:
    """Begin a run over these files."""
    global _texts
    _texts = Texts({_absolute(path): path for path in paths})


def starting(
    paths: Sequence[str], read: Mapping[str, bytes] | None = None, sets: Mapping[str, bool] | None = None
) -> list[Entry]:
    """The programs of several files that have to do with ``paths`` and may configure something; ``read`` are files that
    were read already, and ``sets`` which of them configure something by themselves.

    Those that start in one of these files, or import one of them; such a file itself, if it configures GPU memory and
    no program is known that starts there.
    """
    given = {os.path.normpath(path) for path in paths}
    data = _Bytes(read or {})
    known = dict(sets or {})
    made = graph(_universe(given, data, known), data, known)
    configuring = {path for path, module in made.modules.items() if module.configures}
    tests = {path: _conftests(path, made) for path in made.modules if is_test(os.path.basename(path))}
    near = made.reaching(configuring)
    near |= {path for path, before in tests.items() if not near.isdisjoint(before)}
    scripts = _console_scripts(near)
    hot = _texts.setting = _leading(CONFIGURES, near, made)
    found = []
    contents: dict[str, str] = {}
    for path in sorted(near):
        closure = made.closure(path).union(*(made.closure(one) for one in tests.get(path, ())))
        if len(closure) == 1 or not any(made.modules[one].uses for one in closure) or given.isdisjoint(closure):
            continue
        imported = bool(made.importers.get(path))
        entry = _entry(path, data, scripts, configures=path in configuring, imported=imported)
        if entry is not None and (path in configuring or _may_configure(path, closure & near, hot)):
            found.append(entry)
            for one in closure - contents.keys():
                contents[one] = digest(data(one) or b"")
            _texts.contents[path] = {one: contents[one] for one in closure}
    # From here on the texts of thousands of modules would only lie there.
    _texts.forget_mentions()
    hot.forget()
    return found


def key_of(entry: Entry, job: Job) -> str:
    """By what name is kept what is found in a program: all that it depends on."""
    contents, setting = _texts.contents.get(entry.path), _texts.setting
    if contents is None or setting is None:
        return ""
    search = search_path(entry.path, kind=entry.kind, listings=_texts.listings)
    places = {os.path.dirname(_absolute(path)) for path in contents}.union(search.directories)
    listings = [(place, *_texts.listings.of(place).summary) for place in sorted(places)]
    files = sorted((path, _texts.called(path), content) for path, content in contents.items())
    leading = [setting.of(path) for path, _, _ in files]
    return digest(
        *("program", entry, target_of(job, entry.path), job.gpu_memory_mib, search.about, listings, files, leading),
        [one.about for one in starts_of(entry.path)],
    )


def is_told_by_key(judged: Judged) -> bool:
    """Whether nothing was gone through but what `key_of` knows of: not where the name of a module is computed."""
    known = {_texts.called(path) for path in _texts.contents.get(judged.entry.path, ())}
    return not judged.failed and judged.read <= known


def _conftests(path: str, made: Graph) -> list[str]:
    """The ``conftest.py`` files that are read before a test, as the graph has them."""
    here = (os.path.normpath(_texts.called(one)) for one in conftests(path, _texts.listings))
    return [one for one in here if one in made.modules]


def _leading(about: re.Pattern[str], paths: set[str], made: Graph) -> Leading:
    found = Leading(about)
    for path in sorted(paths):
        mentions = _texts.mentions(path)
        if mentions is not None:
            found.add(path, mentions, made.modules[path].leads_to & paths)
    found.settle()
    return found


def _universe(given: set[str], read: _Bytes, known: dict[str, bool]) -> set[str]:
    """All that is given, and all files of the projects that some of it may be part of the configuration of; tells
    which of what is given configures anything."""
    from tfmemlint.sources import walk

    found = set(given)
    few = len(given) <= FEW_FILES
    roots: set[str] = set()
    for path in given:
        data = read(path)
        if data is None:
            continue
        if path not in known:
            known[path] = configures(data)
        if known[path] or (few and (about_tensorflow(data) or _imports_own(path, data))):
            roots.add(project_root(path, _texts.listings))
    for root in sorted(roots):
        files = walk([os.path.relpath(root)], kinds=(PYTHON, NOTEBOOKS)).files
        if len(files) <= LARGEST_PROJECT:
            found.update(os.path.normpath(file) for file in files)
    return found


def _imports_own(path: str, data: bytes) -> bool:
    """Whether a file imports anything of its own project."""
    search = search_path(path, kind=Kind.SCRIPT, data=data, listings=_texts.listings)
    return any(one.level or search.locate(one.module.split(".")[0]) is not None for one in scan(data))


def _entry(path: str, read: _Bytes, scripts: Mapping[str, str], *, configures: bool, imported: bool) -> Entry | None:
    data = read(path)
    entry = entry_of(path, data, _texts.listings) if data is not None else None
    if entry is not None and entry.kind is Kind.SCRIPT and imported and data is not None and not says_so(data):
        # It does some work at its top, but others import it: nobody runs it by itself.
        entry = None
    module = package_root(path)[1]
    if entry is None and path in scripts:
        return Entry(Kind.CONSOLE, path, module, scripts[path])
    if entry is None and configures:
        return Entry(Kind.LIBRARY, path, module)
    return entry


def _console_scripts(paths: Iterable[str]) -> dict[str, str]:
    """The functions that console scripts call, by the files that they are in."""
    found: dict[str, str] = {}
    for path in paths:
        name = package_root(path)[1]
        for module, function in console_scripts(project_root(path)):
            if module == name:
                found.setdefault(path, function)
    return found


def _may_configure(path: str, near: Iterable[str], hot: Leading) -> bool:
    """Whether code in ``path`` mentions a name by which configuring code is reached, or some module that it imports
    configures something when it is imported."""
    module = _texts.mentions(path)
    if module is not None and hot.mentioned(module.whole, path):
        return True
    return any(hot.on_import(one) for one in near if one != path)


@dataclass(frozen=True, slots=True)
class _Bytes:
    """The bytes of files, of which some were read already; None for what can't be read."""

    known: Mapping[str, bytes]
    notebooks: dict[str, bytes | None] = field(default_factory=dict)
    """Of notebooks, their code."""

    def __call__(self, path: str) -> bytes | None:
        if path.endswith(NOTEBOOK):
            if path not in self.notebooks:
                self.notebooks[path] = self._code(path)
            return self.notebooks[path]
        return self._read(path)

    def _read(self, path: str) -> bytes | None:
        data = self.known.get(path)
        try:
            return data if data is not None else read_bytes(path)
        except Unreadable:
            return None

    def _code(self, path: str) -> bytes | None:
        data = self._read(path)
        try:
            return decode(path, data).text.encode("utf-8", "surrogatepass") if data is not None else None
        except Unreadable:
            return None


def begin(outcome: Outcome, entry: Entry, job: Job, known: object = None) -> Outcome:
    """The outcome of the file that a program starts in, as far as that program goes, and what is found in that file by
    itself; ``known`` if the program was gone through before."""
    if isinstance(known, Judged):
        judged = known
    else:
        _texts.make_room(_texts.contents.get(entry.path, ()))
        judged = judge(entry, _texts, job)
        if outcome.source is not None:
            outcome.alone = _alone(outcome.source, job, _texts.get(entry.path))
    outcome.judged, outcome.notes, outcome.programs = judged, judged.notes, (entry,)
    return outcome


def together(outcomes: list[Outcome], named: set[str], job: Job, cache: Cache) -> list[Outcome]:
    """Give each file what all programs do in it.

    Of the files that nobody named, those are among the outcomes that a named one makes do what they don't do by
    themselves.
    """
    known = {outcome.path: outcome for outcome in outcomes if outcome.path in named}
    doing: dict[str, list[Judged]] = {}
    for outcome in outcomes:
        for path in outcome.judged.paths if outcome.judged is not None else ():
            if outcome.path in named or path in named:
                doing.setdefault(path, []).append(outcome.judged)  # type: ignore[arg-type]
    for path, programs in sorted(doing.items()):
        outcome = known.get(path) or Outcome(path, candidate=True)
        if outcome.source is None:
            text = _texts.get(path)
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
    texts = _texts.with_instead({source.path: source})
    judged = [judge(entry, texts, job) for entry in entries]
    return _said(source, _of_file(source, judged, _alone(source, job)), job)


def _of_file(source: Source, programs: Sequence[Judged], alone: Sequence[Finding]) -> list[Finding]:
    """What is found in one file: what programs do in it, and what it is by itself. Where a program that really runs
    comes to a place, it is known what happens there; what might happen if another one came there is no matter."""
    from tfmemlint.rule import rules

    across = {rule.code for rule in rules() if rule.across}
    own = any(_texts.called(one.entry.path) == source.path and not one.notes for one in programs)
    reached = {span for one in programs if one.known for path, span in one.reached if path == source.path}
    found = [one for one in alone if one.code not in across or not (own or one.span in reached)]
    for judged in programs:
        here = (one for one in judged.findings if one.path == source.path)
        found.extend(one for one in here if judged.known or one.span not in reached)
    return found


def sources(paths: Iterable[str]) -> dict[str, Source]:
    """The texts of modules that programs have imported, by what they are called."""
    texts = {path: _texts.get(path) for path in paths}
    return {path: text.source for path, text in texts.items() if text is not None}


def replaced(source: Source) -> None:
    """A file has been given another text."""
    global _texts
    _texts = _texts.with_instead({source.path: source})


def _known_alone(source: Source, job: Job, cache: Cache, known: list[Finding] | None) -> list[Finding]:
    """What a file is by itself: ``known`` by now, or from before."""
    key = file_key(source.path, source.text, job) if cache.path is not None else ""
    found = cache.get(key) if key and known is None else known
    if not isinstance(found, list):
        found = _alone(source, job, _texts.get(source.path))
    elif known is None:
        return found
    if key:
        cache.put(key, found)
    return found


def _alone(source: Source, job: Job, parsed: Text | None = None) -> list[Finding]:
    from tfmemlint.engine import judge_source

    rules = enabled(job.selection, source.path)
    own = parsed if parsed is not None and parsed.source.text == source.text else None
    target = target_of(job, source.path)
    return judge_source(source, rules, target, job.gpu_memory_mib, starts_of(source.path), own)


def _said(source: Source, found: Sequence[Finding], job: Job) -> list[Finding]:
    from tfmemlint.engine import settle

    rules = enabled(job.selection, source.path)
    codes = {rule.code for rule in rules} | RUN_CODES
    return asked_for(settle(source, [one for one in found if one.code in codes], rules), job)


def _run(entry: Entry, text: Text, texts: Texts) -> Run:
    package: str | None = entry.module.rpartition(".")[0]
    if entry.path.endswith("__init__.py"):
        package = entry.module
    data = text.source.text.encode("utf-8", "surrogatepass")
    inside = entry.kind is not Kind.SCRIPT or any(one.level for one in scan(data))
    search = search_path(entry.path, kind=entry.kind, listings=texts.listings)
    modules = OwnModules(search, texts)
    if entry.kind in (Kind.SCRIPT, Kind.MAIN_MODULE):
        return Run(modules, package=(package or None) if inside else None)
    before = tuple(one for path in entry.conftests if path != entry.path and (one := texts.get(path)) is not None)
    return Run(modules, entry.module, package or None, before, entry.function)
