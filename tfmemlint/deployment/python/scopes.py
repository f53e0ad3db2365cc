"""The scopes of a Python file, and what their names stand for: the value that is assigned to them once, the number that
a loop counts, and what a call gives for a parameter.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import field

from tfmemlint.facts.syntax import AnyFunction, dotted, times_bound
from tfmemlint.facts.tree_walk import nodes
from tfmemlint.model.records import dataclass

Given = dict[str, "tuple[ast.expr, Scope, bool]"]
"""For each parameter what a call gives for it, the scope of the call, and whether it gets one item of that."""
Bound = tuple[ast.expr, ast.expr]
"""The value that a name is bound to, and the target that it is, or is part of."""
LOOPS = (ast.For, ast.AsyncFor, ast.comprehension)
MAX_DEPTH = 12
"""Names that stand for names are followed to this depth."""
_MAX_CALLS = 4
"""Calls of one function that are followed."""


@dataclass(slots=True)
class File:
    """One file.

    Attributes:
        tree: its syntax tree. name: its name, without the directory. full: full names by the names that it imports.
        parents: the node around each. functions: its functions and methods, by name. shared: names that functions bind
            for others.
    """

    tree: ast.Module
    name: str
    full: dict[str, str] = field(default_factory=dict)
    parents: dict[ast.AST, ast.AST] = field(default_factory=dict)
    functions: dict[str, list[AnyFunction]] = field(default_factory=dict)
    shared: set[str] = field(default_factory=set)

    def __post_init__(self) -> None:
        for node in nodes(self.tree):
            for child in ast.iter_child_nodes(node):
                self.parents[child] = node
            if isinstance(node, ast.Import):
                self.full.update((each.asname, each.name) for each in node.names if each.asname)
            elif isinstance(node, ast.ImportFrom) and not node.level:
                self.full.update((each.asname or each.name, f"{node.module}.{each.name}") for each in node.names)
            elif isinstance(node, (ast.Global, ast.Nonlocal)):
                self.shared.update(node.names)
            elif isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
                self.functions.setdefault(node.name, []).append(node)

    def name_of(self, function: ast.expr) -> str:
        """Return the full name of what is called, as it is imported."""
        first, dot, rest = dotted(function).partition(".")
        return f"{self.full.get(first, first)}{dot}{rest}"

    def around(self, node: ast.AST) -> Iterator[ast.AST]:
        """Yield what is around a node, from the inside."""
        while node in self.parents:
            node = self.parents[node]
            yield node

    def loop_of(self, node: ast.Name) -> Bound | None:
        """Return the loop around a name, or the part of a comprehension, that binds it; None if there is none."""
        for each in self.around(node):
            if isinstance(each, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
                return None
            for loop in (each, *getattr(each, "generators", ())):
                if isinstance(loop, LOOPS) and any(
                    isinstance(part, ast.Name) and part.id == node.id for part in ast.walk(loop.target)
                ):
                    return loop.iter, loop.target
        return None

    def function_around(self, node: ast.AST) -> AnyFunction | None:
        """Return the function that holds a node."""
        return next((each for each in self.around(node) if isinstance(each, AnyFunction)), None)

    def calls_of(self, function: AnyFunction) -> Iterator[tuple[ast.Call, Given]]:
        """Yield the calls of a function of this file, with what each gives for its parameters."""
        if len(self.functions[function.name]) > 1:
            return
        found = 0
        for node in nodes(self.tree):
            if not isinstance(node, ast.Call) or found == _MAX_CALLS:
                continue
            given = self._given(node, function)
            if given is not None:
                found += 1
                yield node, given

    def _given(self, call: ast.Call, function: AnyFunction) -> Given | None:
        """Return what a call gives to a function, by itself, or as a thread, a process or a task of a pool."""
        scope = Scope(self, self.function_around(call), {})
        if _is_named(call.func, function.name):
            return _by_parameter(function, list(call.args), call.keywords, scope)
        method = call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")
        if method in ("Thread", "Process"):
            words = {each.arg: each.value for each in call.keywords}
            target, args = words.get("target"), words.get("args")
            if target is not None and _is_named(target, function.name):
                given = list(args.elts) if isinstance(args, (ast.Tuple, ast.List)) else []
                return _by_parameter(function, given, [], scope)
        elif call.args and _is_named(call.args[0], function.name):
            if method in ("submit", "apply_async", "to_thread"):
                return _by_parameter(function, list(call.args[1:]), call.keywords, scope)
            if method in ("map", "imap", "imap_unordered", "map_async"):
                return _by_parameter(function, list(call.args[1:]), [], scope, items=True)
        return None


@dataclass(slots=True)
class Scope:
    """The code of a function, or of the file itself, with what a call has given for its parameters."""

    file: File
    function: AnyFunction | None
    given: Given
    _bound: dict[str, list[Bound]] | None = None

    def own_nodes(self) -> Iterator[ast.AST]:
        """Yield the nodes of the scope without those of the functions in it."""
        waiting: list[ast.AST] = list((self.function or self.file.tree).body)
        while waiting:
            node = waiting.pop(0)
            yield node
            if not isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
                waiting[:0] = list(ast.iter_child_nodes(node))

    def bound(self, name: str) -> Bound | None:
        """Return what a name of this scope is bound to; None if that is not one thing."""
        if self._bound is None:
            self._bound = {}
            for node in self.own_nodes():
                for target, value in _bindings(node):
                    for stored in ast.walk(target):
                        if isinstance(stored, ast.Name) and isinstance(stored.ctx, ast.Store):
                            self._bound.setdefault(stored.id, []).append((value, target))
        found = self._bound.get(name, [])
        return found[0] if len(found) == 1 and name not in self.file.shared else None

    def holds(self, name: str) -> bool:
        """True if a name is one of this scope's own."""
        return times_bound(self.function)[name] > 0 if self.function is not None else True

    @property
    def outer(self) -> Scope | None:
        """The scope around this one; None for that of the file."""
        if self.function is None:
            return None
        return Scope(self.file, self.file.function_around(self.function), {})


def _bindings(node: ast.AST) -> Iterator[tuple[ast.expr, ast.expr]]:
    """Yield the targets that a node binds, with the value. Those of comprehensions are no names of the scope."""
    if isinstance(node, ast.Assign):
        yield from ((target, node.value) for target in node.targets)
    elif isinstance(node, (ast.AnnAssign, ast.NamedExpr)) and node.value is not None:
        yield node.target, node.value
    elif isinstance(node, (ast.For, ast.AsyncFor)):
        yield node.target, node.iter


def _is_named(function: ast.expr, name: str) -> bool:
    """True for ``name`` and ``self.name``."""
    if isinstance(function, ast.Attribute):
        return function.attr == name and isinstance(function.value, ast.Name) and function.value.id in ("self", "cls")
    return isinstance(function, ast.Name) and function.id == name


def _by_parameter(
    function: AnyFunction, args: list[ast.expr], keywords: list[ast.keyword], scope: Scope, *, items: bool = False
) -> Given | None:
    if any(isinstance(each, ast.Starred) for each in args) or any(each.arg is None for each in keywords):
        return None
    plain = [*function.args.posonlyargs, *function.args.args]
    parameters = [each.arg for each in plain]
    defaults = function.args.defaults
    given: Given = {
        name: (value, scope, False)
        for name, value in zip(parameters[len(parameters) - len(defaults) :], defaults, strict=True)
    }
    if parameters[:1] in (["self"], ["cls"]):
        parameters = parameters[1:]
    given |= {name: (value, scope, items) for name, value in zip(parameters, args, strict=False)}
    return given | {each.arg: (each.value, scope, False) for each in keywords if each.arg is not None}
