"""Which code of a project leads to something, by the names that it mentions, across modules.

Text is looked at, not syntax: a name in a comment counts, too. What is found this way is looked at closely, or counted
on to do something; so rather too much is found than too little.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable
from functools import cached_property

from tfmemlint.facts.reach import Reach

CONFIGURES = re.compile(
    r"memory_growth|_device_configuration|LogicalDevice|VirtualDevice|set_visible_devices|VISIBLE_DEVICES|TF_FORCE_GPU"
    r"|TF_GPU_|TF_CUDNN|threading\.set_|set_memory_limit|set_gpu_memory|memory_limit"
)
"""Parts of words without which code configures no GPU by ``tf.config`` or the environment: that is what can come too
late. The options of a session come with it."""
MATTERS = re.compile(
    CONFIGURES.pattern
    + r"|gpu_options|allow_growth|GPUOptions|environ|putenv|[sS]ession|eager|v2_behavior|as_default|\bexit|abort"
    r"|sys\.path|import_module"
)
"""Parts of words without which code neither configures devices, nor ends the program, nor changes its mode."""
_WORD = re.compile(r"[^\W\d]\w*")
_PAIR = re.compile(r"([^\W\d]\w*|[)\]])[ \t]*\.[ \t]*([^\W\d]\w*)")
_NAMELESS = frozenset({"__init__", "__call__", "__enter__", "__exit__", "__new__", "__getattr__"})
"""Methods that nobody calls by their names: objects are made by the name of their class."""


class Piece:
    """A function, a class, or what stands outside of all of them, by its text."""

    def __init__(self, name: str, text: str, *, method: bool = False) -> None:
        self.name = name
        self.text = text
        self.method = method

    @cached_property
    def words(self) -> frozenset[str]:
        """The words in it."""
        return frozenset(_WORD.findall(self.text))

    @cached_property
    def attributes(self) -> dict[str, set[str]]:
        """What stands behind dots, each with what stands before the dot."""
        found: dict[str, set[str]] = {}
        for owner, name in _PAIR.findall(self.text):
            found.setdefault(name, set()).add(owner)
        return found


class Mentions:
    """What the pieces of one module mention."""

    def __init__(self, tree: ast.Module, reach: Reach) -> None:
        self._tree = tree
        self._reach = reach

    @cached_property
    def pieces(self) -> list[Piece]:
        """Its functions and classes."""
        methods = {
            id(inner)
            for nodes in self._reach.defined().values()
            for node in nodes
            if isinstance(node, ast.ClassDef)
            for inner in node.body
        }
        return [
            Piece(name, self._reach.text(node), method=id(node) in methods)
            for name, nodes in self._reach.defined().items()
            for node in nodes
        ]

    def piece(self, node: ast.AST) -> Piece:
        """One function or class."""
        return Piece(getattr(node, "name", ""), self._reach.text(node))

    @cached_property
    def top(self) -> Piece:
        """What runs when the module is imported, but for its own imports, functions and classes."""
        kept = [one for one in self._tree.body if not isinstance(one, _APART) and _acts(one)]
        return Piece("", "\n".join(self._reach.text(one) for one in kept))

    @cached_property
    def whole(self) -> Piece:
        """All of it, but for its imports."""
        kept = [one for one in self._tree.body if not isinstance(one, (ast.Import, ast.ImportFrom))]
        return Piece("", "\n".join(self._reach.text(one) for one in kept))

    @cached_property
    def imported(self) -> frozenset[str]:
        """The names that its imports bind, wherever they stand, and the last parts of the modules they ask for."""
        found: set[str] = set()
        for node in _imports(self._tree):
            for alias in node.names:
                found.add(alias.asname or alias.name.split(".")[0])
                found.add(alias.name.rpartition(".")[2])
        return frozenset(found)

    @cached_property
    def takes_all(self) -> bool:
        """Whether it has a star import."""
        return "*" in self.imported

    def knows(self, name: str, piece: Piece) -> bool:
        """Whether ``name``, which ``piece`` mentions, may be a function or class of the project in there."""
        if name in self.imported or name in self._reach.defined() or self.takes_all:
            return True
        return not self.imported.isdisjoint(piece.attributes.get(name, ()))


class Leading:
    """The functions and classes of some modules that lead to code of one kind: those that have a word about it, and
    those that mention one of these.

    Args:
        about: finds such a word.
    """

    def __init__(self, about: re.Pattern[str]) -> None:
        self._about = about.search
        self._modules: dict[str, Mentions] = {}
        self._others: dict[str, list[Piece]] = {}
        self._leading: dict[str, set[str]] = {}
        self._imports: dict[str, set[str]] = {}
        self._importers: dict[str, set[str]] = {}
        self._methods: set[str] = set()
        self.changes = 0
        """How often something new was found to lead there."""

    def add(self, key: str, module: Mentions) -> None:
        """Count in a module."""
        self._modules[key] = module
        self._leading[key] = set()
        self._others[key] = []
        methods = len(self._methods)
        for piece in module.pieces:
            if self.is_about(piece):
                self._lead(key, piece)
                if piece.method:
                    self._methods.add(piece.name)
            else:
                self._others[key].append(piece)
        self._settle(self._modules if len(self._methods) > methods else [key, *self._importers.get(key, ())])

    def link(self, key: str, imported: str) -> None:
        """One module imports another."""
        if imported != key and imported not in self._imports.setdefault(key, set()):
            self._imports[key].add(imported)
            self._importers.setdefault(imported, set()).add(key)
            if self._leading.get(imported) and key in self._modules:
                self._settle([key])

    def _lead(self, key: str, piece: Piece) -> None:
        if piece.name not in _NAMELESS:
            self._leading[key].add(piece.name)
            self.changes += 1

    def _settle(self, keys: Iterable[str]) -> None:
        pending = [key for key in keys if key in self._modules]
        while pending:
            key = pending.pop()
            before = len(self._leading[key])
            module = self._modules[key]
            for other in self._imports.get(key, ()):
                # What it imports by name can be had from it as well.
                self._leading[key] |= self._leading.get(other, set()) & module.imported
            grown = True
            while grown:
                left = [piece for piece in self._others[key] if not self.mentioned(piece, key)]
                grown = len(left) < len(self._others[key])
                for piece in self._others[key] if grown else ():
                    if piece not in left:
                        self._lead(key, piece)
                self._others[key] = left
            if len(self._leading[key]) > before:
                pending.extend(one for one in self._importers.get(key, ()) if one in self._modules)

    def is_about(self, piece: Piece) -> bool:
        """Whether code has a word of this kind itself."""
        return self._about(piece.text) is not None

    def mentioned(self, piece: Piece, key: str) -> bool:
        """Whether ``piece``, in the module ``key``, mentions what leads there."""
        module = self._modules[key]
        found = self._leading[key] & piece.words
        for other in self._imports.get(key, ()):
            found |= self._leading.get(other, set()) & piece.words
        return any(module.knows(name, piece) for name in found) or not self._methods.isdisjoint(piece.attributes)


_APART = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Import, ast.ImportFrom)


def _acts(statement: ast.stmt) -> bool:
    """Whether a statement at the top of an imported module calls something, or writes into something."""
    if is_main_guard(statement):
        return False
    return any(
        isinstance(node, ast.Call) or (isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Store))
        for node in ast.walk(statement)
    )


def is_main_guard(statement: ast.stmt) -> bool:
    """Whether a statement is ``if __name__ == "__main__":``."""
    test = statement.test if isinstance(statement, ast.If) else None
    return isinstance(test, ast.Compare) and isinstance(test.left, ast.Name) and test.left.id == "__name__"


def _imports(tree: ast.Module) -> Iterable[ast.Import | ast.ImportFrom]:
    """Every import statement, found without a look into expressions."""
    pending: list[ast.AST] = [tree]
    while pending:
        node = pending.pop()
        if isinstance(node, (ast.Import, ast.ImportFrom)):
            yield node
        for field in ("body", "orelse", "finalbody", "handlers", "cases"):
            children = getattr(node, field, None)
            if isinstance(children, list):
                pending.extend(children)
