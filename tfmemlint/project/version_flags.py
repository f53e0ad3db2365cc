"""Conditions about the release that runs: ``IS_TF2`` of another module, ``tf2.enabled()``, comparisons of versions.

Nothing is run: an expression is evaluated by its syntax tree, for one release, through the modules of the project.
"""

from __future__ import annotations

import ast
import os
import re
import warnings
from collections.abc import Callable, Iterator
from dataclasses import field
from functools import partial
from typing import Any

from tfmemlint.facts.names import canonical
from tfmemlint.facts.tree_walk import nodes, unparsed
from tfmemlint.knowledge import names
from tfmemlint.knowledge.releases import Target
from tfmemlint.model.records import dataclass
from tfmemlint.project.name_uses import asks_release
from tfmemlint.project.roots import project_root

UNKNOWN = object()
"""A value that can't be told."""

MAX_DEPTH = 12
"""Names, calls and modules that lead from a condition to its value: people have two or three."""
_VERSIONS = frozenset({"tf.__version__", "tf.VERSION", "tf.version.VERSION", "tf.compat.v1.__version__"})
_PARSERS = frozenset({"parse", "Version", "LooseVersion", "StrictVersion", "parse_version", "LegacyVersion"})
_ASKS_MODE = frozenset({"executing_eagerly", "executing_eagerly_outside_functions", "executing_eagerly_v1"})


@dataclass(frozen=True, slots=True)
class _Bound:
    """The names that a module binds.

    Attributes:
        tree: the module. imports: the imports by the names that they bind, in the order of `ast.walk`.
        values: the functions and the assigned values at the top of the module.
    """

    tree: ast.Module
    imports: dict[str, list[tuple[ast.Import | ast.ImportFrom, ast.alias]]] = field(default_factory=dict)
    values: dict[str, list[ast.expr | ast.FunctionDef]] = field(default_factory=dict)


@dataclass(slots=True)
class Flags:
    """Evaluates conditions for one release.

    Attributes:
        target: the release. read: returns the bytes of a regular file of limited size, or None.
    """

    target: Target
    read: Callable[[str], bytes | None]
    _modules: dict[str, ast.Module | None] = field(default_factory=dict)
    _names: dict[int, _Bound] = field(default_factory=dict)
    """By the id of each tree, which is kept with them."""
    _files: dict[tuple[str, int, str], str | None] = field(default_factory=dict)

    def value(self, test: ast.expr, path: str, tree: ast.Module) -> object:
        """Return the value of an expression at the top level of a file; `UNKNOWN` if it can't be told."""
        return self._value(test, path, tree, MAX_DEPTH)

    def asks_release(self, test: ast.expr, path: str, tree: ast.Module) -> bool:
        """Return True if a condition is about the release that runs: by its names, or by what they stand for."""
        if asks_release(test):
            return True
        for node in nodes(test):
            if isinstance(node, ast.Name | ast.Attribute):
                place = self._definition(unparsed(node), path, tree)
                if place is not None and isinstance(place[2], ast.expr) and asks_release(place[2]):
                    return True
        return False

    def _value(self, node: ast.expr, path: str, tree: ast.Module, depth: int) -> object:
        if depth == 0:
            return UNKNOWN
        value = partial(self._value, path=path, tree=tree, depth=depth - 1)
        match node:
            case ast.Constant(value=constant):
                return constant
            case ast.Tuple(elts=items) | ast.List(elts=items):
                found = [value(item) for item in items]
                return UNKNOWN if UNKNOWN in found else tuple(found)
            case ast.UnaryOp(op=ast.Not(), operand=operand):
                found_operand = value(operand)
                return UNKNOWN if found_operand is UNKNOWN else not found_operand
            case ast.BoolOp(op=op, values=values):
                return _any_or_all([value(part) for part in values], is_and=isinstance(op, ast.And))
            case ast.Compare(left=left, ops=[op], comparators=[right]):
                return _compared(value(left), op, value(right))
            case ast.IfExp(test=test, body=body, orelse=other):
                which = value(test)
                return UNKNOWN if which is UNKNOWN else value(body if which else other)
            case ast.Subscript(value=owner, slice=index):
                return _item(value(owner), index, value)
            case ast.Call():
                return self._call(node, path, tree, depth)
            case ast.Name() | ast.Attribute():
                return self._named(node, path, tree, depth)
        return UNKNOWN

    def _named(self, node: ast.expr, path: str, tree: ast.Module, depth: int) -> object:
        dotted = unparsed(node)
        if self._tensorflow(dotted, tree) in _VERSIONS:
            return self.target.version
        place = self._definition(dotted, path, tree)
        if place is None:
            return UNKNOWN
        where, inner, defined = place
        return self._value(defined, where, inner, depth - 1) if isinstance(defined, ast.expr) else UNKNOWN

    def _call(self, node: ast.Call, path: str, tree: ast.Module, depth: int) -> object:
        value = partial(self._value, path=path, tree=tree, depth=depth - 1)
        dotted = unparsed(node.func)
        last = dotted.rpartition(".")[2]
        if dotted.endswith("tf2.enabled") or (last in _ASKS_MODE and not node.args):
            # TensorFlow 1 answers no, unless it was told otherwise; TensorFlow 2 yes, unless graph mode was turned on.
            return UNKNOWN
        if last == "hasattr" and len(node.args) == 2 and isinstance(node.args[1], ast.Constant):
            owner = self._tensorflow(unparsed(node.args[0]), tree)
            return names.exists(f"{owner}.{node.args[1].value!s}", self.target) if owner else UNKNOWN
        if last in _PARSERS and len(node.args) == 1:
            text = value(node.args[0])
            return tuple(map(int, re.findall(r"\d+", text)))[:3] if isinstance(text, str) else UNKNOWN
        if isinstance(node.func, ast.Attribute):
            found = _method(value(node.func.value), last, [value(argument) for argument in node.args])
            if found is not UNKNOWN:
                return found
        if isinstance(node.func, ast.Name) and last in _BUILTINS and node.args:
            arguments = node.args[-1:] if last == "map" else node.args
            return _BUILTINS[last](value(arguments[0]))
        place = self._definition(dotted, path, tree)
        if place is None or not isinstance(place[2], ast.FunctionDef):
            return UNKNOWN
        return self._returned(place[2], place[0], place[1], depth)

    def _returned(self, function: ast.FunctionDef, path: str, tree: ast.Module, depth: int) -> object:
        returns = [node.value for node in nodes(function) if isinstance(node, ast.Return)]
        if len(returns) != 1 or returns[0] is None:
            return UNKNOWN
        return self._value(returns[0], path, tree, depth - 1)

    def _tensorflow(self, dotted: str, tree: ast.Module) -> str:
        """Return the canonical name of a part of TensorFlow that the imports of a file give; "" for anything else."""
        first, dot, rest = dotted.partition(".")
        for node, alias in self._bound(tree).imports.get(first, ())[:1]:
            whole = f"{node.module}.{alias.name}" if isinstance(node, ast.ImportFrom) else alias.name
            name = canonical((whole if alias.asname or isinstance(node, ast.ImportFrom) else first) + dot + rest)
            return name if name.split(".")[0] == "tf" else ""
        return ""

    def _definition(
        self, dotted: str, path: str, tree: ast.Module, asked: frozenset[tuple[str, str]] = frozenset()
    ) -> tuple[str, ast.Module, ast.expr | ast.FunctionDef] | None:
        """Return what a name stands for at the top of its module: the file, its tree, an expression or a function.

        Args:
            asked: the names, with their files, that have led here: modules may import a name from each other.
        """
        if (dotted, path) in asked:
            return None
        asked |= {(dotted, path)}
        first, _, rest = dotted.partition(".")
        if not rest:
            own = self._assigned(first, tree)
            if own is not None:
                return path, tree, own
        for node, alias in self._bound(tree).imports.get(first, ()):
            for module, attribute in _modules_of(node, alias, rest):
                where = self._file_of(module, node.level if isinstance(node, ast.ImportFrom) else 0, path)
                inner = self._parsed(where) if where else None
                if where and inner is not None and attribute and "." not in attribute:
                    found = self._assigned(attribute, inner)
                    if found is not None:
                        return where, inner, found
                    return self._definition(attribute, where, inner, asked)
        return None

    def _assigned(self, name: str, tree: ast.Module) -> ast.expr | ast.FunctionDef | None:
        found = self._bound(tree).values.get(name, ())
        return found[0] if len(found) == 1 else None

    def _bound(self, tree: ast.Module) -> _Bound:
        """Return the names that a module binds; each module is gone through once."""
        known = self._names.get(id(tree))
        if known is not None:
            return known
        bound = self._names[id(tree)] = _Bound(tree)
        for node in nodes(tree):
            if isinstance(node, ast.Import | ast.ImportFrom):
                for alias in node.names:
                    bound.imports.setdefault(alias.asname or alias.name.split(".")[0], []).append((node, alias))
        for statement in tree.body:
            match statement:
                case ast.FunctionDef(name=name):
                    bound.values.setdefault(name, []).append(statement)
                case ast.Assign(targets=[ast.Name(id=name)], value=value):
                    bound.values.setdefault(name, []).append(value)
                case ast.AnnAssign(target=ast.Name(id=name), value=ast.expr() as value):
                    bound.values.setdefault(name, []).append(value)
                case ast.Try(body=body, handlers=[handler]):
                    for name, value in _values_in(body if self._imports_work(body) else handler.body):
                        bound.values.setdefault(name, []).append(value)
        return bound

    def _imports_work(self, body: list[ast.stmt]) -> bool:
        for node in body:
            if isinstance(node, ast.Import | ast.ImportFrom):
                for alias in node.names:
                    whole = f"{node.module}.{alias.name}" if isinstance(node, ast.ImportFrom) else alias.name
                    if names.missing_part(canonical(whole), self.target) is not None:
                        return False
        return True

    def _file_of(self, module: str, level: int, path: str) -> str | None:
        key = module, level, os.path.dirname(path)
        if key not in self._files:
            self._files[key] = self._find_file(module, level, path)
        return self._files[key]

    def _find_file(self, module: str, level: int, path: str) -> str | None:
        directory = os.path.dirname(os.path.abspath(path))
        for _ in range(level - 1):
            directory = os.path.dirname(directory)
        top = project_root(path)
        if not os.path.join(directory, "").startswith(os.path.join(top, "")):
            return None
        for _ in range(MAX_DEPTH):
            place = os.path.join(directory, *module.split(".")) if module else directory
            for candidate in (f"{place}.py", os.path.join(place, "__init__.py")):
                if os.path.isfile(candidate):
                    return candidate
            if level or directory == top or os.path.dirname(directory) == directory:
                return None
            directory = os.path.dirname(directory)
        return None

    def _parsed(self, path: str) -> ast.Module | None:
        if path not in self._modules:
            data = self.read(path)
            try:
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")
                    self._modules[path] = ast.parse(data) if data is not None else None
            except (SyntaxError, ValueError, RecursionError, MemoryError):
                self._modules[path] = None
        return self._modules[path]


def _modules_of(node: ast.Import | ast.ImportFrom, alias: ast.alias, rest: str) -> list[tuple[str, str]]:
    """Return the modules that an import may mean, each with the attribute of it that is asked for."""
    if isinstance(node, ast.Import):
        if alias.asname:
            return [(alias.name, rest)]
        module, _, attribute = f"{alias.name.split('.')[0]}.{rest}".rpartition(".")
        return [(module, attribute)]
    module = node.module or ""
    inner = f"{module}.{alias.name}".lstrip(".")
    return [(inner, rest)] if rest else [(module, alias.name)]


def _values_in(body: list[ast.stmt]) -> Iterator[tuple[str, ast.expr]]:
    """Yield each name that statements assign, with the value."""
    for node in body:
        if isinstance(node, ast.Assign):
            for name in dict.fromkeys(target.id for target in node.targets if isinstance(target, ast.Name)):
                yield name, node.value


def _any_or_all(values: list[object], *, is_and: bool) -> object:
    for value in values:
        if value is not UNKNOWN and bool(value) is not is_and:
            return value
    return UNKNOWN if UNKNOWN in values else values[-1]


def _compared(left: object, op: ast.cmpop, right: object) -> object:
    if UNKNOWN in (left, right) or type(op) not in _COMPARISONS:
        return UNKNOWN
    try:
        if isinstance(left, tuple) and isinstance(right, tuple) and not isinstance(op, ast.In | ast.NotIn):
            # ``2.0`` and ``2.0.0`` are one version.
            size = max(len(left), len(right))
            left, right = (side + (0,) * (size - len(side)) for side in (left, right))
        return _COMPARISONS[type(op)](left, right)
    except TypeError:
        return UNKNOWN


_COMPARISONS: dict[type[ast.cmpop], Callable[..., bool]] = {
    ast.Lt: lambda left, right: left < right,
    ast.LtE: lambda left, right: left <= right,
    ast.Gt: lambda left, right: left > right,
    ast.GtE: lambda left, right: left >= right,
    ast.Eq: lambda left, right: left == right,
    ast.NotEq: lambda left, right: left != right,
    ast.In: lambda left, right: left in right,
    ast.NotIn: lambda left, right: left not in right,
    ast.Is: lambda left, right: left == right,
    ast.IsNot: lambda left, right: left != right,
}


def _item(owner: object, index: ast.expr, value: Callable[[ast.expr], object]) -> object:
    if not isinstance(owner, str | tuple):
        return UNKNOWN
    try:
        if isinstance(index, ast.Slice):
            bounds: list[Any] = [value(part) if part is not None else None for part in (index.lower, index.upper)]
            return UNKNOWN if UNKNOWN in bounds or index.step is not None else owner[slice(*bounds)]
        place = value(index)
        return owner[place] if isinstance(place, int) else UNKNOWN
    except (TypeError, ValueError, IndexError):
        return UNKNOWN


def _method(owner: object, name: str, arguments: list[object]) -> object:
    if not isinstance(owner, str) or name not in ("startswith", "split", "strip", "lower") or UNKNOWN in arguments:
        return UNKNOWN
    try:
        found = getattr(owner, name)(*arguments)
    except (TypeError, ValueError):
        return UNKNOWN
    return tuple(found) if isinstance(found, list) else found


def _numbers(value: object) -> object:
    if not isinstance(value, tuple):
        return UNKNOWN
    try:
        return tuple(int(part) for part in value)
    except (TypeError, ValueError):
        return UNKNOWN


def _converted(kind: Callable[..., object], value: object) -> object:
    try:
        return UNKNOWN if value is UNKNOWN else kind(value)
    except (TypeError, ValueError):
        return UNKNOWN


_BUILTINS: dict[str, Callable[[object], object]] = {
    "int": partial(_converted, int),
    "float": partial(_converted, float),
    "bool": partial(_converted, bool),
    "str": partial(_converted, str),
    "tuple": lambda value: value,
    "list": lambda value: value,
    "map": _numbers,
}
