"""What is asked of the same pieces of code again and again, in every program that a module is part of: it depends on
the text alone, and is found once."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from tfmemlint.facts.mentions import CONFIGURES
from tfmemlint.facts.syntax import assigned_names

if TYPE_CHECKING:
    from tfmemlint.sources import Source

Definition = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda

MUTATING = frozenset(
    {
        *("append", "extend", "insert", "remove", "pop", "clear", "sort", "reverse", "add", "update", "discard"),
        *("setdefault", "popitem", "appendleft", "extendleft", "popleft", "rotate", "difference_update"),
        *("intersection_update", "symmetric_difference_update", "move_to_end", "__setitem__", "__delitem__"),
    }
)
"""Methods that change the list or the dictionary that they are called on."""
_OPPOSITES: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.NotEq: ast.Eq,
    ast.NotIn: ast.In,
    ast.IsNot: ast.Is,
    ast.LtE: ast.Gt,
    ast.Lt: ast.GtE,
}


@dataclass(frozen=True, slots=True)
class Asked:
    """A call in a test.

    Attributes:
        call: it. function: what is called, as it is written. first: its first argument, and what that is as written.
    """

    call: ast.Call
    function: str
    first: ast.expr | None
    written: str


@dataclass(frozen=True, slots=True)
class TestFacts:
    """What stands in a test: its text, or that of its opposite (``positive`` False); the names and attributes that it
    reads; what it calls; whether it waits for something, or binds a name."""

    text: str
    positive: bool
    names: tuple[str, ...]
    attributes: tuple[str, ...]
    calls: tuple[Asked, ...]
    changes: bool


class Shapes:
    """What is known of the pieces of one module, each by its first node.

    Args:
        source: the module.
    """

    def __init__(self, source: Source) -> None:
        self._source = source
        # Only `:=` binds names within expressions.
        self._walrus = ":=" in source.text
        self._bound: dict[int, frozenset[str]] = {}
        self._local: dict[int, frozenset[str]] = {}
        self._outer: dict[int, frozenset[str]] = {}
        self._lazy: dict[int, bool] = {}
        self._changing: dict[int, bool] = {}
        self._tests: dict[int, TestFacts] = {}

    @cached_property
    def configures(self) -> bool:
        """Whether the module has a word about configuring GPUs in it."""
        return CONFIGURES.search(self._source.text) is not None

    def bound_names(self, body: Sequence[ast.AST]) -> frozenset[str]:
        """The plain names that statements bind."""
        if not body:
            return frozenset()
        key = id(body[0])
        found = self._bound.get(key)
        if found is None:
            found = self._bound[key] = frozenset(assigned_names(body, expressions=self._walrus))
        return found

    def local_names(self, function: Definition) -> frozenset[str]:
        """The names that a function binds, its parameters among them."""
        found = self._local.get(id(function))
        if found is None:
            found = self.bound_names(_body(function)).union(_parameters(function.args))
            self._local[id(function)] = found
        return found

    def outer_names(self, function: Definition) -> frozenset[str]:
        """The names that a function declares ``global`` or ``nonlocal``."""
        found = self._outer.get(id(function))
        if found is None:
            found = frozenset()
            if self._mentions(function, "global", "nonlocal"):
                found = frozenset(
                    name
                    for statement in _body(function)
                    for child in ast.walk(statement)
                    if isinstance(child, (ast.Global, ast.Nonlocal))
                    for name in child.names
                )
            self._outer[id(function)] = found
        return found

    def is_generator(self, function: Definition) -> bool:
        """Whether a function's own body yields."""
        found = self._lazy.get(id(function))
        if found is None:
            found = self._lazy[id(function)] = self._mentions(function, "yield") and _yields(_body(function))
        return found

    def changes_arguments(self, function: Definition) -> bool:
        """Whether a function may change a list or a dictionary that it is given."""
        found = self._changing.get(id(function))
        if found is None:
            found = self._changing[id(function)] = _changes_arguments(function)
        return found

    def test(self, test: ast.expr) -> TestFacts:
        """What stands in a test."""
        found = self._tests.get(id(test))
        if found is None:
            found = self._tests[id(test)] = _test_facts(test)
        return found

    def _mentions(self, node: ast.AST, *words: str) -> bool:
        """Whether a keyword stands in the text of ``node``: what lacks it need not be looked through."""
        lines = self._source.lines[getattr(node, "lineno", 1) - 1 : getattr(node, "end_lineno", None)]
        return any(word in line for line in lines for word in words)


def _body(function: Definition) -> Sequence[ast.stmt]:
    return function.body if isinstance(function.body, list) else []


def _parameters(args: ast.arguments) -> list[str]:
    rest = [arg.arg for arg in (args.vararg, args.kwarg) if arg is not None]
    return [arg.arg for arg in (*args.posonlyargs, *args.args, *args.kwonlyargs)] + rest


def _yields(body: Sequence[ast.AST]) -> bool:
    pending = list(body)
    while pending:
        child = pending.pop()
        if isinstance(child, (ast.Yield, ast.YieldFrom)):
            return True
        if not isinstance(child, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ClassDef)):
            pending.extend(ast.iter_child_nodes(child))
    return False


def _changes_arguments(function: Definition) -> bool:
    arguments = function.args
    names = {one.arg for one in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs)}
    for node in ast.walk(function) if names else ():
        match node:
            case ast.Call(func=ast.Attribute(value=ast.Name(id=name), attr=attr)) if attr in MUTATING:
                pass
            case ast.Subscript(value=ast.Name(id=name), ctx=ast.Store() | ast.Del()):
                pass
            case ast.AugAssign(target=ast.Name(id=name)):
                pass
            case _:
                continue
        if name in names:
            return True
    return False


def _test_facts(test: ast.expr) -> TestFacts:
    positive = True
    written = test
    if isinstance(test, ast.Compare) and len(test.ops) == 1:
        # `x != 1` and `not x == 1` are one condition.
        opposite = _OPPOSITES.get(type(test.ops[0]))
        if opposite is not None:
            positive, written = False, ast.Compare(test.left, [opposite()], test.comparators)
    names: set[str] = set()
    attributes: set[str] = set()
    calls: list[Asked] = []
    changes = False
    for child in ast.walk(test):
        if isinstance(child, ast.Name):
            names.add(child.id)
        elif isinstance(child, ast.Attribute):
            attributes.add(child.attr)
        elif isinstance(child, ast.Call):
            first = child.args[0] if child.args else None
            calls.append(Asked(child, ast.unparse(child.func), first, ast.unparse(first) if first is not None else ""))
        elif isinstance(child, (ast.Await, ast.NamedExpr)):
            changes = True
    text = ast.unparse(written)
    return TestFacts(text, positive, tuple(sorted(names)), tuple(sorted(attributes)), tuple(calls), changes)


def expressions(node: ast.AST) -> Iterator[ast.expr]:
    """The expressions right below a node, in the order of its fields."""
    for name in node._fields:
        child = getattr(node, name, None)
        if isinstance(child, ast.expr):
            yield child
        elif isinstance(child, list):
            for one in child:
                if isinstance(one, ast.expr):
                    yield one
