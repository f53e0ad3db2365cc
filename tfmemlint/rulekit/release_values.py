"""The values of expressions about TensorFlow's release: of ``float(tf.__version__[:3])`` for 2.21.0, and so on."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from typing import Any

from tfmemlint.facts import folding
from tfmemlint.facts.names import canonical
from tfmemlint.facts.syntax import dotted
from tfmemlint.facts.tree_walk import nodes, scope_nodes
from tfmemlint.model.records import dataclass

UNKNOWN = object()
"""A value that can't be told."""
MAX_DEPTH = 40
"""Expressions in each other, names and calls that lead to a value."""
_VERSIONS = frozenset({"tf.__version__", "tf.VERSION", "tf.version.VERSION", "tf.compat.v1.__version__"})
_PACKAGES = frozenset({"tensorflow", "tensorflow-gpu", "tensorflow_gpu", "tensorflow-cpu", "tf-nightly"})
_METHODS = frozenset({"split", "rsplit", "join", "replace", "strip", "rstrip", "startswith", "removesuffix"})
_MAKERS = frozenset({"float", "int", "str", "tuple", "list", "bool"})
Scope = ast.Module | ast.FunctionDef | ast.AsyncFunctionDef


@dataclass(frozen=True, slots=True)
class Place:
    """An expression, and the function or the module that it is in."""

    node: ast.expr
    scope: Scope


class ReleaseValues:
    """Evaluates expressions of one module for any text of ``tf.__version__``. Nothing is run."""

    def __init__(self, tree: ast.Module) -> None:
        self.tree = tree
        self.functions: dict[str, list[ast.FunctionDef | ast.AsyncFunctionDef]] = {}
        """The functions and methods of the module, by their names."""
        self._imports: dict[str, set[str]] = {}
        self._fields: dict[str, list[Place]] = {}
        self._bound: dict[int, dict[str, list[ast.expr | None]]] = {}
        for node in nodes(tree):
            match node:
                case ast.Import(names=names):
                    for alias in names:
                        whole = alias.name if alias.asname else alias.name.partition(".")[0]
                        self._imports.setdefault(alias.asname or whole, set()).add(whole)
                case ast.ImportFrom(module=str(module), names=names, level=0):
                    for alias in names:
                        self._imports.setdefault(alias.asname or alias.name, set()).add(f"{module}.{alias.name}")
                case ast.FunctionDef() | ast.AsyncFunctionDef():
                    self.functions.setdefault(node.name, []).append(node)
                    for inner in scope_nodes(node):
                        if isinstance(inner, ast.Assign):
                            for target in inner.targets:
                                if isinstance(target, ast.Attribute):
                                    self._fields.setdefault(target.attr, []).append(Place(inner.value, node))
                case _:
                    pass

    def name_of(self, node: ast.expr) -> str:
        """Return the canonical name of what an import gives; "" for anything else."""
        first, dot, rest = dotted(node).partition(".")
        found = self._imports.get(first, set())
        return canonical(next(iter(found)) + dot + rest) if len(found) == 1 else ""

    def is_version(self, node: ast.expr) -> bool:
        """Return True for the text of TensorFlow's release."""
        if isinstance(node, ast.Attribute) and node.attr == "version" and isinstance(node.value, ast.Call):
            return self._names_package(node.value, ("pkg_resources.get_distribution",))
        if isinstance(node, ast.Call):
            return self._names_package(node, ("importlib.metadata.version", "importlib_metadata.version"))
        return isinstance(node, (ast.Name, ast.Attribute)) and self.name_of(node) in _VERSIONS

    def _names_package(self, call: ast.Call, functions: Sequence[str]) -> bool:
        match call.args:
            case [ast.Constant(value=str(package))]:
                return package.lower() in _PACKAGES and self.name_of(call.func) in functions
            case _:
                return False

    def definition(self, node: ast.expr, scope: Scope) -> Place | None:
        """Return the only expression that a name or a field stands for."""
        if isinstance(node, ast.Attribute):
            found = self._fields.get(node.attr, [])
            return found[0] if len(found) == 1 and dotted(node.value) == "self" else None
        if not isinstance(node, ast.Name):
            return None
        for where in (scope, self.tree):
            values = self._bindings(where).get(node.id)
            if values is not None:
                return Place(values[0], where) if len(values) == 1 and values[0] is not None else None
        return None

    def _bindings(self, scope: Scope) -> dict[str, list[ast.expr | None]]:
        """Return what a function or a module binds to each name; None for what is not said by an expression."""
        known = self._bound.get(id(scope))
        if known is not None:
            return known
        found = self._bound[id(scope)] = {}
        if not isinstance(scope, ast.Module):
            arguments = scope.args
            every = [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs, arguments.vararg, arguments.kwarg]
            for parameter in every:
                if parameter is not None:
                    found.setdefault(parameter.arg, []).append(None)
        said: set[int] = set()
        for node in scope_nodes(scope):
            match node:
                case ast.Assign(targets=[ast.Name(id=name) as target], value=value):
                    found.setdefault(name, []).append(value)
                    said.add(id(target))
                case ast.AnnAssign(target=ast.Name(id=name) as target, value=ast.expr() as value):
                    found.setdefault(name, []).append(value)
                    said.add(id(target))
                case ast.Assign(targets=[ast.Tuple(elts=items) | ast.List(elts=items)], value=value):
                    for index, item in enumerate(items):
                        if isinstance(item, ast.Starred):
                            break
                        if isinstance(item, ast.Name):
                            said.add(id(item))
                            part = ast.Subscript(value=value, slice=ast.Constant(value=index), ctx=ast.Load())
                            found.setdefault(item.id, []).append(part)
                case _:
                    pass
        for node in scope_nodes(scope):
            if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store) and id(node) not in said:
                found.setdefault(node.id, []).append(None)
            elif isinstance(node, (ast.Global, ast.Nonlocal)):
                for name in node.names:
                    found.setdefault(name, []).append(None)
        return found

    def returned(self, call: ast.expr) -> Place | None:
        """Return what a function without parameters returns, if it has one ``return``."""
        if not isinstance(call, ast.Call) or call.args or call.keywords:
            return None
        name = dotted(call.func).removeprefix("self.")
        found = self.functions.get(name, [])
        if len(found) != 1:
            return None
        returns = [node.value for node in scope_nodes(found[0]) if isinstance(node, ast.Return)]
        return Place(returns[0], found[0]) if len(returns) == 1 and returns[0] is not None else None

    def value(self, node: ast.expr, scope: Scope, version: str, depth: int = MAX_DEPTH) -> Any:
        """Return the value of an expression where ``tf.__version__`` is a text; `UNKNOWN` if it can't be told."""
        if depth == 0:
            return UNKNOWN
        if self.is_version(node):
            return version

        def inner(part: ast.expr) -> Any:
            return self.value(part, scope, version, depth - 1)

        try:
            match node:
                case ast.Constant(value=value):
                    return value
                case ast.Tuple(elts=items) | ast.List(elts=items):
                    values = [inner(item) for item in items]
                    return UNKNOWN if UNKNOWN in values else (values if isinstance(node, ast.List) else tuple(values))
                case ast.Subscript(value=owner, slice=index):
                    return _item(inner(owner), index, inner)
                case ast.ListComp(elt=elt, generators=[part]) | ast.GeneratorExp(elt=elt, generators=[part]):
                    return _converted(elt, part, inner)
                case ast.Call(func=ast.Name(id="map"), args=[ast.Name(id="int" | "float" as name), items]):
                    given = inner(items)
                    return UNKNOWN if given is UNKNOWN else [folding.function(name, [item]) for item in given]
                case ast.Call(func=ast.Name(id=name), args=[given]) if name in _MAKERS and not node.keywords:
                    value = inner(given)
                    return UNKNOWN if value is UNKNOWN else folding.function(name, [value])
                case ast.Call(func=ast.Attribute(value=owner, attr=name), args=args) if name in _METHODS:
                    values = [inner(owner), *map(inner, args)]
                    if UNKNOWN in values or node.keywords or not isinstance(values[0], str):
                        return UNKNOWN
                    return folding.method(values[0], name, values[1:])
                case ast.Call() | ast.Name() | ast.Attribute():
                    place = self.returned(node) if isinstance(node, ast.Call) else self.definition(node, scope)
                    return UNKNOWN if place is None else self.value(place.node, place.scope, version, depth - 1)
                case _:
                    return UNKNOWN
        except (folding.NotFolded, TypeError, ValueError, LookupError):
            return UNKNOWN


def _item(owner: Any, index: ast.expr, inner: Any) -> Any:
    if not isinstance(owner, (str, tuple, list)):
        return UNKNOWN
    if not isinstance(index, ast.Slice):
        place = inner(index)
        return owner[place] if isinstance(place, int) else UNKNOWN
    bounds = [inner(part) if part is not None else None for part in (index.lower, index.upper)]
    return UNKNOWN if UNKNOWN in bounds or index.step is not None else owner[slice(*bounds)]


def _converted(elt: ast.expr, part: ast.comprehension, inner: Any) -> Any:
    """Return the value of ``[int(part) for part in ...]``."""
    items = inner(part.iter)
    match elt, part.target:
        case ast.Call(func=ast.Name(id="int" | "float" as kind), args=[ast.Name(id=given)]), ast.Name(id=name):
            if items is UNKNOWN or part.ifs or given != name:
                return UNKNOWN
            return [folding.function(kind, [item]) for item in items]
        case _:
            return UNKNOWN


__all__ = ["UNKNOWN", "Place", "ReleaseValues", "Scope"]
