"""What a file imports, and how a name of a module is spelled in it."""

from __future__ import annotations

import ast
import builtins
import sys
from dataclasses import dataclass
from functools import lru_cache

import libcst as cst
from libcst.helpers import get_full_name_for_node

from tfmemlint.facts.names import canonical
from tfmemlint.fixes.concrete_tree import ConcreteTree, comments_in


@dataclass(frozen=True, slots=True)
class Binding:
    """A name that an import binds: ``local`` in the code, the dotted ``name`` it stands for, the statement, and the
    scope (a function's node, or the module)."""

    local: str
    name: str
    node: cst.Import | cst.ImportFrom
    scope: cst.CSTNode


class ImportBindings:
    """The imports of one file, in order; those only for type checkers left out."""

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
        for child in node.children:
            self._collect(child)

    def taken(self) -> set[str]:
        """The names that a new import can't use: those that are bound in any scope; those only read may well wait for
        the import, unless a star import gives them."""
        found = set(dir(builtins))
        star = False
        for node in ast.walk(ast.parse(self.tree.text)):
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
            found |= {node.id for node in ast.walk(ast.parse(self.tree.text)) if isinstance(node, ast.Name)}
        return found

    def is_from_star(self, name: str) -> bool:
        """Whether the file reads a name that it binds nowhere, and a star import may give it: the interpreter has taken
        ``tf`` for TensorFlow then."""
        tree = ast.parse(self.tree.text)
        star = any(isinstance(node, ast.ImportFrom) and node.names[0].name == "*" for node in ast.walk(tree))
        uses = [node for node in ast.walk(tree) if isinstance(node, ast.Name) and node.id == name]
        return star and bool(uses) and all(isinstance(node.ctx, ast.Load) for node in uses)

    def resolve(self, dotted: str) -> str:
        """The canonical name of a dotted name: through imports and through aliases such as ``exp = tf.config``."""
        for _ in range(8):
            root, _, rest = dotted.partition(".")
            found = next((binding.name for binding in self.bindings if binding.local == root), None)
            if found is not None:
                return canonical(f"{found}.{rest}" if rest else found)
            if self._stores.get(root) != 1 or root not in self._aliases:
                break
            dotted = f"{self._aliases[root]}.{rest}" if rest else self._aliases[root]
        return dotted

    def visible(self, at: cst.CSTNode | None) -> list[Binding]:
        """The imports that can be used at ``at`` (at the top level of the module for None), the nearest scope first."""
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
        """The names that imports bind, in any scope."""
        return {binding.local for binding in self.bindings}

    def _in_class(self, node: cst.CSTNode) -> bool:
        for parent in self.tree.ancestors(node):
            if isinstance(parent, cst.ClassDef):
                return True
            if isinstance(parent, cst.FunctionDef):
                return False
        return False


def is_import(line: cst.CSTNode) -> bool:
    """Whether a line of a module imports: a plain import, or a ``try`` that holds nothing but imports."""
    if isinstance(line, cst.SimpleStatementLine):
        return any(isinstance(part, (cst.Import, cst.ImportFrom)) for part in line.body)
    if isinstance(line, cst.Try):
        return all(is_import(part) for part in line.body.body)
    return False


def imported_module(line: cst.CSTNode) -> str:
    """The module that an import asks for first; "~" for a relative one, which sorts last."""
    first = line.body[0] if isinstance(line, cst.SimpleStatementLine) else line
    if isinstance(first, cst.Import):
        return get_full_name_for_node(first.names[0].name) or ""
    node = first.module if isinstance(first, cst.ImportFrom) and not first.relative else None
    return (get_full_name_for_node(node) or "") if node is not None else "~"


def is_standard(line: cst.CSTNode) -> bool:
    """Whether what a line imports first is of the standard library."""
    return imported_module(line).split(".")[0] in sys.stdlib_module_names


def is_docstring(line: cst.CSTNode) -> bool:
    """Whether a line is a plain string."""
    return (
        isinstance(line, cst.SimpleStatementLine)
        and len(line.body) == 1
        and isinstance(line.body[0], cst.Expr)
        and isinstance(line.body[0].value, (cst.SimpleString, cst.ConcatenatedString))
    )


def insertion_index(module: cst.Module, limit: int) -> int:
    """The index of the statement below which a new import belongs, above statement ``limit``; -1 for the very top."""
    best = 0 if module.body and limit > 0 and is_docstring(module.body[0]) else -1
    for index, line in enumerate(module.body[: max(limit, 0)]):
        if isinstance(line, (cst.FunctionDef, cst.ClassDef)):
            break
        if is_import(line):
            best = index
    return best


@lru_cache(maxsize=16)
def imports_of(tree: ConcreteTree) -> ImportBindings:
    """The imports of a file; every rewrite of one text shares them."""
    return ImportBindings(tree)
