"""The messages that a module creates for the modules that import it."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from tfmemlint.interpreter.program import RuntimeStart

if TYPE_CHECKING:
    from tfmemlint.interpreter.program import Program, ProtoMade


def is_for_others(program: Program, proto: ProtoMade) -> bool:
    """Return True if other modules are expected to import the message: a name in ``__all__`` holds it, or a public name
    of a module that only has a function create it and starts nothing itself."""
    place = proto.frames[0].span if proto.frames else proto.span
    names_of_it = [
        target.id
        for statement in program.tree.body
        if isinstance(statement, (ast.Assign, ast.AnnAssign)) and program.source.span(statement).contains(place)
        for target in (statement.targets if isinstance(statement, ast.Assign) else [statement.target])
        if isinstance(target, ast.Name)
    ]
    if not names_of_it:
        return False
    starts = any(start.what != "listing" for start in program.of(RuntimeStart))
    return bool(proto.function and not starts) or not _exported(program.tree).isdisjoint(names_of_it)


def _exported(tree: ast.Module) -> frozenset[str]:
    """Return the names in ``__all__`` that are string literals."""
    return frozenset(
        item.value
        for statement in tree.body
        if isinstance(statement, (ast.Assign, ast.AugAssign, ast.AnnAssign))
        and isinstance(statement.value, (ast.List, ast.Tuple))
        for target in (statement.targets if isinstance(statement, ast.Assign) else [statement.target])
        if isinstance(target, ast.Name) and target.id == "__all__"
        for item in statement.value.elts
        if isinstance(item, ast.Constant) and isinstance(item.value, str)
    )
