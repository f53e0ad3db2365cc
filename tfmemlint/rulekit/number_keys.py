"""Numbers of GPUs that are looked up in an object of a JSON file, whose keys are texts.

``limits.get(index)`` with ``{"limits": {"0": 2048, "1": 4096}}`` finds nothing, and raises nothing.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TYPE_CHECKING

from tfmemlint.facts.syntax import dotted
from tfmemlint.facts.tree_walk import all_nodes, nodes
from tfmemlint.interpreter.program import Call
from tfmemlint.knowledge.functions import CONFIGURES_GPUS
from tfmemlint.model.records import record
from tfmemlint.project.listing import called

if TYPE_CHECKING:
    from tfmemlint.interpreter.program import Program
    from tfmemlint.interpreter.values import ModuleInstance
    from tfmemlint.model.finding import Span
    from tfmemlint.sources.config_files.values import Setting

KIND = "number key"
"""The kind of a finding about such a look-up."""


@record(frozen=True, slots=True)
class NumberKey:
    """A number that is looked up where all keys are texts.

    Attributes:
        call: what configures a GPU in the same pass. look_up, number: the places of the look-up and of the number.
        text: the look-up as written. key: the name of the object in the file at ``path``, in the row ``row``.
    """

    call: Call
    look_up: Span
    number: Span
    text: str
    key: str
    path: str
    row: int


def number_keys(program: Program) -> Iterator[NumberKey]:
    """Yield each number of a GPU that is looked up in an object of a JSON file whose keys are all digits."""
    objects = {
        key: (path, row)
        for path, setting in program.settings.items()
        if path.endswith((".json", ".jsonc"))
        for key, row in _numbered(setting)
    }
    if not objects:
        return
    seen: set[tuple[str, Span]] = set()
    units = {unit.source.path: unit for unit in program.units}
    for call in program.of(Call):
        unit = units.get(call.path)
        if call.name not in CONFIGURES_GPUS or unit is None:
            continue
        for look_up, number, key in _look_ups(unit, call.span):
            span = unit.source.span(look_up)
            if key in objects and (call.path, span) not in seen:
                seen.add((call.path, span))
                path, row = objects[key]
                text = unit.source.segment(span)
                yield NumberKey(call, span, unit.source.span(number), text, key, called(path), row)


def _numbered(setting: Setting) -> Iterator[tuple[str, int]]:
    """Yield the names of the objects of a file that have nothing but numbers for keys, with their rows."""
    if isinstance(setting.value, dict):
        for key, inner in setting.value.items():
            if isinstance(inner.value, dict) and inner.value and all(str(name).isdecimal() for name in inner.value):
                yield str(key), inner.row
            yield from _numbered(inner)
    elif isinstance(setting.value, tuple):
        for inner in setting.value:
            yield from _numbered(inner)


def _look_ups(unit: ModuleInstance, configured: Span) -> Iterator[tuple[ast.Call, ast.Name, str]]:
    """Yield the look-ups of a loop's number in the passes that configure a GPU: the call, the number, and the name of
    the object that it is looked up in."""
    for loop in all_nodes(unit.tree):
        if not isinstance(loop, ast.For) or not unit.source.span(loop).contains(configured):
            continue
        number = _number_of(loop)
        if number is None or any(
            isinstance(node, ast.Name) and node.id == number and isinstance(node.ctx, ast.Store)
            for statement in loop.body
            for node in nodes(statement)
        ):
            continue
        for statement in loop.body:
            for node in nodes(statement):
                match node:
                    case ast.Call(ast.Attribute(value=held, attr="get"), [ast.Name(id=name) as given, *_]) if (
                        name == number
                    ):
                        key = _key_of(unit, held)
                        if key:
                            yield node, given, key
                    case _:
                        pass


def _number_of(loop: ast.For) -> str | None:
    """Return the name of the number that a loop counts; None if it counts nothing."""
    match loop:
        case ast.For(target=ast.Tuple([ast.Name(id=name), *_]), iter=ast.Call(ast.Name("enumerate"))):
            return name
        case ast.For(target=ast.Name(id=name), iter=ast.Call(ast.Name("range"))):
            return name
        case _:
            return None


def _key_of(unit: ModuleInstance, held: ast.expr) -> str:
    """Return the name under which an object stands among settings: itself, or what its name is assigned once."""
    if isinstance(held, ast.Name):
        values = [
            node.value
            for node in all_nodes(unit.tree)
            if isinstance(node, ast.Assign) and any(dotted(target) == held.id for target in node.targets)
        ]
        return _key_of(unit, values[0]) if len(values) == 1 and not isinstance(values[0], ast.Name) else ""
    match held:
        case ast.Subscript(slice=ast.Constant(str() as key)):
            return key
        case ast.Call(ast.Attribute(attr="get"), [ast.Constant(str() as key), *_]):
            return key
        case _:
            return ""
