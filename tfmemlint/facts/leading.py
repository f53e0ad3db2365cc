"""Find the functions and classes of a project that lead to code of some kind, across its modules."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from collections.abc import Set as AbstractSet
from pathlib import PurePath

from tfmemlint.facts.mentions import LATER_IMPORT, Mentions, Piece

_NAMELESS = frozenset({"__init__", "__call__", "__enter__", "__exit__", "__new__", "__getattr__"})
"""Methods that are not called by name: objects are created by the name of their class."""


_GENERAL_NAMES = """
    append build call clear close compile copy create data evaluate fit forward get image initialize items keys load
    main name numpy open predict read reset run save set setup shape size start step stop test text train update
    values video write
"""
_GENERAL = _NAMELESS | frozenset(_GENERAL_NAMES.split())
"""Methods whose names are too common: they are found by the names of their classes."""

MAX_ROUNDS_WITHOUT_INDEX = 8
"""Rounds in which each piece of a module is searched for new words, before its words are collected: a chain of calls
has as many rounds as calls, and most modules have two or three."""


def _by_word(pieces: Iterable[Piece]) -> dict[str, list[Piece]]:
    found: dict[str, list[Piece]] = {}
    for piece in pieces:
        for word in piece.words:
            found.setdefault(word, []).append(piece)
    return found


def _own_name(key: str) -> str:
    """Return the last part of a module's name, by its file."""
    path = PurePath(key)
    return path.parent.name if path.stem == "__init__" else path.stem


def _is_named(key: str, names: AbstractSet[str]) -> bool:
    """Return True if a module's file is where one of some dotted names leads, from whichever folder that starts."""
    path = PurePath(key)
    parts = path.parent.parts if path.stem == "__init__" else (*path.parent.parts, path.stem)
    return any(".".join(parts[start:]) in names for start in range(len(parts)))


def _imports_one_of(piece: Piece, names: AbstractSet[str]) -> bool:
    """True if a function or class may import a module of one of these names when it runs."""
    return bool(names) and not piece.words.isdisjoint(names) and LATER_IMPORT.search(piece.text) is not None


class Leading:
    """The functions and classes of some modules that lead to code of one kind: those with a word about it, those that
    mention one of these, and those that import, when they run, a module whose import leads there.

    Args:
        about: says of a text whether it has such a word.
    """

    def __init__(self, about: Callable[[str], object]) -> None:
        self._about = about
        self._modules: dict[str, Mentions] = {}
        self._others: dict[str, list[Piece]] = {}
        self._tried: dict[str, tuple[set[str], set[str]]] = {}
        """The names, and the methods, that the other pieces of each module were searched for."""
        self._leading: dict[str, set[str]] = {}
        self._methods: dict[str, set[str]] = {}
        self._imports: dict[str, set[str]] = {}
        self._importers: dict[str, set[str]] = {}
        self._seen: dict[str, tuple[set[str], set[str]]] = {}
        """The names that each module can see, filled when everything is settled."""
        self._on_import: dict[str, bool] = {}
        self._at_once: dict[str, set[str]] = {}
        """The modules that the import of each module imports itself."""
        self._acting: dict[str, str] = {}
        """The modules whose import leads there, or may, each with its own name."""
        self._acting_themselves: set[str] = set()
        """Those of them that do so by their own code."""
        self._loaded: dict[str, frozenset[str]] = {}
        self._packages: dict[str, list[str]] = {}
        """The ``__init__`` modules of each folder and of those that it is in."""

    def add(self, key: str, module: Mentions, imports: Iterable[str]) -> None:
        """Add a module, with the keys of the modules that it imports."""
        self._modules[key] = module
        self._leading[key], self._methods[key] = set(), set()
        self._others[key] = []
        imports = set(imports)
        self._at_once[key] = {other for other in imports if _is_named(other, module.imported_at_once)}
        for other in imports:
            self._imports.setdefault(key, set()).add(other)
            self._importers.setdefault(other, set()).add(key)
        if not self._about(module.text):
            self._others[key].extend(module.pieces)
            return
        for piece in module.pieces:
            if self.is_about(piece):
                self._lead(key, piece)
            else:
                self._others[key].append(piece)

    def of(self, key: str) -> tuple[list[str], list[str]]:
        """Return the functions and classes of a module that lead there, and the methods."""
        return sorted(self._leading.get(key, ())), sorted(self._methods.get(key, ()))

    def _lead(self, key: str, piece: Piece) -> None:
        if not piece.method:
            self._leading[key].add(piece.name)
        elif piece.name not in _GENERAL:
            self._methods[key].add(piece.name)

    def settle(self) -> None:
        """Find everything that leads there, after every module has been added."""
        pending = sorted(self._modules)
        waiting = set(pending)
        while pending:
            key = pending.pop()
            waiting.discard(key)
            if self._grow(key):
                for importer in sorted(self._importers.get(key, ())):
                    if importer in self._modules and importer not in waiting:
                        waiting.add(importer)
                        pending.append(importer)

    def _grow(self, key: str) -> bool:
        """Return True if more names of a module lead there than before."""
        leading, module = self._leading[key], self._modules[key]
        before = len(leading) + len(self._methods[key]) + len(self._acting)
        self._grow_by_imports(key, module)
        seen, methods = self._seen_from(key)
        # Other modules can import its imported names from it.
        leading |= seen & module.imported
        tried = self._tried.setdefault(key, (set(), set()))
        index: dict[str, list[Piece]] | None = None
        rounds = 0
        while seen or leading or methods:
            names, called = module.words & (seen | leading), module.words & (methods | self._methods[key])
            # What none of the earlier words led to, only a new one can lead to.
            words = (names - tried[0]) | (called - tried[1])
            tried[0].update(names)
            tried[1].update(called)
            rounds += 1
            if index is None and words and rounds > MAX_ROUNDS_WITHOUT_INDEX:
                index = _by_word(self._others[key])
            if index is not None:
                near = list({id(piece): piece for word in words for piece in index.get(word, ())}.values())
            else:
                # Most contain none of them at all: this test is faster than collecting their words.
                near = [
                    piece for piece in (self._others[key] if words else ()) if any(map(piece.text.__contains__, words))
                ]
            found = {id(piece): piece for piece in near if self._mentions(piece, key, names, called)}
            if not found:
                break
            for piece in found.values():
                self._lead(key, piece)
            if index is None:
                self._others[key] = [piece for piece in self._others[key] if id(piece) not in found]
        if index is not None:
            leading_names = leading | self._methods[key]
            self._others[key] = [piece for piece in self._others[key] if piece.name not in leading_names]
        if key not in self._acting and self._acts(key, module):
            self._acting[key] = _own_name(key)
        return len(leading) + len(self._methods[key]) + len(self._acting) > before

    def _acts(self, key: str, module: Mentions) -> bool:
        """True if the import of a module may lead there, by its own code or by a module that it imports."""
        if not self._acting.keys().isdisjoint(self._at_once[key]):
            return True
        seen, methods = self._seen_from(key)
        names, called = seen | self._leading[key], methods | self._methods[key]
        # The text is searched first: of most modules no word leads there.
        if not self._about(module.text) and not any(map(module.text.__contains__, names | called)):
            return False
        found = self.is_about(module.top) or self._mentions(module.top, key, names, called)
        if found:
            self._acting_themselves.add(key)
        return found

    def _grow_by_imports(self, key: str, module: Mentions) -> None:
        """Add the functions and classes of a module that import, when they run, one whose import leads there."""
        names = self._acting_from(key) if module.imports_later else set()
        if not names:
            return
        found = [piece for piece in self._others[key] if _imports_one_of(piece, names)]
        for piece in found:
            self._lead(key, piece)
        self._others[key] = [piece for piece in self._others[key] if piece not in found]

    def _acting_from(self, key: str) -> set[str]:
        """Return the names of the modules that a module imports, and whose import leads there where a function runs
        it: what has been imported with the module itself is not run again."""
        acting = [other for other in self._imports.get(key, ()) if other in self._acting]
        return {
            self._acting[other]
            for other in acting
            if not self._loaded_with(other) & self._acting_themselves <= self._loaded_with(key)
        }

    def _loaded_with(self, key: str) -> frozenset[str]:
        """Return the modules that are imported where a module is: itself, and those that it imports at once."""
        known = self._loaded.get(key)
        if known is None:
            found, pending = {key}, [key]
            while pending:
                module = pending.pop()
                for other in (*self._at_once.get(module, ()), *self._packages_of(module)):
                    if other not in found:
                        found.add(other)
                        pending.append(other)
            known = self._loaded[key] = frozenset(found)
        return known

    def _packages_of(self, key: str) -> list[str]:
        """Return the packages that a module is in: they are imported before it."""
        folder = key[: key.rfind(os.sep) + 1]  # a `PurePath` of each costs more than all else here
        known = self._packages.get(folder)
        if known is None:
            inits = [str(parent / "__init__.py") for parent in (PurePath(folder), *PurePath(folder).parents)]
            known = self._packages[folder] = [init for init in inits if init in self._modules]
        return known

    def _seen_from(self, key: str) -> tuple[set[str], set[str]]:
        """Return the functions and classes that lead there among the imports of a module, and the methods."""
        others = [other for other in self._imports.get(key, ()) if other in self._modules]
        return set().union(*(self._leading[other] for other in others)), set().union(
            *(self._methods[other] for other in others)
        )

    def _mentions(self, piece: Piece, key: str, leading: AbstractSet[str], methods: AbstractSet[str]) -> bool:
        module = self._modules[key]
        if any(module.knows(name, piece) for name in piece.words & leading):
            return True
        return not piece.words.isdisjoint(methods) and not methods.isdisjoint(piece.attributes)

    def is_about(self, piece: Piece) -> bool:
        """Return True if code has a word of this kind itself."""
        return bool(self._about(piece.text))

    def forget(self) -> None:
        """Forget everything that is not needed to decide if other code mentions code that leads there."""
        self._others.clear()
        for module in self._modules.values():
            module.forget()

    def mentioned(self, piece: Piece, key: str) -> bool:
        """Return True if ``piece``, in the module ``key``, mentions code that leads there."""
        if key not in self._modules:
            return False
        known = self._seen.get(key)
        if known is None:
            seen, methods = self._seen_from(key)
            known = self._seen[key] = seen | self._leading[key], methods | self._methods[key]
        return self._mentions(piece, key, *known) or _imports_one_of(piece, self._acting_from(key))

    def on_import(self, key: str) -> bool:
        """Return True if importing the module ``key`` may lead there."""
        found = self._on_import.get(key)
        if found is None:
            piece = self._modules[key].top if key in self._modules else None
            found = piece is not None and (self.is_about(piece) or self.mentioned(piece, key))
            self._on_import[key] = found
        return found
