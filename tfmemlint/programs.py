"""Whole programs: an entry point with all that it imports of its own project, and what is found in it."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from tfmemlint.engine import RUN_CODES
from tfmemlint.facts.mentions import CONFIGURES, Leading
from tfmemlint.finding import Finding
from tfmemlint.flow import analyze, parse
from tfmemlint.flow.unit import Found, Run, Text
from tfmemlint.project.entries import Entry, console_scripts, entry_of
from tfmemlint.project.imports import scan
from tfmemlint.project.kinds import Kind
from tfmemlint.project.reaching import LARGEST_PROJECT, graph
from tfmemlint.project.roots import package_root, project_root, search_path
from tfmemlint.run import asked_for, enabled, target_of
from tfmemlint.screen import configures
from tfmemlint.sources import Source, Unreadable, decode, read_bytes

if TYPE_CHECKING:
    from tfmemlint.project.search import SearchPath
    from tfmemlint.run import Job, Outcome


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

    def with_instead(self, instead: Mapping[str, Source]) -> Texts:
        """The same, but for some files another text."""
        known = {name: text for name, text in self._known.items() if name not in instead}
        return Texts(self.shown, {**self.instead, **instead}, known)


@dataclass(slots=True)
class OwnModules:
    """Where the modules of a program are found."""

    search: SearchPath
    texts: Texts

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

    ``failed``: why it was not followed at all, or "".
    """

    entry: Entry
    findings: tuple[Finding, ...] = ()
    gave_up: tuple[str, ...] = ()
    failed: str = ""

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
        program = analyze(text, target_of(job), _run(entry, text, texts))
    except (RecursionError, MemoryError):
        return Judged(entry, failed="it is nested too deeply")
    except Exception as error:  # one program must not take the run with it; its files are judged on their own
        return Judged(entry, failed=f"{type(error).__name__}: {error}")
    here = {rule.code for rule in enabled(job.selection, text.source.path)}
    wanted = [rule for rule in rules() if rule.across or rule.code in here]
    found = [one for one in judge_program(program, wanted) if one.path != text.source.path or one.code in here]
    return Judged(entry, tuple(found), tuple(program.gave_up))


_texts = Texts()
"""The modules that this process has read."""


def prepare(paths: Iterable[str]) -> None:
    """Begin a run over these files."""
    global _texts
    _texts = Texts({_absolute(path): path for path in paths})


def starting(paths: Sequence[str]) -> list[Entry]:
    """The programs of several files that have to do with ``paths`` and may configure something.

    Those that start in one of these files, or import one of them that configures GPU memory; such a file itself, where
    no program is known that imports it.
    """
    given = {os.path.normpath(path) for path in paths}
    made = graph(_universe(given), _bytes)
    configuring = {path for path, module in made.modules.items() if module.configures}
    near = made.reaching(configuring)
    scripts = _console_scripts(near)
    hot = Leading(CONFIGURES)
    for path in sorted(near):
        if (text := _texts.get(path)) is not None:
            hot.add(path, text.mentions)
            for other in made.modules[path].leads_to & near:
                hot.link(path, other)
    found = []
    for path in sorted(near):
        closure = made.closure(path)
        if not any(made.modules[one].uses for one in closure if one != path):
            continue
        if path not in given and not given.intersection(configuring, closure):
            continue
        entry = _entry(path, path in configuring, scripts)
        if entry is not None and (path in configuring or _may_configure(path, closure & near, hot)):
            found.append(entry)
    return found


def _universe(given: set[str]) -> set[str]:
    """All files of the projects that some of the ``given`` files configure GPU memory in, and all that are given."""
    from tfmemlint.sources import walk

    found = set(given)
    for root in sorted({project_root(path) for path in given if _configures(path)}):
        files = walk([os.path.relpath(root)]).files
        if len(files) <= LARGEST_PROJECT:
            found.update(os.path.normpath(file) for file in files)
    return found


def _entry(path: str, configures: bool, scripts: Mapping[str, str]) -> Entry | None:
    data = _bytes(path)
    entry = entry_of(path, data) if data is not None else None
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
    for one in near:
        text = _texts.get(one)
        if text is None:
            continue
        module = text.mentions
        pieces = [module.whole] if one == path else [module.top]
        if (one != path and hot.is_about(module.top)) or any(hot.mentioned(piece, one) for piece in pieces):
            return True
    return False


def _bytes(path: str) -> bytes | None:
    try:
        return read_bytes(path)
    except Unreadable:
        return None


def _configures(path: str) -> bool:
    data = _bytes(path)
    return data is not None and configures(data)


def begin(outcome: Outcome, source: Source, entry: Entry, job: Job) -> Outcome:
    """The outcome of the file that a program starts in, but for what other programs do in it."""
    judged = judge(entry, _texts, job)
    outcome.programs, outcome.notes = (entry,), judged.notes
    outcome.raw = [one for one in judged.findings if one.path == source.path]
    outcome.elsewhere = [one for one in judged.findings if one.path != source.path]
    if judged.notes:
        outcome.raw = _alone(source, job) + outcome.raw
    outcome.findings = _said(source, outcome.raw, job)
    return outcome


def together(outcomes: list[Outcome], named: set[str], job: Job) -> list[Outcome]:
    """Give each file what the programs that start in other files do in it.

    Of the files that nobody named, those are among the outcomes that a named one makes do what they don't do by
    themselves.
    """
    known = {outcome.path: outcome for outcome in outcomes if outcome.path in named}
    found: dict[str, list[Finding]] = {}
    starts: dict[str, list[Entry]] = {}
    for outcome in outcomes:
        for finding in outcome.elsewhere:
            if outcome.path not in named and finding.path not in named:
                continue
            found.setdefault(finding.path, []).append(finding)
            if outcome.programs[0] not in starts.setdefault(finding.path, []):
                starts[finding.path].extend(outcome.programs)
    for path, others in sorted(found.items()):
        outcome = known.get(path) or _followed(path)
        if outcome.source is None:
            continue
        alone = outcome.raw if outcome.programs else _alone(outcome.source, job)
        if path not in known:
            own = {(one.code, one.span) for one in alone}
            others = [one for one in others if (one.code, one.span) not in own]
            alone = []
        outcome.raw = alone + others
        outcome.programs = (*outcome.programs, *starts[path])
        outcome.findings = _said(outcome.source, outcome.raw, job)
        if outcome.findings:
            known[path] = outcome
    return list(known.values())


def look(source: Source, entries: Sequence[Entry], job: Job) -> list[Finding]:
    """What is found in a file if it has the text of ``source``, by itself and in the programs that start at
    ``entries``."""
    texts = _texts.with_instead({source.path: source})
    found: list[Finding] = []
    followed = False
    for entry in entries:
        judged = judge(entry, texts, job)
        found.extend(one for one in judged.findings if one.path == source.path)
        followed = followed or (texts.called(entry.path) == source.path and not judged.notes)
    if not followed:
        found = _alone(source, job) + found
    return _said(source, found, job)


def replaced(source: Source) -> None:
    """A file has been given another text."""
    global _texts
    _texts = _texts.with_instead({source.path: source})


def _followed(path: str) -> Outcome:
    """A file that nobody named, and that a program imports."""
    from tfmemlint.run import Outcome

    text = _texts.get(path)
    return Outcome(path, candidate=True, source=text.source if text is not None else None)


def _alone(source: Source, job: Job) -> list[Finding]:
    from tfmemlint.engine import judge_source

    return judge_source(source, enabled(job.selection, source.path), target_of(job))


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
    modules = OwnModules(search_path(entry.path, kind=entry.kind), texts)
    if entry.kind in (Kind.SCRIPT, Kind.MAIN_MODULE):
        return Run(modules, package=(package or None) if inside else None)
    before = tuple(one for path in entry.conftests if path != entry.path and (one := texts.get(path)) is not None)
    return Run(modules, entry.module, package or None, before, entry.function)
