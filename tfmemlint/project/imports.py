"""The imports of a file, read off its bytes: no syntax tree, so that thousands of files take no time worth naming."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from itertools import islice

_WORD = frozenset(b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_") | frozenset(range(0x80, 0x100))
_BEFORE = frozenset(b" \t\f\r\n;:")
"""Characters that can stand before the first word of a statement."""
_BOM = b"\xef\xbb\xbf"
_LONG_LINE = 200
_FARTHEST = 2000
"""Bytes between ``from`` and its ``import``, beyond which nobody looks."""
_MOST = 16
"""Words with ``from`` in them between the two, after which nobody looks on."""

_NAME = rb"[\w\x80-\xff]+"
_between = re.compile(rb"(?:[\w\x80-\xff. \t\f]|\\\r?\n|\\\r)*").fullmatch
_line = re.compile(rb"(?:[\w\x80-\xff.,* \t\f]|\\\r?\n|\\\r)+").match
_bracket = re.compile(rb"(?:[ \t\f]|\\\r?\n|\\\r)*\(").match
_inside = re.compile(rb"[\w\x80-\xff,* \t\f\r\n\\]*").match
_comment = re.compile(rb"#[^\r\n]*").match
_dotted = re.compile(rb"(%b(?:\.%b)*)(?:\s+as\s+%b)?" % (_NAME, _NAME, _NAME)).fullmatch
_called = re.compile(
    rb"\s*\(\s*(?:name\s*=\s*)?[rRuU]?(\"\"\"|'''|\"|')([\w\x80-\xff.]+)\1"
    rb"(?:\s*,\s*(?:package\s*=\s*)?[rRuU]?([\"'])([\w\x80-\xff.]+)\3)?"
).match

_computed = re.compile(rb"\s*\(\s*(?:name\s*=\s*)?[fFrRuU]?[\"']([\w\x80-\xff]+(?:\.[\w\x80-\xff]+)*)\.").match
"""A name that is computed, but begins with the name of a package."""
_by_value = re.compile(
    rb"(?:import_module|__import__)\s*\(\s*(?:name\s*=\s*)?(?:[A-Za-z_]|[fF][\"']|[\"'][\w.{}%]{0,200}[\"']\s*(?:[+%]|\.f))"
).search
"""Finds an import by a name that is computed, or kept somewhere."""
_package = re.compile(
    rb"(?:import_module|__import__)\s*\(\s*(?:name\s*=\s*)?[fF]?[\"'](%b(?:\.%b)*)\." % (_NAME, _NAME)
).finditer
_relative = re.compile(rb"import_module\s*\(\s*(?:name\s*=\s*)?[fF]?[\"'](\.{1,3})(?:[\"'{%])").finditer
_texts = re.compile(rb"[\"'](\.{0,3}[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*)(:[\w.]*)?[\"']").finditer
"""Texts that may name a module, or something in one: ``plugins.colour:Filter``."""
_dotted_word = re.compile(rb"(?<![\w.])[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)+").finditer
_MOST_NAMES = 400
"""Texts of a file, or words, that are taken for names of modules."""


class Imported:
    """One import, as it stands in the code.

    Attributes:
        level: the dots before the module; 0 if it is absolute. module: the rest, "" in ``from . import a``.
        names: what is taken from it, ``("*",)`` for all; () for ``import a.b`` and for an import by a call. Each may
            be a module of its own.
    """

    __slots__ = ("_key", "level", "module", "names")

    def __init__(self, level: int, module: str, names: tuple[str, ...]) -> None:
        self.level = level
        self.module = module
        self.names = names
        self._key = level, module, names

    def __repr__(self) -> str:
        return f"Imported({self.level!r}, {self.module!r}, {self.names!r})"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Imported) and self._key == other._key

    def __hash__(self) -> int:
        return hash(self._key)


def scan(data: bytes) -> tuple[Imported, ...]:
    """Everything that a file may import, wherever it stands in it, each once, in order.

    Text that merely looks like an import (in a docstring, a comment) is taken for one; an import is never missed,
    unless its module is computed. Where one is, each text that may be a module's name is taken for an import.
    """
    found: list[Imported] = []
    scanner: _Scanner | None = None
    at = data.find(b"import")
    while at >= 0:
        start = data.rfind(b"\n", 0, at) + 1
        end = data.find(b"\n", at)
        if end < 0:
            end = len(data)
        line = data[start:end]
        if len(line) > _LONG_LINE or b"(" in line or b"\\" in line or data.endswith((b"\\", b"\\\r"), 0, start - 1):
            scanner = scanner or _Scanner(data)
            found.extend(scanner.imports(start, end))
        else:
            found.extend(_of_line(line))
        at = data.find(b"import", end)
    if computes_imports(data):
        found.extend(_in_texts(data))
    return tuple(dict.fromkeys(found))


def computes_imports(data: bytes) -> bool:
    """True if a file imports modules whose names are not written at the import."""
    return (b"import_module" in data or b"__import__" in data) and _by_value(data) is not None


def named_modules(text: bytes) -> Iterator[Imported]:
    """Yield an import of each module that a file of settings may name: a word with dots."""
    for match in islice(_dotted_word(text), _MOST_NAMES):
        yield Imported(0, _text(match[0]), ())


def _in_texts(data: bytes) -> Iterator[Imported]:
    """Yield an import of each module that a text of the file may name; of a plain name, in a package that is named
    where the module is imported (``import_module(f"plugins.{name}")``, ``import_module("." + name, __package__)``)."""
    packages = {(0, _text(match[1])) for match in _package(data)} | {(len(match[1]), "") for match in _relative(data)}
    for match in islice(_texts(data), _MOST_NAMES):
        name = _text(match[1])
        module = name.lstrip(".")
        level = len(name) - len(module)
        package, _, last = module.rpartition(".")
        if level or package:
            # A part of the text may be the name of something in the module: "plugins.colour.Filter".
            yield Imported(level, package, (last,)) if package else Imported(level, module, ())
        elif match[2]:
            yield Imported(0, module, ())
        else:
            yield from (Imported(above, package, (module,)) for above, package in packages)


@lru_cache(maxsize=8192)
def _of_line(line: bytes) -> tuple[Imported, ...]:
    """The imports of a line that stands for itself. The same lines are in most files of a project."""
    return tuple(_Scanner(line).imports(0, len(line)))


class _Scanner:
    """The imports of one text. Nothing is looked at twice, however odd the text is."""

    def __init__(self, data: bytes) -> None:
        self.data = data
        self.done = 0
        """The end of the last ``import``: the ``from`` of the next one comes after it."""
        self.brackets = 0
        """The end of the last brackets: what opens before was in a comment in them."""

    def imports(self, start: int, stop: int) -> Iterator[Imported]:
        """The imports whose word ``import`` stands between ``start`` and ``stop``."""
        data = self.data
        at = data.find(b"import", start, stop)
        while at >= 0:
            end = at + 6
            before = data[at - 1] if at else 10
            after = data[end] if end < len(data) else 10
            if after in _WORD:
                if after == 95:  # an underscore
                    yield from _by_call(data, at)
            elif before not in _WORD or (at == 3 and data.startswith(_BOM)):
                source = _source(data, max(self.done, at - _FARTHEST), at)
                if source is not None:
                    names = self._names(end)
                    if names:
                        yield Imported(*source, names)
                elif before in _BEFORE or at == 3:
                    yield from _plain(self._line(end))
                self.done = end
            at = data.find(b"import", end, stop)

    def _line(self, at: int) -> bytes:
        """The names from ``at`` to the end of the line, or of the lines that continue it."""
        data = self.data
        end = data.find(b"import", at)
        while end >= 0 and (data[end - 1] in _WORD or data[end + 6 : end + 7] > b" "):
            end = data.find(b"import", end + 6)
        match = _line(data, at, end if end >= 0 else len(data))
        return _straight(match[0]) if match is not None else b""

    def _names(self, at: int) -> tuple[str, ...]:
        """The names after the ``import`` of a ``from``."""
        bracket = _bracket(self.data, at)
        text = self._line(at) if bracket is None else self._bracketed(bracket.end())
        return tuple(_text(words[0]) for part in text.split(b",") if (words := part.split()))

    def _bracketed(self, at: int) -> bytes:
        """Return the text in brackets, without comments; up to whatever can't stand there."""
        parts: list[bytes] = []
        while at >= self.brackets:
            match = _inside(self.data, at)
            assert match is not None
            parts.append(match[0])
            comment = _comment(self.data, match.end())
            at = self.brackets = match.end() if comment is None else comment.end()
            if comment is None:
                break
        return _straight(b" ".join(parts))


def _source(data: bytes, low: int, at: int) -> tuple[int, str] | None:
    """The level and the module between ``from`` and an ``import``; None if there is no ``from`` to it."""
    start = data.rfind(b"from", low, at)
    for _ in range(_MOST):
        if start < 0:
            break
        if start == 0 or data[start - 1] in _BEFORE or (start == 3 and data.startswith(_BOM)):
            match = _between(data, start + 4, at) if data[start + 4] not in _WORD else None
            if match is not None:
                text = b"".join(_straight(match[0]).split())
                module = text.lstrip(b".")
                return len(text) - len(module), _text(module)
        start = data.rfind(b"from", low, start)
    return None


def _plain(text: bytes) -> Iterator[Imported]:
    """The modules of an ``import a, b.c as d``."""
    for part in text.split(b","):
        name = part.strip()
        found = _dotted(name)
        if found is None and b"." in name:
            found = _dotted(b".".join(piece.strip() for piece in name.split(b".")))
        if found is not None:
            yield Imported(0, _text(found[1]), ())


def _by_call(data: bytes, at: int) -> Iterator[Imported]:
    """``import_module("a.b")`` and ``__import__("a.b")``; of ``import_module(f"a.{name}")`` the package ``a``."""
    if data.startswith(b"import_module", at):
        match = _called(data, at + 13)
    elif data.startswith(b"__import__", at - 2):
        match = _called(data, at + 8)
    else:
        return
    if match is None:
        package = _computed(data, at + (13 if data.startswith(b"import_module", at) else 8))
        if package is not None:
            yield Imported(0, _text(package[1]), ())
        return
    name = _text(match[2])
    module = name.lstrip(".").removesuffix(".")
    level = len(name) - len(name.lstrip("."))
    if level and match[4]:
        # Relative to a package that is named: `import_module("..b", "a.c")`.
        parents = _text(match[4]).rsplit(".", level - 1)
        if len(parents) < level:
            return
        level, module = 0, f"{parents[0]}.{module}" if module else parents[0]
    if module:
        yield Imported(level, module, ())


def _straight(text: bytes) -> bytes:
    """Without the backslashes that continue a line."""
    return text.replace(b"\\", b" ") if b"\\" in text else text


def _text(name: bytes) -> str:
    name = name.strip()
    if name.isascii():
        return name.decode("ascii")
    import unicodedata

    # Identifiers are compared in this form.
    return unicodedata.normalize("NFKC", name.decode("utf-8", "replace"))
