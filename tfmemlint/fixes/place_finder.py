"""Find places in the concrete tree: calls, expressions and statements by their positions, and what is around them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TypeVar

import libcst as cst

from tfmemlint.fixes.concrete_tree import ConcreteTree, Statement, reading_differs
from tfmemlint.fixes.imports import imports_of
from tfmemlint.fixes.withheld import Withheld
from tfmemlint.model.finding import Span

NodeT = TypeVar("NodeT", bound=cst.CSTNode)


class PlaceFinder:
    """The reading half of an `Editor`: it changes nothing.

    Attributes:
        module: the concrete tree; it never changes. tree: the same, with positions.
    """

    def __init__(self, tree: ConcreteTree) -> None:
        self.tree = self._tree = tree
        self.module = tree.module
        self._imports = imports_of(tree)
        self._focus: cst.CSTNode | None = None

    def call_at(self, span: Span, *last_names: str) -> cst.Call:
        """Return the call at exactly ``span``, of a function whose last name is in ``last_names`` if any is given.

        Raises:
            Withheld: there is none.
        """
        for node in self._tree.at(span):
            if isinstance(node, cst.Call) and (not last_names or self._calls(node, last_names)):
                self._focus = node
                return node
        raise reading_differs(span)

    def call_to_rewrite(self, span: Span, *last_names: str) -> cst.Call:
        """Return the call at ``span`` as `call_at` does, whose arguments are all written in it.

        Raises:
            Withheld: there is none, or ``*args`` or ``**kwargs`` gives it arguments.
        """
        call = self.call_at(span, *last_names)
        if any(argument.star for argument in call.args):
            raise Withheld("its arguments are written elsewhere")
        return call

    def node_at(self, span: Span, *types: type[NodeT]) -> NodeT:
        """Return the outermost node of one of ``types`` at exactly ``span``.

        Raises:
            Withheld: there is none.
        """
        for node in self._tree.at(span):
            if isinstance(node, types):
                self._focus = node
                return node
        raise reading_differs(span)

    def expression_at(self, span: Span) -> cst.BaseExpression:
        """Return the outermost expression at exactly ``span``.

        Raises:
            Withheld: there is none.
        """
        for node in self._tree.at(span):
            if isinstance(node, cst.BaseExpression):
                self._focus = node
                return node
        raise reading_differs(span)

    def statement_at(self, span: Span) -> Statement:
        """Return the smallest whole statement that contains ``span``.

        Raises:
            Withheld: there is none.
        """
        self._focus = found = self._tree.statement_at(span)
        return found

    def statement_of(self, node: cst.CSTNode) -> Statement:
        """Return the smallest whole statement that contains ``node``."""
        return self._tree.statement_of(node)

    def function_of(self, node: cst.CSTNode) -> cst.CSTNode:
        """Return the function or lambda whose body contains ``node``, or the module."""
        return self._tree.function_of(node)

    def parent(self, node: cst.CSTNode) -> cst.CSTNode | None:
        """Return the parent of ``node``."""
        return self._tree.parents.get(node)

    def ancestors(self, node: cst.CSTNode) -> Iterator[cst.CSTNode]:
        """Yield the nodes around ``node``, innermost first."""
        return self._tree.ancestors(node)

    def nearest(
        self, node: cst.CSTNode, kind: type[NodeT], *, until: tuple[type[cst.CSTNode], ...] = ()
    ) -> NodeT | None:
        """Return the innermost node of a kind around ``node``; None if there is none inside one of ``until``."""
        for ancestor in self.ancestors(node):
            if isinstance(ancestor, kind):
                return ancestor
            if isinstance(ancestor, until):
                return None
        return None

    def span(self, node: cst.CSTNode) -> Span:
        """Return the position of ``node``."""
        return self._tree.span(node)

    def resolve(self, name: cst.BaseExpression) -> str:
        """Return the canonical dotted name of a name or an attribute; its code if it has none."""
        return self._imports.resolve(self._tree.code(name))

    def import_of(self, name: cst.BaseExpression) -> cst.Import | cst.ImportFrom | None:
        """Return the import that binds the first part of a dotted name; None if none does."""
        root = self._tree.code(name).split(".")[0]
        return next((binding.node for binding in self._imports.bindings if binding.local == root), None)

    def _calls(self, call: cst.Call, names: Sequence[str]) -> bool:
        """True if the name of the function that ``call`` calls ends in one of ``names``, as written or as imported."""
        if _last_name(call.func) in names:
            return True
        return self._imports.resolve(self._tree.code(call.func)).rpartition(".")[2] in names


def _last_name(func: cst.BaseExpression) -> str:
    if isinstance(func, cst.Call) and _last_name(func.func) == "getattr" and len(func.args) == 2:
        name = func.args[1].value
        value = name.evaluated_value if isinstance(name, cst.SimpleString) else ""
        return value if isinstance(value, str) else ""
    if isinstance(func, cst.Attribute):
        return func.attr.value
    return func.value if isinstance(func, cst.Name) else ""
