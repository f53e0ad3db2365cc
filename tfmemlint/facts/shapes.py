"""Facts about pieces of code that depend on the text alone: computed once, used in every program with the module."""

from __future__ import annotations

import ast
from collections.abc import Hashable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING

from tfmemlint.facts.alike_answers import answers_alike
from tfmemlint.facts.function_reads import FunctionReads, function_reads
from tfmemlint.facts.mentions import CONFIGURES
from tfmemlint.facts.syntax import assigned_names
from tfmemlint.facts.table_columns import Column, columns_of_cells, told_part
from tfmemlint.facts.tree_walk import nodes, unparsed
from tfmemlint.model.records import dataclass

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
"""Methods that change the list or the dictionary on which they are called."""
_OPPOSITES: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.NotEq: ast.Eq,
    ast.NotIn: ast.In,
    ast.IsNot: ast.Is,
    ast.LtE: ast.Gt,
    ast.Lt: ast.GtE,
}


@dataclass(frozen=True, slots=True)
class ConditionCall:
    """A call in a condition.

    Attributes:
        call: the call.
        function: its function, as written.
        first: its first argument; None without one.
        written: that argument as written.
    """

    call: ast.Call
    function: str
    first: ast.expr | None
    written: str


@dataclass(frozen=True, slots=True)
class TestFacts:
    """The contents of a condition: its text or that of its opposite (``positive`` False); the names and attributes that
    it reads; its calls; True if it awaits something or binds a name; the constants of which it asks whether a name is
    one, with the text that says so (``== 1``)."""

    text: str
    positive: bool
    names: tuple[str, ...]
    attributes: tuple[str, ...]
    calls: tuple[ConditionCall, ...]
    changes: bool
    compared: tuple[frozenset[Hashable], str] | None = None


_SETTINGS_READERS = ("json.load", "yaml.", "toml", "onfigParser", "dotenv_values", "read_text")


class Shapes:
    """Facts about the pieces of one module, by first node.

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
        self._reading: dict[int, bool] = {}
        self._tests: dict[int, TestFacts] = {}
        self._postponed: bool | None = None
        self._columns: Mapping[int, Column] | None = None
        self._function_reads: FunctionReads | None = None
        self._receiver: dict[int, tuple[str, ...]] = {}
        self._annotations: dict[int, tuple[ast.expr, ...]] = {}
        self._deciding: dict[int, tuple[bool, tuple[str, ...]]] = {}
        self._alike: dict[int, bool] = {}

    @cached_property
    def configures(self) -> bool:
        """True if the module contains a word about GPU configuration."""
        return CONFIGURES.search(self._source.text) is not None

    def column_of(self, tree: ast.Module, cell: ast.expr) -> Column | None:
        """Return the column of a table of the module in which an expression is told; None for no cell."""
        if self._columns is None:
            self._columns = columns_of_cells(tree)
        return self._columns.get(id(told_part(cell)))

    def function_reads(self, tree: ast.Module) -> FunctionReads:
        """Return where the functions of the module read names."""
        if self._function_reads is None:
            self._function_reads = function_reads(tree)
        return self._function_reads

    def bound_names(self, body: Sequence[ast.AST]) -> frozenset[str]:
        """Return the plain names that statements bind."""
        if not body:
            return frozenset()
        key = id(body[0])
        found = self._bound.get(key)
        if found is None:
            found = self._bound[key] = frozenset(assigned_names(body, expressions=self._walrus))
        return found

    def local_names(self, function: Definition) -> frozenset[str]:
        """Return the names that a function binds, including its parameters."""
        found = self._local.get(id(function))
        if found is None:
            found = self.bound_names(_body(function)).union(_parameters(function.args))
            self._local[id(function)] = found
        return found

    def outer_names(self, function: Definition) -> frozenset[str]:
        """Return the names that a function declares ``global`` or ``nonlocal``."""
        found = self._outer.get(id(function))
        if found is None:
            found = frozenset()
            if self._mentions(function, "global", "nonlocal"):
                found = frozenset(
                    name
                    for statement in _body(function)
                    for child in nodes(statement)
                    if isinstance(child, (ast.Global, ast.Nonlocal))
                    for name in child.names
                )
            self._outer[id(function)] = found
        return found

    def is_generator(self, function: Definition) -> bool:
        """Return True if a function's own body yields."""
        found = self._lazy.get(id(function))
        if found is None:
            found = self._lazy[id(function)] = self._mentions(function, "yield") and _yields(_body(function))
        return found

    def answers_alike(self, function: Definition) -> bool:
        """True if a function only computes from its arguments, constants and the environment (`answers_alike`)."""
        found = self._alike.get(id(function))
        if found is None:
            found = self._alike[id(function)] = answers_alike(function)
        return found

    def called_on_receiver(self, function: Definition) -> tuple[str, ...]:
        """The methods and attributes of its first parameter that a function calls."""
        found = self._receiver.get(id(function))
        if found is None:
            first = next(iter((*function.args.posonlyargs, *function.args.args)), None)
            name = first.arg if first is not None else ""
            found = self._receiver[id(function)] = tuple(sorted(_called_on(name, function))) if name else ()
        return found

    def decides_by_arguments(self, function: Definition) -> bool:
        """True if the effects of a function depend on a parameter: a condition, a key, an attribute's name."""
        return self._decides(function)[0]

    def decides_by_fields(self, function: Definition) -> tuple[str, ...]:
        """The attributes of its first parameter that a method decides by."""
        return self._decides(function)[1]

    def annotations_that_call(
        self, tree: ast.Module, function: ast.FunctionDef | ast.AsyncFunctionDef
    ) -> tuple[ast.expr, ...]:
        """Return the annotations of a function of the module in which something is called, unless they stay text."""
        found = self._annotations.get(id(function))
        if found is None:
            args = function.args
            every = [arg.annotation for arg in (*args.posonlyargs, *args.args, *args.kwonlyargs)]
            calling = [each for each in (*every, function.returns) if each is not None and _calls_something(each)]
            found = () if not calling or self.postponed(tree) else tuple(calling)
            self._annotations[id(function)] = found
        return found

    def _decides(self, function: Definition) -> tuple[bool, tuple[str, ...]]:
        found = self._deciding.get(id(function))
        if found is None:
            found = self._deciding[id(function)] = _decided_by(function)
        return found

    def postponed(self, tree: ast.Module) -> bool:
        """True if the annotations of the module are never evaluated."""
        if self._postponed is None:
            self._postponed = "annotations" in self._source.text and any(
                isinstance(node, ast.ImportFrom)
                and node.module == "__future__"
                and any(alias.name == "annotations" for alias in node.names)
                for node in tree.body
            )
        return self._postponed

    def changes_arguments(self, function: Definition) -> bool:
        """Return True if a function may change a list or a dictionary that it gets as an argument."""
        found = self._changing.get(id(function))
        if found is None:
            found = self._changing[id(function)] = _changes_arguments(function)
        return found

    def reads_settings(self, function: Definition) -> bool:
        """Return True if a function reads a configuration file: its result may decide what is set, and when."""
        found = self._reading.get(id(function))
        if found is None:
            found = self._reading[id(function)] = self._mentions(function, *_SETTINGS_READERS)
        return found

    def test(self, test: ast.expr) -> TestFacts:
        """Return the contents of a condition."""
        found = self._tests.get(id(test))
        if found is None:
            found = self._tests[id(test)] = _test_facts(test)
        return found

    def _mentions(self, node: ast.AST, *words: str) -> bool:
        """Return True if the text of ``node`` contains a keyword: without it, the tree need not be searched."""
        lines = self._source.lines[getattr(node, "lineno", 1) - 1 : getattr(node, "end_lineno", None)]
        return any(word in line for line in lines for word in words)


def _body(function: Definition) -> Sequence[ast.stmt]:
    return function.body if isinstance(function.body, list) else []


def _parameters(args: ast.arguments) -> list[str]:
    rest = [arg.arg for arg in (args.vararg, args.kwarg) if arg is not None]
    return [arg.arg for arg in (*args.posonlyargs, *args.args, *args.kwonlyargs)] + rest


def _calls_something(annotation: ast.expr) -> bool:
    if isinstance(annotation, (ast.Name, ast.Attribute, ast.Constant)):
        return False
    return any(isinstance(part, ast.Call) for part in nodes(annotation))


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
    names = {argument.arg for argument in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs)}
    for node in nodes(function) if names else ():
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


def _called_on(name: str, function: Definition) -> set[str]:
    return {
        node.func.attr
        for node in nodes(function)
        if isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and isinstance(node.func.value, ast.Name)
        and node.func.value.id == name
    }


def _decided_by(function: Definition) -> tuple[bool, tuple[str, ...]]:
    parameters = _parameters(function.args)
    if not parameters:
        return False, ()
    deciding: list[ast.AST] = []
    for node in nodes(function):
        match node:
            case ast.If(test=test) | ast.IfExp(test=test) | ast.While(test=test):
                deciding.append(test)
            case ast.Match(subject=subject):
                deciding.append(subject)
            case ast.Subscript(value=ast.Name(name)) if name in parameters:
                pass  # an item of what is given, not a choice by it
            case ast.Subscript(slice=key):
                deciding.append(key)
            case (
                ast.Call(func=ast.Name("getattr" | "import_module"), args=args)
                | ast.Call(func=ast.Attribute(attr="get" | "import_module" | "pop"), args=args)
            ):
                deciding.extend(args)
    parts = [part for test in deciding for part in nodes(test)]
    fields = {
        part.attr
        for part in parts
        if isinstance(part, ast.Attribute) and isinstance(part.value, ast.Name) and part.value.id == parameters[0]
    }
    names = set(parameters)
    return any(isinstance(part, ast.Name) and part.id in names for part in parts), tuple(sorted(fields))


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
    calls: list[ConditionCall] = []
    changes = False
    for child in nodes(test):
        if isinstance(child, ast.Name):
            names.add(child.id)
        elif isinstance(child, ast.Attribute):
            attributes.add(child.attr)
        elif isinstance(child, ast.Call):
            first = child.args[0] if child.args else None
            calls.append(
                ConditionCall(child, unparsed(child.func), first, unparsed(first) if first is not None else "")
            )
        elif isinstance(child, (ast.Await, ast.NamedExpr)):
            changes = True
    text = unparsed(written)
    compared = None
    match written:
        case ast.Compare(
            left=ast.Name()
            | ast.Attribute()
            | ast.Subscript(value=ast.Name(), slice=ast.Constant() | ast.UnaryOp(operand=ast.Constant())) as left,
            ops=[ast.Eq() | ast.In()],
            comparators=[given],
        ):
            constants = _constants(given, listed=isinstance(written.ops[0], ast.In))
            if constants:
                compared = constants, text.removeprefix(unparsed(left)).lstrip()
                names = {node.id for node in nodes(left) if isinstance(node, ast.Name)}
    return TestFacts(text, positive, tuple(sorted(names)), tuple(sorted(attributes)), tuple(calls), changes, compared)


def _constants(given: ast.expr, *, listed: bool) -> frozenset[Hashable]:
    """Return the constants that something is compared with; none if it is compared with something else."""
    parts = [given]
    if listed:
        parts = given.elts if isinstance(given, ast.List | ast.Tuple | ast.Set) else []
    found: list[Hashable] = []
    for part in parts:
        if isinstance(part, ast.Constant):
            found.append(part.value)
        elif _is_member(part):
            found.append(unparsed(part))
    return frozenset(found) if len(found) == len(parts) else frozenset()


def _is_member(node: ast.AST) -> bool:
    """True for ``Modes.SHARED``: the members of an enumeration differ, whatever they are."""
    match node:
        case ast.Attribute(value=ast.Name(id=name)):
            return name[:1].isupper() and not name.isupper()
        case _:
            return False


def expressions(node: ast.AST) -> Iterator[ast.expr]:
    """Yield the direct subexpressions of a node, in the order of its fields."""
    for name in node._fields:
        child = getattr(node, name, None)
        if isinstance(child, ast.expr):
            yield child
        elif isinstance(child, list):
            for item in child:
                if isinstance(item, ast.expr):
                    yield item
