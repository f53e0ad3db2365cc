"""GPU options that an object keeps, and the session that one of its methods makes without them."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from tfmemlint.interpreter.program import SessionMade

if TYPE_CHECKING:
    from tfmemlint.interpreter.program import Program, ProtoMade

TAKE_CONFIG = frozenset({"Session", "InteractiveSession", "MonitoredTrainingSession"})
"""Sessions that have a parameter ``config``."""


def session_of_its_object(program: Program, proto: ProtoMade) -> tuple[SessionMade, str] | None:
    """Return the one session that the methods of an object make, if they make it without options, and the attribute
    in which the constructor keeps a message: ``self.config``."""
    places = [step.span for step in proto.frames if step.path == program.source.path]
    if proto.path == program.source.path:
        places.append(proto.span)
    for cls in ast.walk(program.tree):
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
