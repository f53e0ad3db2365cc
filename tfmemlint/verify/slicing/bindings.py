"""Relate the statements of a program as a slice needs it: which statement gives a name its value."""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator

from tfmemlint.facts.statements import own_nodes
from tfmemlint.verify.slicing import aliases
from tfmemlint.verify.slicing.statements import Function, StatementIndex

Definition = ast.FunctionDef | ast.AsyncFunctionDef

Name = tuple[str, Function]
"""A name, and the function that it belongs to."""

_FLAGS = {"FLAGS", "flags"}


class Bindings(StatementIndex):
    """The statements of a module, with what each of them binds, changes and contains."""

    def __init__(self, tree: ast.Module) -> None:
        super().__init__(tree)
        self._alike: dict[Name, list[tuple[Name, ast.stmt]]] = defaultdict(list)
        self._changes: dict[Name, list[ast.stmt]] = defaultdict(list)
        self._getters: set[str] = set()
        self._functions: dict[str, list[ast.stmt]] = defaultdict(list)
        self._results: dict[ast.stmt, set[str]] = {}
        # The home of each name is known only now.
        self._relate()

    def definitions(self, name: str, function: Function) -> list[ast.stmt]:
        """Return the statements that may give ``name`` the value that it has in ``function``, or change that value."""
        place = self.home(name, function)
        found = list(self.bound.get((name, place), ())) or list(self.bound.get(("*", None), ()))
        return [*found, *self.changes(name, function)]

    def changes(self, name: str, function: Function) -> list[ast.stmt]:
        """Return the statements that change the object of ``name`` in ``function``, or a part of it, by this or another
        name.

        The statements that bind the other name are included. ``.x`` stands for the attribute ``x``.
        """
        found: dict[ast.stmt, None] = {}
        self._changed(self._place(name, function), found, set())
        return list(found)

    def _changed(self, name: Name, found: dict[ast.stmt, None], seen: set[Name]) -> bool:
        if name in seen:
            return False
        seen.add(name)
        here = self._changes.get(name, ())
        found.update(dict.fromkeys(here))
        some = bool(here)
        for other, statement in self._alike.get(name, ()):
            if self._changed(other, found, seen):
                found[statement] = None
                some = True
        return some

    def is_of_a_module(self, node: ast.expr) -> bool:
        """True if an expression is an attribute of a module, such as ``tf.config``."""
        while isinstance(node, ast.Attribute):
            node = node.value
        return isinstance(node, ast.Name) and node.id in self.modules - self.taken

    def gives(self, name: str) -> bool:
        """True if the module binds this name at its top level."""
        return (name, None) in self.bound

    def taken_by(self, statements: Iterable[ast.stmt]) -> set[str]:
        """Return the names that some of its statements import from modules."""
        return {alias.name for this in statements if isinstance(this, ast.ImportFrom) for alias in this.names}

    def sets_in_modules(self, names: set[str]) -> list[ast.stmt]:
        """Return the statements that set one of these names in a module, or change an object that was imported by it.

        ``settings.SIZE = 1`` does the former, ``SIZES[0] = 1`` the latter.
        """
        found = [
            statement
            for name in names
            for statement in self.assigned_attributes.get(name, ())
            if self._is_in_module(statement)
        ]
        taken = (statement for name in names & self.taken for statement in self._changes.get((name, None), ()))
        return found + [
            statement for statement in taken if not isinstance(statement, ast.Expr) or aliases.stores(statement)
        ]

    def _is_in_module(self, statement: ast.stmt) -> bool:
        nodes = (node for node in own_nodes(statement) if isinstance(node, ast.Attribute))
        return any(isinstance(node.ctx, ast.Store) and self.is_of_a_module(node.value) for node in nodes)

    def _place(self, name: str, function: Function) -> Name:
        return (name, None) if name.startswith(".") else (name, self.home(name, function))

    def _relate(self) -> None:
        """Find out which names may refer to the same object, and which statements change it."""
        for statement in self.parent:
            if isinstance(statement, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
                self._functions[statement.name].append(statement)
            for target, value in aliases.pairs(statement):
                if isinstance(target, ast.Name) and aliases.is_getter(value):
                    self._getters.add(target.id)
        links = [(statement, pair) for statement in self.parent for pair in aliases.pairs(statement)]
        for statement, (target, value) in links:
            function = self.function[statement]
            targets = self._carried(target)
            around = self.parent[statement]
            if isinstance(around, ast.ClassDef):
                targets |= {around.name, *(f".{name}" for name in targets if not name.startswith("."))}
            for name in self._objects(value):
                for other in targets:
                    if other != name:
                        self._alike[self._place(name, function)].append((self._place(other, function), statement))
        another = {other for several in self._alike.values() for other, _ in several}
        for statement in self.parent:
            function = self.function[statement]
            looks = aliases.called(statement) == "print"
            for name in self._changed_names(statement):
                # Printing changes nothing; but if it fails, nothing after it is reached.
                (self.bound if looks else self._changes)[self._place(name, function)].append(statement)
            name = aliases.called(statement)
            if name and self._place(name, function) in another:
                self._changes[self._place(name, function)].append(statement)
        self._hand_over()

    def _hand_over(self) -> None:
        """Attribute the changes that functions of this module make to their arguments to the statements that call
        them.
        """
        calls = [
            (statement, node)
            for statement in self.parent
            for node in own_nodes(statement)
            if isinstance(node, ast.Call) and self._called(node)
        ]
        more = True
        while more:
            more = False
            for statement, call in calls:
                for argument in self._given(call, lambda function, name: bool(self.changes(name, function))):
                    for name in self._objects(argument):
                        known = self._changes[self._place(name, self.function[statement])]
                        if statement not in known:
                            known.append(statement)
                            more = True

    def _called(self, call: ast.Call) -> list[ast.stmt]:
        """Return the functions and classes of this module that a call may refer to."""
        name = call.func.id if isinstance(call.func, ast.Name) else getattr(call.func, "attr", "")
        return self._functions.get(name, [])

    def _given(self, call: ast.Call, chosen: Callable[[Definition, str], bool]) -> Iterator[ast.expr]:
        """Yield the arguments of a call for the ``chosen`` parameters of the functions that it may refer to."""
        for called in self._called(call):
            if not isinstance(called, (ast.FunctionDef, ast.AsyncFunctionDef)):
                continue
            names = [argument.arg for argument in [*called.args.posonlyargs, *called.args.args]]
            if isinstance(self.parent[called], ast.ClassDef) and isinstance(call.func, ast.Attribute):
                names = names[1:]
            rest = called.args.vararg.arg if called.args.vararg is not None else ""
            for number, argument in enumerate(call.args):
                name = names[number] if number < len(names) else rest
                if isinstance(argument, ast.Starred) or (name and chosen(called, name)):
                    yield argument
            others = called.args.kwarg.arg if called.args.kwarg is not None else ""
            known = {*names, *(argument.arg for argument in called.args.kwonlyargs)}
            for word in call.keywords:
                name = word.arg if word.arg in known else others
                if name and chosen(called, name):
                    yield word.value

    def _passed(self, call: ast.Call) -> list[ast.expr]:
        """Return the arguments of a call that its result may be, or hold."""
        if isinstance(call.func, ast.Name) and call.func.id in self._getters:
            return aliases.given(call)
        if any(isinstance(definition, ast.ClassDef) for definition in self._called(call)):
            return aliases.given(call)
        found = list(self._given(call, self._hands_back))
        if isinstance(call.func, ast.Name) and call.func.id not in self.modules and not self._called(call):
            found.append(call.func)  # the value that it was bound to may contain something
        return found

    def _hands_back(self, function: Definition, name: str) -> bool:
        """True if a function may return the value of its parameter ``name``, or a part of it."""
        found = self._results.get(function)
        if found is None:
            self._results[function] = found = set()
            for statement in self.inside(function):
                if self.function[statement] is not function:
                    continue
                for node in own_nodes(statement):
                    if isinstance(node, (ast.Return, ast.Yield, ast.YieldFrom)):
                        found |= self._carried(node.value)
            while True:
                # It may be a part of a value to which a name in it is bound.
                more = {
                    carried
                    for statement in self.inside(function)
                    for target, value in aliases.pairs(statement)
                    if not self._carried(target).isdisjoint(found)
                    for carried in self._carried(value)
                } - found
                if not more:
                    break
                found |= more
        return name in found

    def _carried(self, node: ast.AST | None) -> set[str]:
        return aliases.carried(node, self.modules - self.taken, self._passed)

    def _objects(self, node: ast.AST) -> set[str]:
        """Return the names that `_carried` does, without those of modules."""
        found = self._carried(node)
        return {name for name in found if name not in self.modules or name in self.taken}

    def _changed_names(self, statement: ast.stmt) -> set[str]:
        """Return the names whose values a statement changes without binding them."""
        found: set[str] = set()
        for expression in aliases.changed(statement):
            found |= self._carried(expression)
        call = statement.value if isinstance(statement, ast.Expr) else None
        if isinstance(call, ast.Call) and (found & {"flags"} or "DEFINE_" in ast.unparse(call.func)):
            found |= _FLAGS
        kept = self.taken | _FLAGS
        return {name for name in found if name not in self.modules or name in kept or _initialises(statement)}


def _initialises(statement: ast.stmt) -> bool:
    """True for ``pynvml.nvmlInit()``, ``hvd.init()``: nothing else of the module works without it."""
    call = statement.value if isinstance(statement, ast.Expr) else None
    return isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute) and "init" in call.func.attr.lower()
