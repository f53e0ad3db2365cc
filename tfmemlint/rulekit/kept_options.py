"""GPU options that an object keeps, and the session that one of its methods makes without them."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from tfmemlint.facts.tree_walk import all_nodes
from tfmemlint.interpreter.program import SessionMade

if TYPE_CHECKING:
    from tfmemlint.interpreter.program import Program, ProtoMade
    from tfmemlint.interpreter.state.options import KeptOn
    from tfmemlint.model.finding import Step

TAKE_CONFIG = frozenset({"Session", "InteractiveSession", "MonitoredTrainingSession"})
"""Sessions that have a parameter ``config``."""


def session_of_its_keeper(program: Program, proto: ProtoMade) -> tuple[SessionMade, str] | None:
    """Return the one session that methods of the object which keeps a message make, if they make it without options
    and after the object has the message; and the message as written there: ``self.config``."""
    found = [each for keeper in proto.kept if (each := _session_of(program, proto, keeper)) is not None]
    return found[0] if len(found) == 1 else None


def _session_of(program: Program, proto: ProtoMade, keeper: KeptOn) -> tuple[SessionMade, str] | None:
    inside = {
        (session.path, session.span): session
        for session in program.of(SessionMade)
        if any(session.path == path and whole.contains(session.span) for path, whole in keeper.classes)
    }
    only = next(iter(inside.values())) if len(inside) == 1 else None
    if only is None or not _lacks_options(only) or _is_made_while_constructing(only, proto.frames):
        return None
    receiver = _receiver_at(program, only)
    return (only, f"{receiver}.{keeper.attribute}") if receiver and keeper.attribute.isidentifier() else None


def _lacks_options(session: SessionMade) -> bool:
    takes = session.name.rpartition(".")[2] in TAKE_CONFIG
    return takes and not session.own_config and session.fields is not None


def _is_made_while_constructing(session: SessionMade, frames: tuple[Step, ...]) -> bool:
    """True if a session is made within the call that makes the object, where it may come before the message."""
    made = next((number for number, step in enumerate(frames) if _makes(step)), None)
    if made is None:
        return any(map(_makes, session.frames))
    return session.frames[: made + 1] == frames[: made + 1]


def _makes(step: Step) -> bool:
    return " makes " in f" {step.words}"


def _receiver_at(program: Program, session: SessionMade) -> str:
    """Return the name of the object in the method that makes a session; "" where that is no method of its own."""
    for unit in program.units:
        for cls in all_nodes(unit.tree) if unit.source.path == session.path else ():
            for method in cls.body if isinstance(cls, ast.ClassDef) else ():
                if isinstance(method, ast.FunctionDef) and unit.source.span(method).contains(session.span):
                    return "" if _is_static(method) else _receiver(method)
    return ""


def session_of_its_object(program: Program, proto: ProtoMade) -> tuple[SessionMade, str] | None:
    """Return the one session that the methods of an object make, if they make it without options, and the attribute
    in which the constructor keeps a message: ``self.config``."""
    places = [step.span for step in proto.frames if step.path == program.source.path]
    if proto.path == program.source.path:
        places.append(proto.span)
    for cls in all_nodes(program.tree):
        if not isinstance(cls, ast.ClassDef):
            continue
        methods = [node for node in cls.body if isinstance(node, ast.FunctionDef) and not _is_static(node)]
        for method in methods:
            for node in ast.walk(method) if method.name == "__init__" else ():
                match node:
                    case ast.Assign([ast.Attribute(ast.Name(owner), attribute)], value) if owner == _receiver(method):
                        whole = program.source.span(value)
                        if any(whole.contains(place) for place in places):
                            others = [other for other in methods if _receiver(other) == owner]
                            found = _session(program, others)
                            early = found is None or _is_above(program, found, method, node)
                            return None if found is None or early else (found, f"{owner}.{attribute}")
                    case _:
                        pass
    return None


def _session(program: Program, methods: list[ast.FunctionDef]) -> SessionMade | None:
    found = {
        session.span: session
        for session in program.of(SessionMade)
        for method in methods
        if session.path == program.source.path and program.source.span(method).contains(session.span)
    }
    only = next(iter(found.values())) if len(found) == 1 else None
    if only is None or only.own_config or only.fields is None or only.name.rpartition(".")[2] not in TAKE_CONFIG:
        return None
    return only


def _is_above(program: Program, made: SessionMade, constructor: ast.FunctionDef, kept: ast.Assign) -> bool:
    """True if a constructor makes a session, or calls what does, before it keeps the message."""
    source = program.source
    whole, below = source.span(constructor), source.span(kept)
    again = (session for session in program.of(SessionMade) if (session.path, session.span) == (made.path, made.span))
    places = [
        span
        for session in again
        for path, span in ((session.path, session.span), *((step.path, step.span) for step in session.frames))
        if path == source.path
    ]
    return any(whole.contains(place) and place < below for place in places)


def _receiver(method: ast.FunctionDef) -> str:
    return method.args.args[0].arg if method.args.args else ""


def _is_static(method: ast.FunctionDef) -> bool:
    names = {
        node.id for decorator in method.decorator_list for node in ast.walk(decorator) if isinstance(node, ast.Name)
    }
    return not names.isdisjoint({"staticmethod", "classmethod"})
