"""The modules of a project: read and parsed once for all its programs, found as each program finds them."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import field
from typing import TYPE_CHECKING

from tfmemlint.facts.leading import Leading
from tfmemlint.facts.mentions import Mentions, Piece
from tfmemlint.model.records import dataclass
from tfmemlint.project.imports import Imported, scan
from tfmemlint.project.listing import Listings, called, graph_name
from tfmemlint.sources import Source, Unreadable, decode, read_bytes

if TYPE_CHECKING:
    from tfmemlint.interpreter.program import Program
    from tfmemlint.interpreter.unit import ModuleInstance, ModuleSummary, ParsedModule, Replay, ResolvedModule
    from tfmemlint.project.search import SearchPath

MAX_UNRELATED_PARSED_CHARACTERS = 2 * 1024 * 1024
"""Characters of modules that stay parsed although the next program has nothing to do with them. A syntax tree takes
some fifty times the memory of its text: this is about 100 MB."""
MAX_REPLAYS = 12
"""Records of one module, one for each environment that programs import it in. Each takes the memory of a program."""


@dataclass(slots=True)
class ModuleStore:
    """The modules that programs are made of, each read and parsed once.

    Attributes:
        shown: the name of a file in reports, by its absolute path, where the user named it; others go by their path
            from the working directory.
        instead: texts that stand in for files: what a fix would make of them.
        open_texts: the contents of files, by their absolute paths, that are read in place of those on disk: what an
            editor has not saved. They stay from one run to the next.
        arrange: gives the text of a module rows of its own, for a program whose files share one numbering of rows.
        find_leading, find_universe: compute `leading`, and `universe`, when these are first asked for.
        listings: the directories that were listed.
        quiet: functions, by the id of each, and whether they neither configure anything nor end the program.
        summaries: the results of importing modules, by where the modules are.
        replays: what importing modules with effects has done, by where the modules are.
        shares_summaries: later programs may use them.
        settled_by: of programs, by the file that they start in: the files after whose import nothing is configured.
        circles: modules that are not followed from their own start, by their files: the number of modules that import
            each other in circles with them.
        contents: of programs, by the file that they start in: all files that they may be made of, with their digests.
        universe: all files of the projects. digests: those of their contents, where somebody asked.
    """

    shown: Mapping[str, str] = field(default_factory=dict)
    instead: Mapping[str, Source] = field(default_factory=dict)
    open_texts: Mapping[str, bytes] = field(default_factory=dict)
    arrange: Callable[[Source], Source] | None = None
    find_leading: Callable[[], Leading] | None = None
    find_universe: Callable[[], Collection[str]] | None = None
    listings: Listings = field(default_factory=Listings)
    quiet: dict[int, bool] = field(default_factory=dict)
    summaries: dict[object, ModuleSummary] = field(default_factory=dict)
    replays: dict[object, list[Replay]] = field(default_factory=dict)
    shares_summaries: bool = True
    contents: dict[str, dict[str, str]] = field(default_factory=dict)
    settled_by: dict[str, frozenset[str]] = field(default_factory=dict)
    circles: Mapping[str, int] = field(default_factory=dict)
    universe: Collection[str] = ()
    digests: dict[str, str] = field(default_factory=dict)
    _leading: Leading | None = None
    _counts: Counter[str] | None = None
    _names: dict[str, str] = field(default_factory=dict)
    _searches: dict[object, _Search] = field(default_factory=dict)
    _lasting: set[int] = field(default_factory=set)
    """The ids of the modules that summaries and replays speak of."""
    _lasting_files: set[str] = field(default_factory=set)
    """Their names in reports."""
    _parsed: dict[str, ParsedModule | None] = field(default_factory=dict)
    _mentions: dict[str, Mentions | None] = field(default_factory=dict)
    _new_words: dict[str, tuple[Source, frozenset[str]]] = field(default_factory=dict)

    @property
    def leading(self) -> Leading | None:
        """The code of all programs that leads to code that configures GPUs; None if that is not known."""
        if self._leading is None and self.find_leading is not None:
            self._leading = self.find_leading()
        return self._leading

    @leading.setter
    def leading(self, leading: Leading) -> None:
        self._leading = leading

    @property
    def parsed(self) -> dict[str, ParsedModule]:
        """The modules that were read, by their names in reports, in the order in which they were asked for."""
        return {name: module for name, module in self._parsed.items() if module is not None}

    def reset(self, paths: Iterable[str]) -> None:
        """Forget everything: a run over the files at these paths starts."""
        self.shown = {os.path.abspath(path): path for path in paths}
        self.instead, self.listings, self._leading = {}, Listings(), None
        self.quiet, self.summaries, self.contents, self.replays, self.settled_by = {}, {}, {}, {}, {}
        self.circles, self.universe, self.digests, self._counts = {}, (), {}, None
        self._parsed, self._mentions, self._names, self._searches = {}, {}, {}, {}
        self._lasting, self._lasting_files = set(), set()

    def read(self, path: str) -> bytes:
        """Return the content of the file at ``path``: its open text, or what is on disk.

        Raises:
            Unreadable: it can't be opened, or is not a regular file.
        """
        data = self.open_texts.get(os.path.abspath(path)) if self.open_texts else None
        return read_bytes(path) if data is None else data

    def name_of(self, path: str) -> str:
        """Return the name of the file at ``path`` in reports."""
        name = self._names.get(path)
        if name is None:
            given = self.shown.get(os.path.abspath(path))
            name = self._names[path] = called(path) if given is None else given
        return name

    def get(self, path: str) -> ParsedModule | None:
        """Return the module in a file; None if it can't be read or isn't valid Python."""
        name = self.name_of(path)
        if name not in self._parsed:
            self._parsed[name] = self._read(path, name)
        return self._parsed[name]

    def _read(self, path: str, name: str) -> ParsedModule | None:
        from tfmemlint.interpreter import parse  # not needed to find that there are no programs

        try:
            source = self.instead.get(name) or decode(name, self.read(path))
            parsed = parse(source)
            return parsed if self.arrange is None else parse(self.arrange(source))
        except (Unreadable, SyntaxError, ValueError, RecursionError, MemoryError):
            return None

    def new_words(self, path: str) -> frozenset[str]:
        """Return the words that the text has which stands in the place of a file's, and the file has not."""
        source = self.instead[path]
        known = self._new_words.get(path)
        if known is None or known[0] is not source:
            try:
                old = decode(path, self.read(path)).text
            except Unreadable:
                old = ""
            words = frozenset(Piece("", source.text).words - Piece("", old).words)
            known = self._new_words[path] = source, words
        return known[1]

    def mentions(self, path: str) -> Mentions | None:
        """Return the names that a module mentions; None if it can't be read."""
        name = self.name_of(path)
        if name not in self._mentions:
            self._mentions[name] = self._read_mentions(path, name)
        return self._mentions[name]

    def _read_mentions(self, path: str, name: str) -> Mentions | None:
        try:
            source = self.instead.get(name) or decode(name, self.read(path))
        except Unreadable:
            return None
        return mentions_of(source.text, scan(source.text.encode("utf-8", "surrogatepass")))

    def forget_mentions(self) -> None:
        """Forget the names that modules mention: the texts of thousands of modules would only take memory."""
        self._mentions.clear()

    def make_room(self, wanted: Iterable[str]) -> None:
        """Forget all that was parsed if much of it is not among the files that the next program may be made of."""
        own = {self.name_of(path) for path in wanted}
        unrelated = {name: len(module.source.text) for name, module in self.parsed.items() if name not in own}
        if sum(unrelated.values()) <= MAX_UNRELATED_PARSED_CHARACTERS:
            return
        # First what nothing speaks of: the scripts and tests in which earlier programs started.
        for name in unrelated.keys() - self._lasting_files:
            del self._parsed[name]
        # Its keys are the addresses of nodes, which others may get now.
        self.quiet.clear()
        if sum(unrelated[name] for name in unrelated.keys() & self._lasting_files) <= MAX_UNRELATED_PARSED_CHARACTERS:
            return
        # All of it at once: the summary of one module speaks of others.
        for unit in self._summarized_units():
            unit.let_go()
        self._parsed.clear()
        self.summaries.clear()
        self.replays.clear()
        self._searches.clear()
        self._lasting.clear()
        self._lasting_files.clear()

    def _summarized_units(self) -> Iterator[ModuleInstance]:
        for summary in self.summaries.values():
            yield from (unit for unit, _ in summary.units.values())
            yield from summary.needs.values()
        for variants in self.replays.values():
            for replay in variants:
                yield from (unit for unit, _ in replay.units.values())

    def release(self, program: Program) -> None:
        """Free the modules of a program that nobody asks for any more, but for those that summaries speak of."""
        for unit in program.units:
            if id(unit) not in self._lasting:
                unit.let_go()

    def keep_summary(self, place: object, kept: ModuleSummary) -> None:
        """Keep the summary of the module in this place for later programs."""
        self.summaries[place] = kept
        self._note_lasting(kept)

    def keep_replay(self, place: object, kept: Replay) -> None:
        """Keep what an import of the module in this place has done for later programs."""
        variants = self.replays.setdefault(place, [])
        if len(variants) < MAX_REPLAYS:
            variants.append(kept)
            self._note_lasting(kept)

    def _note_lasting(self, kept: ModuleSummary | Replay) -> None:
        for unit in (*(unit for unit, _ in kept.units.values()), *kept.needs.values()):
            self._lasting.add(id(unit))
            self._lasting_files.add(unit.source.path)

    def search(self, path: SearchPath) -> _Search:
        """Return the search along a path, with the answers that earlier programs got along the same one."""
        return self._searches.setdefault(repr(path.about), _Search(path))

    def with_instead(self, instead: Mapping[str, Source]) -> ModuleStore:
        """Return a store of the same modules in which some files have another text."""
        return ModuleStore(
            self.shown,
            {**self.instead, **instead},
            self.open_texts,
            listings=self.listings,
            circles=self.circles,
            universe=self.universe,
            find_universe=self.find_universe,
            _leading=self._leading,
            _parsed={name: module for name, module in self._parsed.items() if name not in instead},
            _mentions={name: mentions for name, mentions in self._mentions.items() if name not in instead},
        )

    def anew(self) -> ModuleStore:
        """Return a store of the same files, of which nothing is known yet."""
        return ModuleStore(self.shown, self.instead, self.open_texts)

    def count_of(self, name: str) -> int:
        """Return how many modules and packages of this name are in the projects, in whichever directories."""
        if self._counts is None:
            names: Counter[str] = Counter()
            for path in self.universe or (self.find_universe() if self.find_universe is not None else ()):
                folder, base = os.path.split(path)
                names[os.path.basename(folder) if base == "__init__.py" else base.removesuffix(".py")] += 1
            self._counts = names
        return self._counts[name]

    def set_text(self, source: Source) -> None:
        """Give a file another text from here on: it was fixed."""
        self.instead = {**self.instead, source.path: source}
        self._parsed.pop(source.path, None)
        self._mentions.pop(source.path, None)
        # All that was computed with the old text; others that use these dictionaries keep them.
        self.quiet, self.summaries, self.contents, self.replays, self.settled_by = {}, {}, {}, {}, {}
        self._searches, self._lasting, self._lasting_files = {}, set(), set()


@dataclass(slots=True)
class _Search:
    """The places of modules along one search path.

    Attributes:
        path: where modules are looked for.
        same: the summaries of modules, and whether all that they ask for is found in the same places.
        same_places: the same of replays, by the id of each.
    """

    path: SearchPath
    same: dict[str, tuple[ModuleSummary, bool]] = field(default_factory=dict)
    same_places: dict[int, tuple[Mapping[str, object], bool]] = field(default_factory=dict)


@dataclass(slots=True)
class ProgramModules:
    """The modules of a project as one program finds them (`tfmemlint.interpreter.unit.Modules`).

    Attributes:
        search: where this program looks for modules.
        store: the modules that were read.
        found: the names of the project's own modules that the program asked for.
    """

    search: SearchPath
    store: ModuleStore
    found: set[str] = field(default_factory=set)
    quiet: dict[int, bool] = field(init=False)
    _known: _Search = field(init=False)

    def __post_init__(self) -> None:
        self.quiet = self.store.quiet
        self._known = self.store.search(self.search)
        self.search = self._known.path

    def place(self, name: str) -> object:
        """Return where the module of this absolute name is; None if it is not the project's own, or not known."""
        return self.search.locate(name)

    def kept(self, name: str) -> ModuleSummary | None:
        """Return the summary by an earlier program that found this module, and all that it asks for, where this program
        finds them."""
        summary = self.store.summaries.get(self.place(name))
        if summary is None:
            return None
        known, same = self._known.same.get(name, (None, False))
        if known is not summary:
            same = all(self.place(needed) == place for needed, place in summary.places.items())
            self._known.same[name] = summary, same
        return summary if same else None

    def keep(self, name: str, kept: ModuleSummary) -> None:
        """Keep the summary of a module for later programs."""
        if self.store.shares_summaries:
            self.store.keep_summary(self.place(name), kept)
            self._known.same[name] = kept, True

    def replays(self, name: str) -> Sequence[Replay]:
        """Return what earlier programs' imports of this module have done."""
        return self.store.replays.get(self.place(name), ())

    def keep_replay(self, name: str, kept: Replay) -> None:
        """Keep what an import of this module has done for later programs."""
        if self.store.shares_summaries:
            self.store.keep_replay(self.place(name), kept)

    def finds_the_same(self, places: Mapping[str, object]) -> bool:
        """True if this program finds all these modules in these places."""
        known = self._known.same_places.get(id(places))
        if known is None:
            same = all(self.place(name) == place for name, place in places.items())
            known = self._known.same_places[id(places)] = places, same
        return known[1]

    def is_only(self, name: str) -> bool:
        """True if no other module of the projects could have the name of this one, which is one of them."""
        return self.store.count_of(name.partition(".")[0]) == 1

    def would_hide(self, directory: str) -> bool:
        """True if this directory, searched first, has another module of a name that the program finds."""
        return self.search.would_hide(directory)

    def sets(self, path: str, name: str, lines: Sequence[str]) -> bool:
        """True if a function of the module at ``path`` may configure a GPU, by the names that it mentions."""
        leading = self.store.leading
        if leading is None:
            return True
        piece = Piece(name, "\n".join(lines))
        if leading.is_about(piece) or leading.mentioned(piece, graph_name(path)):
            return True
        # Nobody knows yet what a name leads to that only the new text of a file has.
        return path in self.store.instead and not self.store.new_words(path).isdisjoint(piece.words)

    def modules_in(self, directory: str) -> list[tuple[str, bool]] | None:
        """Return the names of the modules in a directory, with whether each is a package; None if it is too large.

        They are in the order of ``pkgutil.iter_modules``: by name.
        """
        listing = self.store.listings.of(directory)
        if not listing.known:
            return None
        packages = {
            name for name in listing.directories if self.store.listings.is_package(os.path.join(directory, name))
        }
        files = {name[:-3] for name in listing.files if name.endswith(".py") and name[:-3].isidentifier()}
        return [(name, name in packages) for name in sorted((files | packages) - {"__init__", "setup"})]

    def is_missed(self, name: str) -> bool:
        """True if a module is not there, but may appear in a directory without ``__init__.py``, or without Python."""
        if self.search.locate(name) is not None:
            return False
        while "." in name:
            name = name.rpartition(".")[0]
            above = self.search.locate(name)
            if above is not None:
                return above.path is None
        return any(name in self.store.listings.of(place).directories for place in self.search.directories)

    def find(self, name: str) -> ResolvedModule | None:
        """Return the module of this absolute name; None if it is not the project's own, or not known."""
        from tfmemlint.interpreter.unit import ResolvedModule

        located = self.search.locate(name)
        if located is None:
            return None
        self.found.add(name)
        if located.path is None:
            return ResolvedModule(name, None, is_package=True)
        module = self.store.get(located.path)
        return ResolvedModule(name, module, located.is_package, readable=module is not None)


def mentions_of(text: str, imports: Sequence[Imported]) -> Mentions:
    """Return the names that a module of this text, with these imports, mentions."""
    return Mentions(text, {part for each in imports for part in (*each.module.split("."), *each.names) if part})
