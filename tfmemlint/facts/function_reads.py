"""The functions of a module that read a name: what they may take from an object or a module."""

from __future__ import annotations

import ast
from collections.abc import Collection

from tfmemlint.model.records import dataclass

_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)


@dataclass(frozen=True, slots=True)
class FunctionReads:
    """The places at which the functions of a module read names.

    Attributes:
        functions: the functions that read each name, as a variable, an attribute or a text, by the id of each.
        around: the function around each function that is within another one.
    """

    functions: dict[str, set[int]]
    around: dict[int, int]

    def is_read_without(self, names: Collection[str], entered: Collection[int]) -> bool:
        """True if one of the names is read in a function that is not among the ``entered`` ones, or is within such a
        function."""
        return any(self._is_left_out(number, entered) for name in names for number in self.functions.get(name, ()))

    def _is_left_out(self, function: int, entered: Collection[int]) -> bool:
        number: int | None = function
        while number is not None:
            if number not in entered:
                return True
            number = self.around.get(number)
        return False


def function_reads(tree: ast.Module) -> FunctionReads:
    """Return where the functions of a module read names."""
    functions: dict[str, set[int]] = {}
    around: dict[int, int] = {}
    pending: list[tuple[ast.AST, int | None]] = [(tree, None)]
    while pending:
        node, function = pending.pop()
        if function is not None:
            name = _name_read(node)
            if name is not None:
                functions.setdefault(name, set()).add(function)
        if isinstance(node, _FUNCTIONS):
            if function is not None:
                around[id(node)] = function
            function = id(node)
        pending.extend((child, function) for child in ast.iter_child_nodes(node))
    return FunctionReads(functions, around)


def _name_read(node: ast.AST) -> str | None:
    match node:
        case ast.Name(id=name, ctx=ast.Load()) | ast.Attribute(attr=name, ctx=ast.Load()):
            return name
        case ast.Constant(value=str() as text):
            return text
        case _:
            return None
