"""Find the code of a project that leads to code of some kind, across modules, by the names that it mentions.

The text is searched, not the syntax tree: that takes a tenth of the time, and most modules need not be parsed. A name
in a comment counts as well. The result decides which code is read closely, so it may contain too much, never too
little.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cached_property

from tfmemlint.knowledge.configuring import WORDS

CONFIGURES = re.compile("|".join(map(re.escape, WORDS)))
"""Matches code that may configure a GPU with ``tf.config`` or environment variables."""


def may_configure(text: str) -> bool:
    """Return True if `CONFIGURES` matches in a text. To look for each of its words takes a fifth of the time."""
    return any(word in text for word in WORDS)


_WORD = re.compile(r"[^\W\d]\w*")
_PAIR = re.compile(r"((?<!\w)[^\W\d]\w*|[)\]])[ \t]*\.[ \t]*(?=([^\W\d]\w*))")
_HEAD = re.compile(r"([ \t]*)(?:async[ \t]+)?(def|class)[ \t]+([^\W\d]\w*)")
_NAMED = re.compile(
    r"([^\W\d]\w*)[ \t]*(?::[^=\n]{0,200})?=(?!=)[ \t]*"
    r"(?:[{\[(]|(?:functools\.)?partial\(|[A-Za-z_][\w.]{0,200}[ \t]*(?:#|$))"
)
"""A name of the top level for a table of classes or functions, or another name of a function. The results of calls are
left out: most names of a program would lead somewhere."""
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
_IMPORT = re.compile(r"^(?:from[ \t]+([\w.]+)[ \t]+)?import[ \t]+(\([^)]{0,4000}\)|[^\n(#]*)", re.MULTILINE)
"""An import at the beginning of a line: neither under a condition, nor in a ``try``, nor for type checkers alone."""
LATER_IMPORT = re.compile(r"^[ \t]+(?:import|from)\b|import_module|__import__", re.MULTILINE)
"""An import that does not run where its module is imported."""
_CONTINUES = (")", "]", "}", "#")
_GOES_ON = (*_CONTINUES, "else", "elif", "except", "finally")


class Piece:
    """The text of a function, a class, a named value of the top level, or of the code outside all of them."""

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
        """The functions and classes of the module, and the named values of its top level."""
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
            elif not indent and (named := _NAMED.match(line)) is not None:
                open_.append((0, row, named[1], False, False))
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
        """The names of its functions, classes and named values."""
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
    def imported_at_once(self) -> frozenset[str]:
        """The dotted names that the module imports without a condition when it is imported itself; the dots at the
        beginning of a relative one are left out. ``from p import x`` may import ``p.x``."""
        found: set[str] = set()
        for match in _IMPORT.finditer(self.text):
            base = match[1].lstrip(".") if match[1] is not None else ""
            for part in match[2].strip("()").split(","):
                name = part.split()[0] if part.split() else ""
                found.update((base, f"{base}.{name}" if base else name))
        return frozenset(found - {""})

    @cached_property
    def imports_later(self) -> bool:
        """True if a function of the module, or a class, may import another module."""
        return LATER_IMPORT.search(self.text) is not None

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
