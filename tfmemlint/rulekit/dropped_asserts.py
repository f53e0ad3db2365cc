"""Configuration in an assertion, which Python drops where it is started with ``-O``."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

from tfmemlint.facts.tree_walk import all_nodes
from tfmemlint.interpreter.program import Call, EnvWrite
from tfmemlint.knowledge.functions import CONFIGURES_GPUS, SET_GROWTH
from tfmemlint.knowledge.variables import GROWTH

if TYPE_CHECKING:
    from tfmemlint.interpreter.program import Program
    from tfmemlint.model.finding import Span

KIND = "assertion"
"""The kind of such a finding."""
_Dropped = dict[str, list[tuple["Span", "Span"]]]


def dropped_asserts(program: Program) -> Iterator[Call]:
    """Yield what would configure a GPU and is called by assertions, or under ``if __debug__:``, alone, each at the
    place of that statement."""
    if program.started != "optimized":
        return
    dropped = _dropped(program)
    calls = [call for call in program.of(Call) if call.name in CONFIGURES_GPUS] if dropped else []
    places = [_statement(call, dropped) for call in calls]
    outside = {call.name for call, place in zip(calls, places, strict=True) if place is None}
    if any(write.name == GROWTH for write in program.of(EnvWrite)):
        outside.add(SET_GROWTH)
    seen: set[object] = set()
    for call, place in zip(calls, places, strict=True):
        if place is not None and call.name not in outside and place not in seen:
            seen.add(place)
            yield replace(call, path=place[0], span=place[1], statement=place[1])


def _dropped(program: Program) -> _Dropped:
    """Return the code of each module that Python drops, by path: the place of the statement, and that of the code."""
    found: _Dropped = {}
    for unit in program.units:
        source = unit.source
        if "assert" not in source.text and "__debug__" not in source.text:
            continue
        for node in all_nodes(unit.tree):
            match node:
                case ast.Assert(test):
                    found.setdefault(source.path, []).append((source.span(node), source.span(test)))
                case ast.If(ast.Name("__debug__"), body):
                    place = source.span(node.test)
                    found.setdefault(source.path, []).extend((place, source.span(each)) for each in body)
                case _:
                    pass
    return found


def _statement(call: Call, dropped: _Dropped) -> tuple[str, Span] | None:
    """Return the statement that Python drops, and that a call is in, or is called by; None if there is none."""
    for path, span in ((call.path, call.span), *((frame.path, frame.span) for frame in call.frames)):
        for statement, code in dropped.get(path, ()):
            first, last = (code.row, code.column), (code.end_row, code.end_column)
            if first <= (span.row, span.column) and (span.end_row, span.end_column) <= last:
                return path, statement
    return None
