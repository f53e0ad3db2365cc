"""Follow the options of a TF1 session: the messages that hold them, their parts, and the statements that fill them
in.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import libcst as cst

from tfmemlint.fixes.child_nodes import child_nodes
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
_MAX_ASSIGNMENTS = 8
"""The number of assignments through which a message is followed; a bound against cycles, without a deeper reason."""


class Variables:
    """The variable that each name of a file refers to."""

    def __init__(self, editor: Editor) -> None:
        self._editor = editor
        self._locals: dict[cst.CSTNode, set[str]] = {}
        self._names: dict[str, list[cst.Name]] = {}
        for node in walk(editor.module):
            if isinstance(node, cst.Name) and _is_variable(editor, node):
                self._names.setdefault(node.value, []).append(node)

    def of(self, node: cst.Name) -> Variable:
        """Return the variable that a name refers to at its place."""
        for scope in self._editor.ancestors(node):
            if isinstance(scope, _SCOPES) and node.value in self._local(scope):
                return node.value, scope
        return node.value, None

    def uses(self, variable: Variable) -> list[cst.Name]:
        """Return all occurrences of a variable, including those that bind it."""
        return [node for node in self._names.get(variable[0], ()) if self.of(node) == variable]

    def in_(self, node: cst.CSTNode) -> set[Variable]:
        """Return the variables that occur in ``node``."""
        return {self.of(part) for part in walk(node) if isinstance(part, cst.Name) and _is_variable(self._editor, part)}

    def _local(self, scope: cst.CSTNode) -> set[str]:
        if scope not in self._locals:
            self._locals[scope] = set(_bound_in(scope))
        return self._locals[scope]


def _bound_in(scope: cst.CSTNode) -> Iterator[str]:
    """Yield the names that are local to a function."""
    assert isinstance(scope, (cst.FunctionDef, cst.Lambda))
    outer: set[str] = set()
    found: set[str] = set()
    pending: list[cst.CSTNode] = [scope.params, scope.body]
    while pending:
        node = pending.pop()
        if isinstance(node, (cst.Global, cst.Nonlocal)):
            outer |= {item.name.value for item in node.names}
        elif isinstance(node, (cst.FunctionDef, cst.ClassDef)):
            found.add(node.name.value)
            continue
        elif isinstance(node, cst.Lambda):
            continue
        elif isinstance(node, cst.Param):
            found.add(node.name.value)
        elif isinstance(node, cst.ImportAlias):
            found.add(node.evaluated_alias or node.evaluated_name.split(".")[0])
        found |= {part.value for target in targets(node) for part in walk(target) if isinstance(part, cst.Name)}
        pending.extend(child_nodes(node))
    return iter(found - outer)


def targets(node: cst.CSTNode) -> Iterator[cst.CSTNode]:
    """Yield the names, or tuples of names, that a node binds; attributes and items are left out."""
    given: list[cst.CSTNode] = []
    if isinstance(node, cst.Assign):
        given = [target.target for target in node.targets]
    elif isinstance(node, (cst.AnnAssign, cst.AugAssign, cst.For, cst.CompFor, cst.NamedExpr)):
        given = [node.target]
    elif isinstance(node, cst.AsName):
        given = [node.name]
    return iter([target for target in given if isinstance(target, (cst.Name, cst.Tuple, cst.List))])


def _is_variable(editor: Editor, node: cst.Name) -> bool:
    parent = editor.parent(node)
    if isinstance(parent, cst.Attribute):
        return parent.value is node
    if isinstance(parent, (cst.ImportAlias, cst.ImportFrom, cst.Global, cst.Nonlocal, cst.NameItem)):
        return False
    return not (isinstance(parent, (cst.Arg, cst.Param)) and getattr(parent, "keyword", None) is node)


class ConfigFlow:
    """Finds the statements that do nothing but make and fill the messages with a session's options.

    ``home`` is the function that contains the session, None for the module.
    """

    def __init__(self, editor: Editor, home: cst.CSTNode | None) -> None:
        self._editor = editor
        self._home = home
        self._helpers: set[str] = set()
        self.variables = Variables(editor)

    def collect(self, doomed: set[Statement]) -> set[Statement]:
        """Return ``doomed``, with all statements that make and fill the messages in it.

        Raises:
            Withheld: a variable of a message also holds something else, or is used in another way.
        """
        found = set(doomed)
        for statement in doomed:
            helper = self._editor.nearest(statement, cst.FunctionDef)
            if helper is not None and helper is not self._home:
                self._helpers.add(helper.name.value)
        known: set[Variable] = set()
        while True:
            fresh = {variable for statement in found for variable in self._config_variables(statement)} - known
            if not fresh:
                break
            known |= fresh
            inside = {id(node) for statement in found for node in walk(statement)}
            for variable in sorted(fresh, key=lambda variable: variable[0]):
                for node in self.variables.uses(variable):
                    if id(node) not in inside and not self._is_given_back(node):
                        found.add(self._filling(node, variable))
        return self._whole_loops(found)

    def unused_elsewhere(self, doomed: set[Statement]) -> None:
        """Refuse if other statements use the names that ``doomed`` statements bind.

        Raises:
            Withheld: they do.
        """
        inside = {id(node) for statement in doomed for node in walk(statement)}
        for variable in sorted(
            {variable for statement in doomed for variable in self._bound(statement)}, key=lambda variable: variable[0]
        ):
            for node in self.variables.uses(variable):
                if id(node) not in inside:
                    raise Withheld(f"{variable[0]} is used elsewhere (line {self._editor.span(node).row})")

    def _bound(self, statement: Statement) -> Iterator[Variable]:
        """Yield the variables that a statement binds, or whose fields it sets; for a function, its name."""
        if isinstance(statement, cst.FunctionDef):
            yield self.variables.of(statement.name)
            return
        for node in walk(statement):
            if isinstance(node, (cst.AssignTarget, cst.AnnAssign)):
                for part in [_root(node.target)] if not isinstance(node.target, cst.Tuple) else walk(node.target):
                    if isinstance(part, cst.Name):
                        yield self.variables.of(part)

    def _is_given_back(self, node: cst.Name) -> bool:
        """True if a helper returns the value of a name."""
        parent = self._editor.parent(node)
        function = next((ancestor for ancestor in self._editor.ancestors(node) if isinstance(ancestor, _SCOPES)), None)
        return isinstance(parent, cst.Return) and function is not self._home

    def _config_variables(self, statement: Statement) -> Iterator[Variable]:
        """Yield the variables in a statement that hold messages, or parts of them."""
        for variable in self.variables.in_(statement):
            values = [self._assigned(use) for use in self.variables.uses(variable)]
            if any(value is not None and self._holds_config(value) for value in values):
                yield variable

    def _assigned(self, node: cst.Name) -> cst.BaseExpression | None:
        """Return the value that is assigned to a name at its place; None if none is."""
        target = self._editor.parent(node)
        whole = self._editor.parent(target) if isinstance(target, cst.AssignTarget) else target
        if isinstance(whole, cst.Assign) and isinstance(target, cst.AssignTarget):
            return whole.value
        return whole.value if isinstance(whole, cst.AnnAssign) and whole.target is node else None

    def _holds_config(self, value: cst.CSTNode, depth: int = _MAX_ASSIGNMENTS) -> bool:
        """True if the value of an expression is a message, a part of one, or a mapping of messages."""
        if isinstance(value, cst.Call):
            name = self._editor.resolve(value.func)
            if name.rpartition(".")[2] in ("ConfigProto", "GPUOptions", "OptimizerOptions", "GraphOptions"):
                return True
            if name.rpartition(".")[2] in self._helpers:
                return True
            if name in _PARTS and value.args:
                return self._holds_config(value.args[0].value, depth)
            inner = isinstance(value.func, cst.Call) and self._editor.resolve(value.func.func) in _PARTS
            return inner and bool(value.args) and self._holds_config(value.args[0].value, depth)
        if isinstance(value, cst.Dict):
            return bool(value.elements) and all(self._holds_config(element.value, depth) for element in value.elements)
        while isinstance(value, (cst.Attribute, cst.Subscript)):
            value = value.value
        if not isinstance(value, cst.Name) or depth == 0:
            return False
        given = [self._assigned(use) for use in self.variables.uses(self.variables.of(value))]
        return any(
            source is not None and source is not value and self._holds_config(source, depth - 1) for source in given
        )

    def _filling(self, node: cst.Name, variable: Variable) -> Statement:
        """Return the statement around a name of a message's variable, if it only makes the message or fills it in.

        Raises:
            Withheld: it does something else.
        """
        editor = self._editor
        statement = editor.statement_of(node)
        small = statement.body[0] if isinstance(statement, cst.SimpleStatementLine) else statement
        value = self._assigned(node)
        if value is not None:
            if self._holds_config(value):
                return statement
            raise Withheld(f"{variable[0]} has another value, too (line {editor.span(node).row})")
        if isinstance(small, (cst.Assign, cst.AnnAssign)) and small.value is not None:
            written = [target.target for target in small.targets] if isinstance(small, cst.Assign) else [small.target]
            roots = [_root(target) for target in written]
            if all(root is node for root in roots) or self._holds_config(small.value):
                return statement
        if isinstance(small, cst.Expr) and isinstance(small.value, cst.Call) and _quiet(editor, small.value):
            call = small.value
            if editor.resolve(call.func) == "setattr" and call.args and _root(call.args[0].value) is node:
                return statement
            if isinstance(call.func, cst.Attribute) and call.func.attr.value in _FILLING and _root(call.func) is node:
                return statement
        raise Withheld(f"{variable[0]} is used elsewhere (line {editor.span(node).row})")

    def _whole_loops(self, found: set[Statement]) -> set[Statement]:
        """Return ``found``, with each loop over constants that would be left empty as a whole.

        Raises:
            Withheld: a statement is in a loop that does more.
        """
        editor = self._editor
        whole = set(found)
        for statement in found:
            loop = editor.nearest(statement, cst.For, until=_SCOPES)
            if loop is None or loop in whole:
                continue
            if not isinstance(statement, cst.SimpleStatementLine) or "setattr" not in editor.code(statement):
                continue
            names = {part.value for part in walk(loop.target) if isinstance(part, cst.Name)}
            only = isinstance(loop.body, cst.IndentedBlock) and all(line in found for line in loop.body.body)
            calls = [part for part in walk(loop.iter) if isinstance(part, cst.Call)]
            quiet = all(isinstance(call.func, cst.Attribute) and call.func.attr.value == "items" for call in calls)
            used = any(
                use not in {*walk(loop)} for name in names for use in self.variables.uses(self._variable(loop, name))
            )
            if not only or not quiet or used or loop.orelse is not None:
                raise Withheld(f"the loop in line {editor.span(loop).row} does more than fill in the options")
            whole = {statement for statement in whole if statement not in {*walk(loop)}} | {loop}
        return whole

    def _variable(self, loop: cst.For, name: str) -> Variable:
        return next(
            self.variables.of(part) for part in walk(loop.target) if isinstance(part, cst.Name) if part.value == name
        )


def _root(node: cst.CSTNode) -> cst.CSTNode:
    while isinstance(node, (cst.Attribute, cst.Subscript)):
        node = node.value
    return node


def _quiet(editor: Editor, call: cst.Call) -> bool:
    """True if the arguments of a call have no effects."""
    inner = [node for argument in call.args for node in walk(argument) if isinstance(node, cst.Call)]
    return all(editor.code(call.func) in HARMLESS for call in inner)


__all__ = ["ConfigFlow", "Variable", "Variables"]
