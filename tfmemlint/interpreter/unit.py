"""The modules of a program before they are interpreted, how a program is run, and what is kept of an import."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Any, Protocol

from tfmemlint.facts.reach import Reach
from tfmemlint.facts.shapes import Shapes
from tfmemlint.interpreter.values import ModuleInstance, Scope
from tfmemlint.model.records import dataclass, record

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from collections.abc import Set as AbstractSet

    from tfmemlint.interpreter.program import EnvWrite
    from tfmemlint.interpreter.state import Event, State
    from tfmemlint.interpreter.values import Cell, Class, Instance, Value
    from tfmemlint.model.finding import Span, Step
    from tfmemlint.sources import Source

__all__ = ["EntrySetup", "ModuleInstance", "ModuleSummary", "Modules", "ParsedModule", "ResolvedModule"]


@record(frozen=True, slots=True, eq=False)
class ParsedModule:
    """A module that was read and parsed, whatever program it is part of."""

    source: Source
    tree: ast.Module
    reach: Reach
    shapes: Shapes

    def unit(self, name: str, package: str | None, number: int = 0) -> ModuleInstance:
        """It as a module of one program."""
        unit = ModuleInstance(self.source, self.tree, self.reach, self.shapes, name, package, Scope(number=number))
        unit.scope.unit = unit
        return unit


@record(frozen=True, slots=True)
class ResolvedModule:
    """A module of the project that was found.

    ``text`` is None for a package without ``__init__.py``, and for one that can't be read (``readable`` False), of
    which nothing is known.
    """

    name: str
    text: ParsedModule | None
    is_package: bool
    readable: bool = True


@record(frozen=True, slots=True)
class EntrySetup:
    """The way in which a program is run.

    Attributes:
        modules: where it finds its project's own modules; None where imports aren't followed. name: its ``__name__``.
        package: the package that it is in, imported first; None for a script.
        before: what runs before it: the ``conftest.py`` files of a test.
        function: what is called at the end, as by a console script; it may be a method of a class.
        environment: the variables that it is started with, as far as some configuration file sets them.
        arguments: the words behind its name by which it is started, each None if it is not known; None if none is.
        optimized: Python drops assertions.
        settled_by: the files after whose import nothing in the program configures anything; empty if that isn't known.
    """

    modules: Modules | None = None
    name: str = "__main__"
    package: str | None = None
    before: tuple[ParsedModule, ...] = ()
    function: str | None = None
    environment: tuple[EnvWrite, ...] = ()
    arguments: tuple[str | None, ...] | None = None
    optimized: bool = False
    settled_by: frozenset[str] = frozenset()


@dataclass(slots=True, eq=False)
class ModuleSummary:
    """The outcome of importing a module that has only bound names; see `tfmemlint.interpreter.summaries`.

    Attributes:
        units: the modules that were imported, by name, with the names in each. needs: those that had been before.
        looked_at: the modules whose names were looked up.
        heap: the attributes that objects and classes were given. defaults: the values of default arguments, by the id
        of each. env: what it has put into the environment. read: what it has found there, or not (None).
        places: where all modules are that were asked for; None for those of others.
        contents: the lists of other modules that were looked at, or changed, and what the heap had of each before.
    """

    units: dict[str, tuple[ModuleInstance, dict[str, Value]]]
    needs: dict[str, ModuleInstance]
    looked_at: frozenset[str]
    heap: dict[tuple[Instance | Class | Cell, str], Value]
    defaults: dict[int, Value]
    env: dict[str, Value]
    read: dict[str, Value | None]
    places: dict[str, object]
    contents: dict[Cell, Value | None]

    def modules(self) -> Iterator[tuple[str, ModuleInstance]]:
        """Return all modules that it speaks of, by name."""
        for name, (unit, _) in self.units.items():
            yield name, unit
        yield from self.needs.items()


@dataclass(slots=True, eq=False)
class Replay:
    """The difference that importing a module with effects makes; see `tfmemlint.interpreter.replays`.

    Attributes:
        target: the release. env: what the program had put into the environment before.
        attributes_set, stored_functions: as in the context before.
        needs: the modules asked for that had been imported before. contents: the lists of these that were looked at,
        with what the heap had of each before.
        way: the calls and imports that led to the module.
        after: the state. end: the state in which the program may have been left.
        units: the modules that were imported, by name, with the names in each.
        places: where all modules are that were asked for; None for those of others.
        heap, events: what was added. env_read: the variables that were looked at.
        collections: what was added to each dictionary, set and list of the context, by the name of the attribute.
        counts: the numbers and truth values of the context that are others now.
        changes: what was added to the places where code is put into containers.
    """

    target: object
    env: Mapping[str, Value]
    attributes_set: Mapping[str, int]
    stored_functions: AbstractSet[int]
    needs: dict[str, ModuleInstance]
    contents: dict[Cell, Value | None]
    way: tuple[Step, ...]
    after: State
    end: State | None
    units: dict[str, tuple[ModuleInstance, dict[str, Value]]]
    places: dict[str, object]
    heap: dict[tuple[Instance | Class | Cell, str], Value]
    events: list[Event]
    env_read: dict[str, Value | None]
    collections: dict[str, Any]
    counts: dict[str, Any]
    changes: list[tuple[Span, ...]]


class Modules(Protocol):
    """The modules that a program can import from its own project."""

    quiet: dict[int, bool]
    """Functions, by the id of each, and whether they neither configure anything nor end the program."""

    def kept(self, name: str) -> ModuleSummary | None:
        """Return the summary of a program that found this module, and all that it asks for, in the same places."""

    def keep(self, name: str, kept: ModuleSummary) -> None:
        """Keep a summary for later programs."""

    def replays(self, name: str) -> Sequence[Replay]:
        """Return what earlier programs' imports of this module have done."""

    def keep_replay(self, name: str, kept: Replay) -> None:
        """Keep what an import of this module has done for later programs."""

    def finds_the_same(self, places: Mapping[str, object]) -> bool:
        """True if this program finds all these modules in these places."""

    def place(self, name: str) -> object:
        """Return the place of the module of this absolute name; None if it is not the project's own, or unknown."""

    def is_missed(self, name: str) -> bool:
        """True if a module of this absolute name is not there, but may appear later."""

    def find(self, name: str) -> ResolvedModule | None:
        """Return the module of this absolute name; None if it is not the project's own, or unknown."""

    def modules_in(self, directory: str) -> list[tuple[str, bool]] | None:
        """Return the names of the modules in a directory, with whether each is a package; None if it is too large."""

    def is_only(self, name: str) -> bool:
        """True if no other module of the projects could have the name of this one, which is one of them."""

    def would_hide(self, directory: str) -> bool:
        """True if this directory, searched first, has another module of a name that the program finds."""

    def sets(self, path: str, name: str, lines: Sequence[str]) -> bool:
        """True if a function of the module at ``path`` may configure a GPU, by the names that it mentions."""
