"""The names of TensorFlow in a file that tell its release: those that some releases lack, used without a guard."""

from __future__ import annotations

import ast
import re
import warnings
from collections.abc import Callable, Iterable, Iterator
from functools import lru_cache
from typing import Any

from tfmemlint.facts.names import canonical
from tfmemlint.facts.tree_walk import node_fields, nodes, unparsed
from tfmemlint.knowledge import names
from tfmemlint.knowledge.memory_names import is_about_gpu_memory
from tfmemlint.knowledge.releases import KNOWN, Target
from tfmemlint.model.patterns import late_pattern
from tfmemlint.model.records import dataclass

EVERY_RELEASE = (1 << len(KNOWN)) - 1
VERSION_WORDS = late_pattern(
    r"(?<!con)version|hasattr|getattr|tf_?v?[12]\b|tensorflow_?v?[12]\b|_v[12]\b|\bv[12]\b|eager|legacy|compat|contrib|tf2\.enabled"
    r"|keras_?[123]\b|TF1|TF2",
    re.IGNORECASE,
)
"""Words of a condition that asks which release runs."""

METHODS_OF_KERAS_2 = frozenset({"fit_generator", "evaluate_generator", "predict_generator"})
"""Methods of a model that Keras 3 lacks (seen with Keras 3.15: ``hasattr(keras.Model, "fit_generator")`` is false)."""
_generator_of_keras_2 = re.compile(rb"(?:fit|evaluate|predict)_generator[\s\\]*[(#]").search
_rates_of_keras_2 = re.compile(rb"lr[\s\\]*[=#]").finditer
_ends_in_word = re.compile(rb"\w\Z").search
_PACKAGES_OF_KERAS_2 = frozenset({"tensorflow_addons", "tensorflow_federated"})
"""Packages whose last releases need a TensorFlow with Keras 2: 0.23 (``keras.src.engine``) and 0.87 (2.14)."""
_imports_of_keras_2 = re.compile(rb"tensorflow_(?:addons|federated)\b").search
_OPTIMIZERS = frozenset({"Adadelta", "Adagrad", "Adam", "Adamax", "Nadam", "RMSprop", "SGD"})
"""Optimizers whose ``lr`` Keras 3 refuses (seen with Keras 3.15: ValueError: Argument(s) not recognized)."""
_HANDLED = frozenset({"ImportError", "ModuleNotFoundError", "AttributeError", "Exception", "BaseException"})


@dataclass(frozen=True, slots=True)
class NameUse:
    """A name of TensorFlow in a file.

    Attributes:
        name: the canonical name. path, row: where it is used first. mask: the known releases that have it, a bit each.
    """

    name: str
    path: str
    row: int
    mask: int


@dataclass(frozen=True, slots=True)
class FileNames:
    """The names of TensorFlow in a file.

    Attributes:
        uses: those that some known releases have and others lack, each with its first use.
        memory_uses: those about GPU memory that some known releases lack, which are no part of ``uses``.
        of_keras_2: what Keras 3 lacks, and so the Keras of TensorFlow 2.16 and later.
    """

    uses: tuple[NameUse, ...] = ()
    memory_uses: tuple[NameUse, ...] = ()
    of_keras_2: tuple[NameUse, ...] = ()


def names_in(path: str, data: bytes) -> FileNames:
    """Return the names of TensorFlow in a file.

    Names about GPU memory are left out of its uses: they are what is judged, and so no evidence. So is what stands
    behind a condition about the release, or in a ``try`` that does without. A file that is not valid Python has none.
    """
    tree = _tree(path, data)
    if tree is None:
        return FileNames()
    reader = _Reader(_aliases(tree))
    reader.read(tree.body)
    found: dict[str, NameUse] = {}
    about_memory: dict[str, NameUse] = {}
    put_there = names.only_in_alias(data.decode("utf-8", "replace")) | reader.stored
    for name, row in reader.found:
        if name in found or name in about_memory or name in put_there:
            continue
        for uses, mask in ((found, releases_with(name)), (about_memory, releases_with_memory_name(name))):
            if mask not in (0, EVERY_RELEASE):
                uses[name] = NameUse(name, path, row, mask)
    of_keras_2 = tuple(NameUse(name, path, row, BEFORE_KERAS_3) for name, row in reader.of_keras_2[:1])
    return FileNames(tuple(found.values()), tuple(about_memory.values()), of_keras_2)


def may_name(data: bytes) -> bool:
    """Return True if a file may have a name that tells its release."""
    return b"tensorflow" in data or (b"keras" in data and may_be_of_keras_2(data))


def may_be_of_keras_2(data: bytes) -> bool:
    """Return True if a file may call what Keras 3 lacks."""
    if b"_generator" in data and _generator_of_keras_2(data) is not None:
        return True
    if b"tensorflow_" in data and _imports_of_keras_2(data) is not None:
        return True
    # An expression that begins with plain letters is searched for these: it takes a tenth of the time.
    starts = (rate.start() for rate in _rates_of_keras_2(data))
    return any(_ends_in_word(data[max(start - 1, 0) : start]) is None for start in starts)


def stored_in(path: str, data: bytes) -> frozenset[str]:
    """Return the names that a file puts into TensorFlow, wherever it does: ``tf.Session = tf.compat.v1.Session``."""
    tree = _tree(path, data)
    if tree is None:
        return frozenset()
    reader = _Reader(_aliases(tree))
    for node in nodes(tree):
        if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store):
            reader.stored.add(reader.dotted(node))
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "setattr":
            reader.read_setattr(node)
    return frozenset(reader.stored - {""})


def storing(names: Iterable[str]) -> Callable[[bytes], object]:
    """Return what is true of the bytes of each file that may put one of these names into TensorFlow."""
    lasts = sorted({name.rpartition(".")[2] for name in names})
    last = "|".join(map(re.escape, lasts))
    # What stands behind an attribute that is bound: an assignment of any kind, the end of a target in brackets, `in`.
    bound = rf"\.[\s\\]*(?:{last})(?:[\s\\]|#[^\n]*\n)*(?:[,)\]:]|[-+*/%&|^@<>]*=(?!=)|in\b)"
    search = re.compile(rf"\bsetattr\b|{bound}".encode()).search
    parts = (b"setattr", *(name.encode() for name in lasts))
    return lambda data: any(part in data for part in parts) and search(data)


def _tree(path: str, data: bytes) -> ast.Module | None:
    """Return the syntax tree of a file; None if it has no name that counts, or is not valid Python."""
    if not may_name(data):
        return None
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return ast.parse(_code(path, data))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def _code(path: str, data: bytes) -> str | bytes:
    """Return the Python of a file: of a notebook, that of its cells.

    Raises:
        ValueError: the file can't be read.
    """
    if not path.endswith(".ipynb"):
        return data
    from tfmemlint.sources import Unreadable, decode

    try:
        return decode(path, data).text
    except Unreadable as error:
        raise ValueError(str(error)) from None


@lru_cache(maxsize=8192)
def releases_with(name: str) -> int:
    """Return the known releases that have a name, or may have it, a bit each, the oldest first."""
    if name.startswith("tf.examples.tutorials"):
        # It is no public name; 1.13 to 1.15 have it, and 2.1, 2.4, 2.15 and 2.21 do not.
        return sum(1 << place for place, release in enumerate(_TARGETS) if release.major < 2)
    return EVERY_RELEASE if is_about_gpu_memory(name) else _having(name)


@lru_cache(maxsize=1024)
def releases_with_memory_name(name: str) -> int:
    """Return the known releases that have a name about GPU memory; all of them for every other name."""
    return _having(name) if is_about_gpu_memory(name) else EVERY_RELEASE


def _having(name: str) -> int:
    if not names.ever_existed(_known_part(name)):
        return EVERY_RELEASE
    return names.releases_without_missing_part(name)


_TARGETS = tuple(Target.parse(release) for release in KNOWN)
BEFORE_KERAS_3 = sum(1 << place for place, release in enumerate(_TARGETS) if not release.keras3)
"""The known releases whose Keras is Keras 2, a bit each."""


def _known_part(name: str) -> str:
    """Return the part of a name that the newest release lacks, or else all of it."""
    return names.missing_part(name, _TARGETS[-1]) or name


_BINDING = frozenset({ast.Import, ast.ImportFrom, ast.Name, ast.arg})


def _aliases(tree: ast.Module) -> dict[str, str]:
    """Return the names that a file gives to parts of TensorFlow, without those that stand for several."""
    found: dict[str, set[str]] = {}
    for node in nodes(tree):
        # Most nodes are none of these four: a set tells so in a quarter of the time that isinstance takes for each.
        if node.__class__ not in _BINDING:
            continue
        if isinstance(node, ast.Import):
            for alias in node.names:
                whole = alias.name if alias.asname else alias.name.partition(".")[0]
                found.setdefault(alias.asname or whole, set()).add(canonical(whole))
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            for alias in node.names:
                found.setdefault(alias.asname or alias.name, set()).add(canonical(f"{node.module}.{alias.name}"))
        elif isinstance(node, ast.Name):
            if isinstance(node.ctx, ast.Store):
                found.setdefault(node.id, set()).add("")
        elif isinstance(node, ast.arg):
            found.setdefault(node.arg, set()).add("")
    return {
        local: name
        for local, meanings in found.items()
        if len(meanings) == 1 and (name := next(iter(meanings))).partition(".")[0] == "tf"
    }


class _Reader:
    """Collects the names in statements that no condition about the release guards."""

    def __init__(self, aliases: dict[str, str]) -> None:
        self._aliases = aliases
        self.found: list[tuple[str, int]] = []
        self.of_keras_2: list[tuple[str, int]] = []
        self.stored: set[str] = set()

    def read(self, statements: list[ast.stmt]) -> None:
        """Read some statements in a row; what comes behind an early exit by the release is guarded."""
        for statement in statements:
            self._node(statement)
            if isinstance(statement, ast.If) and asks_release(statement.test) and _exits(statement.body):
                return

    def _node(self, node: ast.AST) -> None:
        kind = type(node)
        reads = _READ_BY.get(kind)
        if reads is not None and reads(self, node):
            return
        for field in node_fields(kind):
            value = getattr(node, field, None)
            if value.__class__ is list:
                if value and isinstance(value[0], ast.stmt):
                    self.read(value)
                else:
                    for item in value:
                        # A dictionary has None for the key of what is unpacked into it.
                        if item is not None and item.__class__ not in _LEAVES:
                            self._node(item)
            elif value is not None and value.__class__ not in _LEAVES:
                self._node(value)

    def _condition(self, node: ast.If | ast.IfExp | ast.While) -> bool:
        return asks_release(node.test)

    def _try(self, node: ast.Try) -> bool:
        if not any(_does_without(each) for each in node.handlers):
            return False
        self.read(node.finalbody)
        return True

    def _bool_op(self, node: ast.BoolOp) -> bool:
        return any(asks_release(value) for value in node.values)

    def _import(self, node: ast.Import) -> bool:
        self.found += ((canonical(alias.name), node.lineno) for alias in node.names)
        self._read_package((alias.name for alias in node.names), node.lineno)
        return False

    def _import_from(self, node: ast.ImportFrom) -> bool:
        if node.module is not None and node.level == 0:
            self.found += ((canonical(f"{node.module}.{alias.name}"), node.lineno) for alias in node.names)
            self._read_package([node.module], node.lineno)
        return False

    def _read_package(self, modules: Iterable[str], row: int) -> None:
        """Remember a package that needs Keras 2."""
        packages = (module.partition(".")[0] for module in modules)
        self.of_keras_2 += ((package, row) for package in packages if package in _PACKAGES_OF_KERAS_2)

    def _call(self, node: ast.Call) -> bool:
        match node:
            case ast.Call(func=ast.Name(id="setattr"), args=[owner, ast.Constant(value=str(attribute)), _]):
                name = canonical(self._aliases.get(owner.id, "")) if isinstance(owner, ast.Name) else self.dotted(owner)
                self.stored.add(f"{name}.{attribute}")
            case ast.Call(func=ast.Attribute(attr=method)) if method in METHODS_OF_KERAS_2:
                self.of_keras_2.append((f"Model.{method}", node.lineno))
            case ast.Call(func=ast.Name(id=name) | ast.Attribute(attr=name), args=[], keywords=keywords) if (
                name in _OPTIMIZERS
            ):
                # PyTorch's optimizers get parameters first.
                given = {keyword.arg for keyword in keywords}
                if "lr" in given and "params" not in given:
                    self.of_keras_2.append((f"{name}(lr=)", node.lineno))
        return False

    def _attribute(self, node: ast.Attribute) -> bool:
        if isinstance(node.ctx, ast.Store):
            self.stored.add(self.dotted(node))
            return False
        name = self.dotted(node)
        if name:
            self.found.append((name, node.lineno))
        return bool(name)

    def _definition(self, node: ast.FunctionDef | ast.ClassDef) -> bool:
        return any(asks_release(decorator) for decorator in node.decorator_list)

    def read_setattr(self, call: ast.Call) -> None:
        """Remember the name that ``setattr(tf, "Session", ...)`` puts into TensorFlow."""
        match call.args:
            case [owner, ast.Constant(value=str(attribute)), _] if self.dotted(owner):
                self.stored.add(f"{self.dotted(owner)}.{attribute}")

    def dotted(self, node: ast.expr) -> str:
        """Return the canonical name of an expression; "" for what is no part of TensorFlow."""
        if isinstance(node, ast.Name):
            return canonical(self._aliases.get(node.id, ""))
        parts: list[str] = []
        while isinstance(node, ast.Attribute):
            parts.append(node.attr)
            node = node.value
        if not isinstance(node, ast.Name) or node.id not in self._aliases:
            return ""
        return canonical(".".join((self._aliases[node.id], *reversed(parts))))


_LEAVES = frozenset({ast.Name, ast.Constant, ast.Pass})
"""Nodes that no name is read from, and that have no others in them."""
_READ_BY: dict[type[ast.AST], Callable[[_Reader, Any], bool]] = {
    ast.If: _Reader._condition,
    ast.IfExp: _Reader._condition,
    ast.While: _Reader._condition,
    ast.Try: _Reader._try,
    ast.BoolOp: _Reader._bool_op,
    ast.Import: _Reader._import,
    ast.ImportFrom: _Reader._import_from,
    ast.Call: _Reader._call,
    ast.Attribute: _Reader._attribute,
    ast.FunctionDef: _Reader._definition,
    ast.ClassDef: _Reader._definition,
}
"""The readers of nodes, by kind: True if nothing in the node is to be read besides."""


def asks_release(test: ast.expr) -> bool:
    """Return True if a condition is about the release that runs, as far as its names tell."""
    return any(VERSION_WORDS.search(word) for word in _words(test))


def _words(node: ast.AST) -> Iterator[str]:
    for inner in nodes(node):
        if isinstance(inner, ast.Name):
            yield inner.id
        elif isinstance(inner, ast.Attribute):
            yield inner.attr
            yield unparsed(inner)


def _exits(body: list[ast.stmt]) -> bool:
    return bool(body) and isinstance(body[-1], ast.Return | ast.Raise | ast.Continue)


def _does_without(handler: ast.ExceptHandler) -> bool:
    if handler.type is None:
        return True
    return any(word in _HANDLED for word in _words(handler.type))
