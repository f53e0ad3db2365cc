"""The modules of a project, for all its programs: each read and parsed once, found as each program finds it."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from tfmemlint.facts.mentions import Leading, Mentions, Piece
from tfmemlint.project.imports import scan
from tfmemlint.project.listing import Listings, called
from tfmemlint.sources import Source, Unreadable, decode, read_bytes

if TYPE_CHECKING:
    from tfmemlint.interpreter.program import Program
    from tfmemlint.interpreter.unit import ModuleInstance, ModuleSummary, ParsedModule, ResolvedModule
    from tfmemlint.project.search import SearchPath

MOST_PARSED = 2 * 1024 * 1024
"""Characters of modules that stay parsed while programs are gone through that have nothing to do with them."""


@dataclass(slots=True)
class Texts:
    """The modules of a project, each read and parsed once.

    Attributes:
        shown: what a file is called, by its absolute path, where a person named it; others go by their path from here.
        instead: texts that stand in for files: what a fix would make of them.
    """

    shown: Mapping[str, str] = field(default_factory=dict)
    instead: Mapping[str, Source] = field(default_factory=dict)
    _known: dict[str, ParsedModule | None] = field(default_factory=dict)
    _mentions: dict[str, Mentions | None] = field(default_factory=dict)
    setting: Leading | None = None
    """What leads to code that configures GPUs, among the modules of all programs."""
    listings: Listings = field(default_factory=Listings)
    quiet: dict[int, bool] = field(default_factory=dict)
    kept: dict[object, ModuleSummary] = field(default_factory=dict)
    """What importing modules came to, by where they are."""
    contents: dict[str, dict[str, str]] = field(default_factory=dict)
    """Of programs, by the file that they start in: all files that they may be made of, each with a digest of it."""

    def called(self, path: str) -> str:
        """What the file at ``path`` is called in reports."""
        given = self.shown.get(os.path.abspath(path))
        return called(path) if given is None else given

    def get(self, path: str) -> ParsedModule | None:
        """A module's text; None where it can't be read or isn't valid Python."""
        name = self.called(path)
        if name not in self._known:
            self._known[name] = self._read(path, name)
        return self._known[name]

    def _read(self, path: str, name: str) -> ParsedModule | None:
        from tfmemlint.interpreter import parse  # not needed to find that there are no programs

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

    def _kept_units(self) -> Iterator[ModuleInstance]:
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


_texts = Texts()


def current() -> Texts:
    """The modules that this process has read in this run."""
    return _texts


def prepare(paths: Iterable[str]) -> Texts:
    """Begin a run over these files."""
    global _texts
    _texts = Texts({os.path.abspath(path): path for path in paths})
    return _texts


def replaced(source: Source) -> None:
    """A file has been given another text."""
    global _texts
    _texts = _texts.with_instead({source.path: source})


@dataclass(slots=True)
class OwnModules:
    """Where the modules of a program are found."""

    search: SearchPath
    texts: Texts
    quiet: dict[int, bool] = field(init=False)
    _same: dict[str, tuple[ModuleSummary, bool]] = field(default_factory=dict)
    """What was kept of modules, and whether this program finds all that they ask for in the same places."""

    def __post_init__(self) -> None:
        self.quiet = self.texts.quiet

    def place(self, name: str) -> object:
        """Where the module of this absolute name is; None where it is not the project's own, or can't be told."""
        return self.search.locate(name)

    def kept(self, name: str) -> ModuleSummary | None:
        """What an earlier program has come to that found this module, and all that it asks for, in the same places."""
        found = self.texts.kept.get(self.place(name))
        if found is None:
            return None
        known, same = self._same.get(name, (None, False))
        if known is not found:
            same = all(self.place(one) == place for one, place in found.places.items())
            self._same[name] = found, same
        return found if same else None

    def keep(self, name: str, kept: ModuleSummary) -> None:
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

    def find(self, name: str) -> ResolvedModule | None:
        """The module of this absolute name; None where it is not the project's own, or can't be told."""
        return find(name, self.search, self.texts.get)


def find(name: str, search: SearchPath, get: Callable[[str], ParsedModule | None]) -> ResolvedModule | None:
    """The module of this absolute name, as ``search`` finds it; None where it is not the project's own, or can't be
    told. ``get`` gives what is in a file, None where that can't be read."""
    from tfmemlint.interpreter.unit import ResolvedModule

    located = search.locate(name)
    if located is None:
        return None
    if located.path is None:
        return ResolvedModule(name, None, is_package=True)
    text = get(located.path)
    return ResolvedModule(name, text, located.is_package, readable=text is not None)
