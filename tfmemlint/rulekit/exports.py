"""The messages that a module creates for the modules that import it."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from tfmemlint.facts.tree_walk import all_nodes
from tfmemlint.interpreter.program import RuntimeStart, SessionMade

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


def is_left_by_importers(program: Program, proto: ProtoMade) -> bool | None:
    """Return True if a module makes a message for others when it is imported, and the program asks for it by its name,
    but makes all its sessions without options; None if no import makes it; False if it may be there for others."""
    imports = [number for number, step in enumerate(proto.frames) if step.words.startswith("imports ")]
    if not imports:
        return None
    inner = proto.frames[imports[-1] + 1 :]
    path, place = (inner[0].path, inner[0].span) if inner else (proto.path, proto.span)
    made = next((unit for unit in program.units if unit.source.path == path), None)
    sessions = list(program.of(SessionMade))
    if made is None or not sessions or any(session.own_config or session.fields is None for session in sessions):
        return False
    known_as = {
        target.id
        for statement in made.tree.body
        if isinstance(statement, ast.Assign) and made.source.span(statement).contains(place)
        for target in statement.targets
        if isinstance(target, ast.Name)
    }
    asked_for = {
        node.attr if isinstance(node, ast.Attribute) else node.name
        for unit in program.units
        if unit.source.path != path
        for node in all_nodes(unit.tree)
        if isinstance(node, (ast.Attribute, ast.alias))
    }
    return not known_as.isdisjoint(asked_for) and not any(session.state.entry_unknown for session in sessions)


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
