"""The origins of values, read off the syntax: through variables, parameters, attributes and keys."""

from __future__ import annotations

import ast

from tfmemlint.facts.syntax import AnyFunction, last_word
from tfmemlint.facts.tree_walk import all_nodes, parents_of

Origin = tuple[object, ...]
"""Equal for two expressions that have the same value: a scope and a name, then attributes and keys."""
_MOST_STEPS = 12


class Origins:
    """The origins of the values of a module."""

    def __init__(self, tree: ast.Module) -> None:
        self.parents = parents_of(tree)
        self.nodes = all_nodes(tree)
        self.calls: dict[str, list[ast.Call]] = {}
        self.stored: dict[tuple[ast.AST, str], list[ast.AST]] = {}
        self.attributes: dict[str, list[ast.AST]] = {}
        """The assignments to attributes of ``self``; ``others``: the attributes of anything else."""
        self.others: set[str] = set()
        for node in self.nodes:
            if isinstance(node, ast.Call):
                self.calls.setdefault(last_word(node.func), []).append(node)
            elif isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load):
                self.stored.setdefault((self.scope(node), node.id), []).append(node)
            elif isinstance(node, ast.Attribute) and not isinstance(node.ctx, ast.Load):
                if isinstance(node.value, ast.Name) and node.value.id == "self":
                    self.attributes.setdefault(node.attr, []).append(node)
                else:
                    self.others.add(node.attr)

    def scope(self, node: ast.AST) -> ast.AST:
        """Return the function, or the module, around a node."""
        around = self.parents[node]
        while not isinstance(around, (AnyFunction, ast.Lambda, ast.Module)):
            around = self.parents[around]
        return around

    def of(self, node: ast.expr, steps: int = _MOST_STEPS) -> Origin | None:
        """Return the origin of an expression; None where it isn't known, or may change."""
        more: Origin = ()
        while steps:
            steps -= 1
            match node:
                case ast.Call(ast.Name("int"), [inner], []):
                    node = inner
                case ast.Subscript(base, ast.Constant(key)):
                    node, more = base, (key, *more)
                case ast.Attribute(ast.Name("self"), attr) if attr in self.attributes:
                    value = self._assigned(self.attributes[attr])
                    if value is None:
                        return None
                    if not _is_followed(value):
                        return ("self", attr, *more)
                    node = value
                case ast.Attribute(base, attr):
                    if attr in self.others:
                        return None
                    node, more = base, (attr, *more)
                case ast.Name(name):
                    scope = self._scope_of_name(node, name)
                    given = self._given(scope, name) if scope is not None else None
                    if scope is None or (len(self.stored.get((scope, name), ())) > 1):
                        return None
                    value = given or self._assigned(self.stored.get((scope, name), []))
                    if value is None or not _is_followed(value):
                        return (scope, name, *more)
                    node = value
                case _:
                    return None
        return None

    def _scope_of_name(self, node: ast.AST, name: str) -> ast.AST | None:
        """Return the innermost function around a node that binds a name, else the module."""
        scope = self.scope(node)
        while not isinstance(scope, ast.Module):
            if (scope, name) in self.stored or name in _parameters(scope):
                return scope if not isinstance(scope, ast.Lambda) else None
            scope = self.scope(scope)
        return scope

    def _assigned(self, stores: list[ast.AST]) -> ast.expr | None:
        """Return what is assigned where that is done once."""
        statement = self.parents[stores[0]] if len(stores) == 1 else None
        return statement.value if isinstance(statement, (ast.Assign, ast.AnnAssign)) else None

    def assigned_each(self, stores: list[ast.AST]) -> list[ast.expr]:
        """Return what is assigned in each of some places."""
        values = [self._assigned([store]) for store in stores]
        return [value for value in values if value is not None]

    def bound_to(self, node: ast.Name) -> list[ast.expr]:
        """Return what a variable, or the parameter of a function that is called once, may be."""
        scope = self._scope_of_name(node, node.id)
        if scope is None:
            return []
        given = self._given(scope, node.id)
        return [given] if given is not None else self.assigned_each(self.stored.get((scope, node.id), []))

    def _given(self, scope: ast.AST, name: str) -> ast.expr | None:
        """Return the argument for a parameter where its function is called once."""
        if not isinstance(scope, AnyFunction) or (scope, name) in self.stored:
            return None
        names, around = _parameters(scope), self.parents[scope]
        called = scope.name
        if isinstance(around, ast.ClassDef):
            called, names = (around.name if called == "__init__" else called), names[1:]
        calls = self.calls.get(called, [])
        if name not in names or len(calls) != 1:
            return None
        (call,) = calls
        named = [each.value for each in call.keywords if each.arg == name]
        place = names.index(name)
        if any(isinstance(each, ast.Starred) for each in call.args):
            return None
        return named[0] if named else call.args[place] if place < len(call.args) else None


def _parameters(scope: ast.AST) -> list[str]:
    if not isinstance(scope, (AnyFunction, ast.Lambda)):
        return []
    return [each.arg for each in (*scope.args.posonlyargs, *scope.args.args, *scope.args.kwonlyargs)]


def _is_followed(node: ast.expr) -> bool:
    """True for what has an origin: a variable, an attribute, an item by its key, and the number that it is."""
    match node:
        case ast.Call(ast.Name("int"), [inner], []):
            return _is_followed(inner)
        case ast.Attribute(base) | ast.Subscript(base, ast.Constant()):
            return _is_followed(base)
        case _:
            return isinstance(node, ast.Name)
