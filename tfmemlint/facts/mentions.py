"""Find the code of a project that leads to code of some kind, across modules, by the names that it mentions.

The text is searched, not the syntax tree: that takes a tenth of the time, and most modules need not be parsed. A name
in a comment counts as well. The result decides which code is read closely, so it may contain too much, never too
little.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from collections.abc import Set as AbstractSet
from functools import cached_property
from pathlib import PurePath

from tfmemlint.knowledge.configuring import WORDS

CONFIGURES = re.compile("|".join(WORDS))
"""Matches code that may configure a GPU with ``tf.config`` or environment variables."""


def may_configure(text: str) -> bool:
    """Return True if `CONFIGURES` matches in a text. To look for each of its words takes a fifth of the time."""
    return any(word in text for word in WORDS)


_WORD = re.compile(r"[^\W\d]\w*")
_PAIR = re.compile(r"((?<!\w)[^\W\d]\w*|[)\]])[ \t]*\.[ \t]*(?=([^\W\d]\w*))")
_HEAD = re.compile(r"([ \t]*)(?:async[ \t]+)?(def|class)[ \t]+([^\W\d]\w*)")
_ALIAS = re.compile(r"as(?<!\was)[ \t]+([^\W\d]\w*)")
"""It begins with plain letters, which are looked for much faster than the edge of a word."""
_DOCSTRING = re.compile(r"\A(?:\s|#[^\n]*\n)*[rRuUbB]?(\"\"\"|''').*?\1", re.DOTALL)
_GUARD = re.compile(r"if[ \t(]+__name__\b")
_UNMENTIONED = re.compile(r"def[ \t]+__getattr__\b")
_PLAIN_DECORATOR = re.compile(
    r"@(?:functools|contextlib|contextmanager|click|pytest|typing|abc|dataclass|dataclasses|attr|attrs|tf|lru_cache|cache)\b"
)
"""Decorators of other libraries that do not store a function where the project's own code calls it."""
_ACTS = re.compile(r"\(|\][ \t]*=(?!=)")
_LATER_IMPORT = re.compile(r"^[ \t]+(?:import|from)\b|import_module|__import__", re.MULTILINE)
"""An import that does not run where its module is imported."""
_CONTINUES = (")", "]", "}", "#")
_GOES_ON = (*_CONTINUES, "else", "elif", "except", "finally")
_NAMELESS = frozenset({"__init__", "__call__", "__enter__", "__exit__", "__new__", "__getattr__"})
"""Methods that are not called by name: objects are created by the name of their class."""


_GENERAL_NAMES = """
    append build call clear close compile copy create data evaluate fit forward get image initialize items keys load
    main name numpy open predict read reset run save set setup shape size start step stop test text train update
    values video write
"""
_GENERAL = _NAMELESS | frozenset(_GENERAL_NAMES.split())
"""Methods whose names are too common: they are found by the names of their classes."""


class Piece:
    """The text of a function, of a class, or of the code outside all of them."""

    def __init__(self, name: str, text: str, *, method: bool = False) -> None:
        self.name = name
        self.text = text
        self.method = method

    @cached_property
    def words(self) -> frozenset[str]:
        """All words of the text."""
        return frozenset(_WORD.findall(self.text))

    @cached_property
    def attributes(self) -> dict[str, set[str]]:
        """The names after dots, each with the names before the dot."""
        found: dict[str, set[str]] = {}
        for owner, name in _PAIR.findall(self.text):
            found.setdefault(name, set()).add(owner)
        return found


class Mentions:
    """The mentions in the pieces of one module.

    Args:
        text: the module.
        imports: every component of the names that its imports request.
    """

    def __init__(self, text: str, imports: Iterable[str]) -> None:
        self.text = text
        self.imported = frozenset(imports) | frozenset(_ALIAS.findall(text))
        self._lines = text.split("\n")

    @cached_property
    def pieces(self) -> list[Piece]:
        """The functions and classes of the module."""
        found: list[Piece] = []
        open_: list[tuple[int, int, str, bool, bool]] = []
        for row, line in enumerate(self._lines):
            stripped = line.lstrip(" \t")
            if not stripped or stripped.startswith(_CONTINUES):
                continue
            indent = len(line) - len(stripped)
            while open_ and indent <= open_[-1][0]:
                found.append(self._closed(open_.pop(), row))
            match = _HEAD.match(line)
            if match is not None:
                inside_class = bool(open_) and open_[-1][4]
                open_.append((indent, self._decorated(row, indent), match[3], inside_class, match[2] == "class"))
        while open_:
            found.append(self._closed(open_.pop(), len(self._lines)))
        return found

    def _decorated(self, row: int, indent: int) -> int:
        """Return the first row of a definition: that of its first decorator."""
        while row and self._lines[row - 1].startswith("@", indent) and not self._lines[row - 1][:indent].strip():
            row -= 1
        return row

    def _closed(self, opened: tuple[int, int, str, bool, bool], end: int) -> Piece:
        _, start, name, method, _ = opened
        return Piece(name, "\n".join(self._lines[start:end]), method=method)

    @cached_property
    def words(self) -> frozenset[str]:
        """All words of the module."""
        return frozenset(_WORD.findall(self.text))

    @cached_property
    def defined(self) -> frozenset[str]:
        """The names of its functions and classes."""
        return frozenset(piece.name for piece in self.pieces)

    @cached_property
    def top(self) -> Piece:
        """The code outside of functions, classes and imports that runs, or writes, when the module is imported; also
        functions that may run later without a mention: one that a decorator of the project may have stored, and
        ``__getattr__``."""
        text = _DOCSTRING.sub("", self.text, count=1)
        kept = list(self._unmentioned)
        for statement in _statements(text):
            first = statement[0]
            if _HEAD.match(first) or first.startswith(("import ", "from ", "@", '"', "'")) or _GUARD.match(first):
                continue
            whole = "\n".join(statement)
            if _ACTS.search(whole):
                kept.append(whole)
        return Piece("", "\n".join(kept))

    @cached_property
    def _unmentioned(self) -> tuple[str, ...]:
        """The texts of the functions that may run later without a mention."""
        kept = []
        decorated = False
        for statement in _statements(_DOCSTRING.sub("", self.text, count=1)):
            first = statement[0]
            if _UNMENTIONED.match(first) or (decorated and _HEAD.match(first)):
                kept.append("\n".join(statement))
            decorated = first.startswith("@") and _PLAIN_DECORATOR.match(first) is None
        return tuple(kept)

    @property
    def unmentioned(self) -> list[Piece]:
        """The functions of the module that may run after its import without a mention in the code that runs them."""
        return [Piece("", text) for text in self._unmentioned]

    @cached_property
    def whole(self) -> Piece:
        """The whole module without its imports."""
        return Piece("", "\n".join(line for line in self._lines if not line.startswith(("import ", "from "))))

    @cached_property
    def imports_later(self) -> bool:
        """True if a function of the module, or a class, may import another module."""
        return _LATER_IMPORT.search(self.text) is not None

    def forget(self) -> None:
        """Forget everything but the names that the module imports and defines."""
        self.__dict__ = {"imported": self.imported, "defined": self.defined}

    def knows(self, name: str, piece: Piece) -> bool:
        """Return True if ``name``, which ``piece`` mentions, may be a function or class of the project."""
        if name in self.imported or name in self.defined or "*" in self.imported:
            return True
        return not self.imported.isdisjoint(piece.attributes.get(name, ()))


def _statements(text: str) -> Iterable[list[str]]:
    """Yield the lines of each statement at the top level."""
    statement: list[str] = []
    for line in text.split("\n"):
        if line and line[0] not in " \t" and not line.startswith(_GOES_ON):
            if statement:
                yield statement
            statement = []
        if line.strip() and not line.lstrip().startswith("#"):
            statement.append(line)
    if statement:
        yield statement


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


def _imports_one_of(piece: Piece, names: AbstractSet[str]) -> bool:
    """True if a function or class may import a module of one of these names when it runs."""
    return bool(names) and not piece.words.isdisjoint(names) and _LATER_IMPORT.search(piece.text) is not None


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
        self._acting: dict[str, str] = {}
        """The modules whose import leads there, or may, each with its own name."""

    def add(self, key: str, module: Mentions, imports: Iterable[str]) -> None:
        """Add a module, with the keys of the modules that it imports."""
        self._modules[key] = module
        self._leading[key], self._methods[key] = set(), set()
        self._others[key] = []
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
        if not self._acting.keys().isdisjoint(self._imports.get(key, ())):
            return True
        seen, methods = self._seen_from(key)
        names, called = seen | self._leading[key], methods | self._methods[key]
        # The text is searched first: of most modules no word leads there.
        if not self._about(module.text) and not any(map(module.text.__contains__, names | called)):
            return False
        return self.is_about(module.top) or self._mentions(module.top, key, names, called)

    def _grow_by_imports(self, key: str, module: Mentions) -> None:
        """Add the functions and classes of a module that import, when they run, one whose import leads there."""
        names = self._acting_from(key)
        if not names or not module.imports_later:
            return
        found = [piece for piece in self._others[key] if _imports_one_of(piece, names)]
        for piece in found:
            self._lead(key, piece)
        self._others[key] = [piece for piece in self._others[key] if piece not in found]

    def _acting_from(self, key: str) -> set[str]:
        """Return the names of the modules that a module imports, and whose import leads there."""
        return {self._acting[other] for other in self._imports.get(key, ()) if other in self._acting}

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
