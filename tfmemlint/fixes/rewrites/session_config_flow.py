"""What carries the options of a TF1 session to it: messages, their parts under other names, and what fills them in."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import libcst as cst

from tfmemlint.fixes.concrete_tree import walk
from tfmemlint.fixes.def_use import HARMLESS
from tfmemlint.fixes.withheld import Withheld

if TYPE_CHECKING:
    from tfmemlint.fixes.editor import Editor, Statement

Variable = tuple[str, cst.CSTNode | None]
"""A name, and the function that it is local to; None for a name of the module."""

_SCOPES = (cst.FunctionDef, cst.Lambda)
_FILLING = ("CopyFrom", "MergeFrom")
_PARTS = ("getattr", "attrgetter", "operator.attrgetter", "dict")


class Variables:
    """Which variable each name of a file is."""

    def __init__(self, editor: Editor) -> None:
        self._editor = editor
        self._locals: dict[cst.CSTNode, set[str]] = {}
        self._names: dict[str, list[cst.Name]] = {}
        for node in walk(editor.module):
            if isinstance(node, cst.Name) and _is_variable(editor, node):
                self._names.setdefault(node.value, []).append(node)

    def of(self, node: cst.Name) -> Variable:
        """The variable that a name stands for where it is."""
        for scope in self._editor.ancestors(node):
            if isinstance(scope, _SCOPES) and node.value in self._local(scope):
                return node.value, scope
        return node.value, None

    def uses(self, variable: Variable) -> list[cst.Name]:
        """All places of a variable, those where it is bound among them."""
        return [node for node in self._names.get(variable[0], ()) if self.of(node) == variable]

    def in_(self, node: cst.CSTNode) -> set[Variable]:
        """The variables that are named within ``node``."""
        return {self.of(one) for one in walk(node) if isinstance(one, cst.Name) and _is_variable(self._editor, one)}

    def _local(self, scope: cst.CSTNode) -> set[str]:
        if scope not in self._locals:
            self._locals[scope] = set(_bound_in(scope))
        return self._locals[scope]


def _bound_in(scope: cst.CSTNode) -> Iterator[str]:
    """The names that a function binds for itself."""
    assert isinstance(scope, (cst.FunctionDef, cst.Lambda))
    outer: set[str] = set()
    found: set[str] = set()
    pending: list[cst.CSTNode] = [scope.params, scope.body]
    while pending:
        node = pending.pop()
        if isinstance(node, (cst.Global, cst.Nonlocal)):
            outer |= {one.name.value for one in node.names}
        elif isinstance(node, (cst.FunctionDef, cst.ClassDef)):
            found.add(node.name.value)
            continue
        elif isinstance(node, cst.Lambda):
            continue
        elif isinstance(node, cst.Param):
            found.add(node.name.value)
        elif isinstance(node, cst.ImportAlias):
            found.add(node.evaluated_alias or node.evaluated_name.split(".")[0])
        found |= {one.value for target in targets(node) for one in walk(target) if isinstance(one, cst.Name)}
        pending.extend(node.children)
    return iter(found - outer)


def targets(node: cst.CSTNode) -> Iterator[cst.CSTNode]:
    """What a node binds: names, or tuples of names; no attributes and items."""
    given: list[cst.CSTNode] = []
    if isinstance(node, cst.Assign):
        given = [one.target for one in node.targets]
    elif isinstance(node, (cst.AnnAssign, cst.AugAssign, cst.For, cst.CompFor, cst.NamedExpr)):
        given = [node.target]
    elif isinstance(node, cst.AsName):
        given = [node.name]
    return iter([one for one in given if isinstance(one, (cst.Name, cst.Tuple, cst.List))])


def _is_variable(editor: Editor, node: cst.Name) -> bool:
    parent = editor.parent(node)
    if isinstance(parent, cst.Attribute):
        return parent.value is node
    if isinstance(parent, (cst.ImportAlias, cst.ImportFrom, cst.Global, cst.Nonlocal, cst.NameItem)):
        return False
    return not (isinstance(parent, (cst.Arg, cst.Param)) and getattr(parent, "keyword", None) is node)


class Carriers:
    """Finds the statements that do nothing but make and fill what carries options to a session.

    ``home`` is the function that the session stands in, None for the module.
    """

    def __init__(self, editor: Editor, home: cst.CSTNode | None) -> None:
        self._editor = editor
        self._home = home
        self._helpers: set[str] = set()
        self.variables = Variables(editor)

    def all(self, doomed: set[Statement]) -> set[Statement]:
        """``doomed``, with all that makes and fills the messages in it.

        Raises:
            Withheld: one of their variables is something else, too, or is used in another way.
        """
        found = set(doomed)
        for statement in doomed:
            helper = self._editor.nearest(statement, cst.FunctionDef)
            if helper is not None and helper is not self._home:
                self._helpers.add(helper.name.value)
        known: set[Variable] = set()
        while True:
            fresh = {one for statement in found for one in self._carried(statement)} - known
            if not fresh:
                break
            known |= fresh
            inside = {id(node) for statement in found for node in walk(statement)}
            for variable in sorted(fresh, key=lambda one: one[0]):
                for node in self.variables.uses(variable):
                    if id(node) not in inside and not self._is_given_back(node):
                        found.add(self._filling(node, variable))
        return self._whole_loops(found)

    def unused_elsewhere(self, doomed: set[Statement]) -> None:
        """Nothing but the statements that go may use the names that they bind.

        Raises:
            Withheld: something does.
        """
        inside = {id(node) for statement in doomed for node in walk(statement)}
        for variable in sorted({one for statement in doomed for one in self._bound(statement)}, key=lambda one: one[0]):
            for node in self.variables.uses(variable):
                if id(node) not in inside:
                    raise Withheld(f"{variable[0]} is used elsewhere (line {self._editor.span(node).row})")

    def _bound(self, statement: Statement) -> Iterator[Variable]:
        """The variables that a statement binds, or whose fields it sets; of a function, its name."""
        if isinstance(statement, cst.FunctionDef):
            yield self.variables.of(statement.name)
            return
        for node in walk(statement):
            if isinstance(node, (cst.AssignTarget, cst.AnnAssign)):
                for one in [_root(node.target)] if not isinstance(node.target, cst.Tuple) else walk(node.target):
                    if isinstance(one, cst.Name):
                        yield self.variables.of(one)

    def _is_given_back(self, node: cst.Name) -> bool:
        """Whether a helper returns what a name stands for."""
        parent = self._editor.parent(node)
        function = next((one for one in self._editor.ancestors(node) if isinstance(one, _SCOPES)), None)
        return isinstance(parent, cst.Return) and function is not self._home

    def _carried(self, statement: Statement) -> Iterator[Variable]:
        """The variables of a statement that hold messages, or parts of them."""
        for variable in self.variables.in_(statement):
            values = [self._assigned(one) for one in self.variables.uses(variable)]
            if any(value is not None and self._carries(value) for value in values):
                yield variable

    def _assigned(self, node: cst.Name) -> cst.BaseExpression | None:
        """The value that a name gets where it stands, if it gets one."""
        target = self._editor.parent(node)
        whole = self._editor.parent(target) if isinstance(target, cst.AssignTarget) else target
        if isinstance(whole, cst.Assign) and isinstance(target, cst.AssignTarget):
            return whole.value
        return whole.value if isinstance(whole, cst.AnnAssign) and whole.target is node else None

    def _carries(self, value: cst.CSTNode, depth: int = 8) -> bool:
        """Whether an expression is a message, a part of one, or a mapping of messages."""
        if isinstance(value, cst.Call):
            name = self._editor.resolve(value.func)
            if name.rpartition(".")[2] in ("ConfigProto", "GPUOptions", "OptimizerOptions", "GraphOptions"):
                return True
            if name.rpartition(".")[2] in self._helpers:
                return True
            if name in _PARTS and value.args:
                return self._carries(value.args[0].value, depth)
            inner = isinstance(value.func, cst.Call) and self._editor.resolve(value.func.func) in _PARTS
            return inner and bool(value.args) and self._carries(value.args[0].value, depth)
        if isinstance(value, cst.Dict):
            return bool(value.elements) and all(self._carries(one.value, depth) for one in value.elements)
        while isinstance(value, (cst.Attribute, cst.Subscript)):
            value = value.value
        if not isinstance(value, cst.Name) or depth == 0:
            return False
        given = [self._assigned(one) for one in self.variables.uses(self.variables.of(value))]
        return any(one is not None and one is not value and self._carries(one, depth - 1) for one in given)

    def _filling(self, node: cst.Name, variable: Variable) -> Statement:
        """The statement around a name of a variable that holds a message, which only makes it or fills it in.

        Raises:
            Withheld: it does something else.
        """
        editor = self._editor
        statement = editor.statement_of(node)
        small = statement.body[0] if isinstance(statement, cst.SimpleStatementLine) else statement
        value = self._assigned(node)
        if value is not None:
            if self._carries(value):
                return statement
            raise Withheld(f"{variable[0]} is something else, too (line {editor.span(node).row})")
        if isinstance(small, (cst.Assign, cst.AnnAssign)) and small.value is not None:
            written = [one.target for one in small.targets] if isinstance(small, cst.Assign) else [small.target]
            roots = [_root(one) for one in written]
            if all(one is node for one in roots) or self._carries(small.value):
                return statement
        if isinstance(small, cst.Expr) and isinstance(small.value, cst.Call) and _quiet(editor, small.value):
            call = small.value
            if editor.resolve(call.func) == "setattr" and call.args and _root(call.args[0].value) is node:
                return statement
            if isinstance(call.func, cst.Attribute) and call.func.attr.value in _FILLING and _root(call.func) is node:
                return statement
        raise Withheld(f"{variable[0]} is used elsewhere (line {editor.span(node).row})")

    def _whole_loops(self, found: set[Statement]) -> set[Statement]:
        """The same; a loop over constants with nothing in it but what goes, goes as a whole.

        Raises:
            Withheld: what goes stands in a loop that does more.
        """
        editor = self._editor
        whole = set(found)
        for statement in found:
            loop = editor.nearest(statement, cst.For, until=_SCOPES)
            if loop is None or loop in whole:
                continue
            if not isinstance(statement, cst.SimpleStatementLine) or "setattr" not in editor.code(statement):
                continue
            names = {one.value for one in walk(loop.target) if isinstance(one, cst.Name)}
            only = isinstance(loop.body, cst.IndentedBlock) and all(one in found for one in loop.body.body)
            calls = [one for one in walk(loop.iter) if isinstance(one, cst.Call)]
            quiet = all(isinstance(one.func, cst.Attribute) and one.func.attr.value == "items" for one in calls)
            used = any(
                one not in {*walk(loop)} for name in names for one in self.variables.uses(self._variable(loop, name))
            )
            if not only or not quiet or used or loop.orelse is not None:
                raise Withheld(f"the loop in line {editor.span(loop).row} does more than fill in the options")
            whole = {one for one in whole if one not in {*walk(loop)}} | {loop}
        return whole

    def _variable(self, loop: cst.For, name: str) -> Variable:
        return next(
            self.variables.of(one) for one in walk(loop.target) if isinstance(one, cst.Name) if one.value == name
        )


def _root(node: cst.CSTNode) -> cst.CSTNode:
    while isinstance(node, (cst.Attribute, cst.Subscript)):
        node = node.value
    return node


def _quiet(editor: Editor, call: cst.Call) -> bool:
    """Whether the arguments of a call do nothing."""
    inner = [one for argument in call.args for one in walk(argument) if isinstance(one, cst.Call)]
    return all(editor.code(one.func) in HARMLESS for one in inner)


__all__ = ["Carriers", "Variable", "Variables"]
