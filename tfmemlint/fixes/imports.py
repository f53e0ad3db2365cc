"""The imports of a file, and the canonical names that its names resolve to."""

from __future__ import annotations

import ast
import builtins
import sys
from functools import cached_property, lru_cache

import libcst as cst
from libcst.helpers import get_full_name_for_node

from tfmemlint.facts.names import canonical
from tfmemlint.fixes.child_nodes import child_nodes
from tfmemlint.fixes.concrete_tree import ConcreteTree, comments_in, syntax_nodes
from tfmemlint.model.records import dataclass
from tfmemlint.project.search import is_installed

_MAX_ALIASES = 8
"""The number of aliases through which a name is resolved; a bound against cycles, without a deeper reason."""


@dataclass(frozen=True, slots=True)
class Binding:
    """A name that an import binds.

    Attributes:
        local: the name in the code. name: the dotted name that it refers to.
        node: the import. scope: the node of the function that contains it, or the module.
    """

    local: str
    name: str
    node: cst.Import | cst.ImportFrom
    scope: cst.CSTNode


class ImportBindings:
    """The imports of one file, in order, without those for type checkers only."""

    def __init__(self, tree: ConcreteTree) -> None:
        self.tree = tree
        self.bindings: list[Binding] = []
        self._aliases: dict[str, str] = {}
        self._stores: dict[str, int] = {}
        self._collect(tree.module)

    def _collect(self, node: cst.CSTNode) -> None:
        if isinstance(node, cst.If) and "TYPE_CHECKING" in self.tree.code(node.test):
            if node.orelse is not None:
                self._collect(node.orelse)
            return
        if isinstance(node, cst.Import):
            scope = self.tree.function_of(node)
            for alias in node.names:
                name = self.tree.code(alias.name)
                local = self.tree.code(alias.asname.name) if alias.asname else name.split(".")[0]
                # `import a.b` binds `a`.
                self.bindings.append(Binding(local, name if alias.asname else local, node, scope))
        elif isinstance(node, cst.ImportFrom) and not isinstance(node.names, cst.ImportStar) and not node.relative:
            module = self.tree.code(node.module) if node.module is not None else ""
            scope = self.tree.function_of(node)
            for alias in node.names:
                name = self.tree.code(alias.name)
                local = self.tree.code(alias.asname.name) if alias.asname else name
                self.bindings.append(Binding(local, f"{module}.{name}", node, scope))
        elif isinstance(node, cst.Assign) and len(node.targets) == 1 and isinstance(node.targets[0].target, cst.Name):
            local = node.targets[0].target.value
            self._stores[local] = self._stores.get(local, 0) + 1
            if isinstance(node.value, cst.Attribute) and not comments_in(node.value):
                self._aliases[local] = self.tree.code(node.value)
        for child in child_nodes(node):
            self._collect(child)

    @cached_property
    def taken(self) -> frozenset[str]:
        """Return the names that a new import can't use: those that are bound in any scope.

        A name that is only read may be waiting for this import, unless the file has a star import that may bind it.
        """
        found = set(dir(builtins))
        star = False
        for node in syntax_nodes(self.tree.text):
            match node:
                case ast.Name(id=name, ctx=ast.Store() | ast.Del()) | ast.arg(arg=name):
                    found.add(name)
                case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
                    found.add(name)
                case ast.alias(name="*"):
                    star = True
                case ast.alias(name=name, asname=asname):
                    found.add((asname or name).split(".")[0])
                case ast.ExceptHandler(name=str(name)) | ast.MatchAs(name=str(name)) | ast.MatchStar(name=str(name)):
                    found.add(name)
                case ast.Global(names=names) | ast.Nonlocal(names=names):
                    found.update(names)
        if star:
            found |= {node.id for node in syntax_nodes(self.tree.text) if isinstance(node, ast.Name)}
        return frozenset(found)

    def is_from_star(self, name: str) -> bool:
        """True if the file reads ``name``, binds it nowhere, and has a star import that may bind it.

        The interpreter took such a ``tf`` for TensorFlow.
        """
        nodes = syntax_nodes(self.tree.text)
        if not any(isinstance(node, ast.ImportFrom) and node.names[0].name == "*" for node in nodes):
            return False
        uses = [node for node in nodes if isinstance(node, ast.Name) and node.id == name]
        return bool(uses) and all(isinstance(node.ctx, ast.Load) for node in uses)

    def resolve(self, dotted: str) -> str:
        """Return the canonical name of a dotted name, through imports and aliases such as ``exp = tf.config``."""
        for _ in range(_MAX_ALIASES):
            root, _, rest = dotted.partition(".")
            found = next((binding.name for binding in self.bindings if binding.local == root), None)
            if found is not None:
                return canonical(f"{found}.{rest}" if rest else found)
            if self._stores.get(root) != 1 or root not in self._aliases:
                break
            dotted = f"{self._aliases[root]}.{rest}" if rest else self._aliases[root]
        return dotted

    def visible(self, at: cst.CSTNode | None) -> list[Binding]:
        """Return the imports that can be used at ``at``, nearest scope first; None stands for the module's top
        level.
        """
        if at is None:
            return [
                binding
                for binding in self.bindings
                if binding.scope is self.tree.module and not self._in_class(binding.node)
            ]
        scopes: list[cst.CSTNode] = []
        scope = at
        while scope is not self.tree.module:
            scope = self.tree.function_of(scope)
            scopes.append(scope)
        return [
            binding
            for scope in scopes
            for binding in self.bindings
            if binding.scope is scope and not self._in_class(binding.node)
            if scope is self.tree.module or self.tree.span(binding.node) < self.tree.span(at)
        ]

    def imported(self) -> set[str]:
        """Return the names that imports bind, in any scope."""
        return {binding.local for binding in self.bindings}

    def _in_class(self, node: cst.CSTNode) -> bool:
        for parent in self.tree.ancestors(node):
            if isinstance(parent, cst.ClassDef):
                return True
            if isinstance(parent, cst.FunctionDef):
                return False
        return False


def is_import(line: cst.CSTNode) -> bool:
    """True if a line of a module is an import, or a ``try`` that contains imports only."""
    if isinstance(line, cst.SimpleStatementLine):
        return any(isinstance(part, (cst.Import, cst.ImportFrom)) for part in line.body)
    if isinstance(line, cst.Try):
        return all(is_import(part) for part in line.body.body)
    return False


RELATIVE = "~"
"""The module that a relative import stands for: it sorts last."""


def imported_module(line: cst.CSTNode) -> str:
    """Return the first module that an import names; `RELATIVE` if it is relative."""
    first = line.body[0] if isinstance(line, cst.SimpleStatementLine) else line
    if isinstance(first, cst.Import):
        return get_full_name_for_node(first.names[0].name) or ""
    node = first.module if isinstance(first, cst.ImportFrom) and not first.relative else None
    return (get_full_name_for_node(node) or "") if node is not None else RELATIVE


def is_standard(line: cst.CSTNode) -> bool:
    """True if the first module that a line imports is in the standard library."""
    return imported_module(line).split(".")[0] in sys.stdlib_module_names


def group_of(line: cst.CSTNode) -> int:
    """Return the group that import sorters put an import in: the standard library, packages, the project's own."""
    if is_standard(line):
        return 0
    return 1 if is_installed(imported_module(line)) else 2


def is_docstring(line: cst.CSTNode) -> bool:
    """True if a line is a plain string."""
    return (
        isinstance(line, cst.SimpleStatementLine)
        and len(line.body) == 1
        and isinstance(line.body[0], cst.Expr)
        and isinstance(line.body[0].value, (cst.SimpleString, cst.ConcatenatedString))
    )


def insertion_index(module: cst.Module, limit: int) -> int:
    """Return the index of the statement below which a new import goes, above statement ``limit``; -1 is the very
    top.
    """
    best = 0 if module.body and limit > 0 and is_docstring(module.body[0]) else -1
    for index, line in enumerate(module.body[: max(limit, 0)]):
        if isinstance(line, (cst.FunctionDef, cst.ClassDef)):
            break
        if is_import(line):
            best = index
    return best


@lru_cache(maxsize=16)
def imports_of(tree: ConcreteTree) -> ImportBindings:
    """Return the imports of a file. All rewrites of one text share them."""
    return ImportBindings(tree)
