"""Calls that take options for a session, beside a message that none of them gets."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from tfmemlint.facts.tree_walk import all_nodes, scope_nodes
from tfmemlint.knowledge.functions import RUN_CONFIGS
from tfmemlint.rulekit.explain import short

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tfmemlint.interpreter.program import Call, Program, ProtoMade
    from tfmemlint.model.finding import Span
    from tfmemlint.sources.text import Source

_CREATORS = ("ChiefSessionCreator", "WorkerSessionCreator")
_POSITIONS = {
    "Session": 2,
    "InteractiveSession": 2,
    **{f"train.{name}": 2 for name in _CREATORS},
    "train.MonitoredTrainingSession": 9,
    "train.SingularMonitoredSession": 3,
    "train.Supervisor().managed_session": 1,
    "train.Supervisor().prepare_or_wait_for_session": 1,
    "train.SessionManager().prepare_session": 7,
    "train.SessionManager().recover_session": 6,
    "train.SessionManager().wait_for_session": 1,
}
"""The place of ``config`` among the arguments of each call, as inspected on 1.15."""
_TAKERS = {
    **{f"{place}{name}": ("config", at) for place in ("tf.", "tf.compat.v1.") for name, at in _POSITIONS.items()},
    **dict.fromkeys(RUN_CONFIGS, ("session_config", 5)),
}


def takers_beside(program: Program, proto: ProtoMade) -> tuple[list[Call], str, str] | None:
    """Return the calls without options in the function that has a message under a name, below that; with the keyword
    that they take it by, and that name. None if there are none, or if it isn't plain that they are meant."""
    unit = next((unit for unit in program.units if unit.source.path == proto.path), None)
    if unit is None or short(proto.name) != "ConfigProto":
        return None
    source = unit.source
    place = _place(unit.tree, source, proto)
    for scope in all_nodes(unit.tree):
        if not isinstance(scope, (ast.Module, ast.FunctionDef)):
            continue
        nodes = list(scope_nodes(scope))
        for node in nodes:
            match node:
                case ast.Assign([ast.Name(name)], ast.Call() as made) if source.span(made) == place:
                    stored = (each for each in nodes if isinstance(each, ast.Name) and isinstance(each.ctx, ast.Store))
                    if sum(each.id == name for each in stored) != 1:
                        return None
                    calls = _without_options(program, proto, {source.span(each) for each in nodes if _is_call(each)})
                    below = [source.span(each) for each in _below(scope, nodes, node)]
                    if not calls or not all(any(part.contains(call.span) for part in below) for call in calls):
                        return None
                    return calls, _TAKERS[calls[0].name][0], name
                case _:
                    pass
    return None


def _is_call(node: ast.AST) -> bool:
    return isinstance(node, ast.Call)


def _place(tree: ast.Module, source: Source, proto: ProtoMade) -> Span | None:
    """Return the place of the call that gives a message to its user: that which makes it, or that of the function which
    makes and returns it."""
    around = [
        node for node in all_nodes(tree) if isinstance(node, ast.FunctionDef) and source.span(node).contains(proto.span)
    ]
    nodes = list(scope_nodes(around[-1])) if around else []
    returned = [node.value for node in nodes if isinstance(node, ast.Return) and node.value is not None]
    if not returned:
        return proto.span
    assigned = [node for node in nodes if isinstance(node, ast.Assign) and source.span(node.value) == proto.span]
    names = {each.id for node in assigned for each in node.targets if isinstance(each, ast.Name)}
    [*_, value] = returned
    gives = (isinstance(value, ast.Name) and value.id in names) or source.span(value) == proto.span
    if len(returned) != 1 or not gives:
        return None if gives else proto.span
    frame = proto.frames[-1] if proto.frames else None
    return frame.span if frame is not None and frame.path == proto.path else None


def _below(scope: ast.Module | ast.FunctionDef, nodes: Sequence[ast.AST], line: ast.stmt) -> list[ast.stmt]:
    """Return the statements below one in its block."""
    for node in (scope, *nodes):
        for field in ("body", "orelse", "finalbody"):
            block = getattr(node, field, None)
            if isinstance(block, list) and line in block:
                return block[block.index(line) + 1 :]
    return []


def _without_options(program: Program, proto: ProtoMade, places: set[Span]) -> list[Call]:
    """Return the one call of a scope that takes options, or the creators of sessions, if none of them has any."""
    found = {call.span: call for call in program.calls(*_TAKERS) if call.path == proto.path and call.span in places}
    calls = list(found.values())
    several = len(calls) > 1 and not all(short(call.name) in _CREATORS for call in calls)
    return [] if several or any(_has_options(call) for call in calls) else calls


def _has_options(call: Call) -> bool:
    keyword, position = _TAKERS[call.name]
    return call.has_star or call.arg(position, keyword) is not None
