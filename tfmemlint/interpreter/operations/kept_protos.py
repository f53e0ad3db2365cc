"""Messages that a program keeps in objects and modules, and that code which was not interpreted may take from there."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import TYPE_CHECKING

from tfmemlint.facts.names import is_tensorflow
from tfmemlint.interpreter.context import Context
from tfmemlint.interpreter.operations.classes import lineage
from tfmemlint.interpreter.state.options import KeptOn
from tfmemlint.interpreter.values import Cell, Class, Instance, Proto, ProtoRecord, Ref, Value
from tfmemlint.interpreter.values.joins import parts
from tfmemlint.model.finding import Span

if TYPE_CHECKING:
    from tfmemlint.interpreter.unit import ModuleInstance

_PLAIN_BASES = frozenset({"object", "abc.ABC", "typing.Generic", "typing.NamedTuple", "unittest.TestCase"})
"""Bases of classes, none of TensorFlow's, that look at no attribute of the object by a name of the program's."""
_MOST_CONTAINERS_DEEP = 4


def find_keepers(context: Context) -> dict[int, tuple[KeptOn, ...]]:
    """Return the objects that keep each message which nothing got, by the id of its record.

    Messages that code may take which was not interpreted are marked as used: of a program of several files, only the
    functions of the file that is run are all interpreted.
    """
    waiting = {
        id(proto.record): proto.record for proto, _ in context.protos if not proto.record.consumed or proto.record.late
    }
    if not waiting:
        return {}
    several = context.modules is not None and len(context.units) > 0
    if several and context.given_up:
        for record in waiting.values():
            _mark(record)
        return {}
    keepers: dict[int, list[KeptOn]] = {}
    names: dict[int, set[str]] = {}
    for (holder, name), value in context.heap.items():
        if isinstance(holder, Cell):
            continue
        for record in _records_in(context, value):
            if id(record) not in waiting:
                continue
            names.setdefault(id(record), set()).add(name)
            if isinstance(holder, Instance):
                if several and not _is_of_known_bases(context, holder.cls):
                    _mark(record)
                classes = tuple(_places_of(context, holder.cls))
                keeper = KeptOn(name, classes)
                if keeper not in keepers.setdefault(id(record), []):
                    keepers[id(record)].append(keeper)
    if several:
        _add_names_of_modules(context, waiting, names)
        _mark_what_others_may_take(context, waiting, names)
    return {number: tuple(found) for number, found in keepers.items()}


def _add_names_of_modules(context: Context, waiting: dict[int, ProtoRecord], names: dict[int, set[str]]) -> None:
    for unit in (context.main, *context.units.values()):
        for name, value in unit.scope.names.items():
            members = value.members.items() if isinstance(value, Class) else ()
            for key, held in ((name, value), *members):
                for record in _records_in(context, held):
                    if id(record) in waiting:
                        names.setdefault(id(record), set()).add(key)


def _mark_what_others_may_take(context: Context, waiting: dict[int, ProtoRecord], names: dict[int, set[str]]) -> None:
    """Mark the messages as used whose names are read in functions that were not interpreted."""
    units = [unit for unit in context.units.values() if unit is not context.main] if names else []
    for number, record in waiting.items():
        own = names.get(number, ())
        if any(_may_read(context, unit, own) for unit in units):
            _mark(record)


def _may_read(context: Context, unit: ModuleInstance, names: Collection[str]) -> bool:
    """True if a function of a module that was not interpreted reads one of these names."""
    # Most modules have none of them anywhere.
    there = [name for name in names if name in unit.source.text]
    return bool(there) and unit.shapes.function_reads(unit.tree).is_read_without(there, context.entered)


def _mark(record: ProtoRecord) -> None:
    record.consumed = True
    record.late.clear()


def _records_in(context: Context, value: Value, depth: int = 0) -> Iterator[ProtoRecord]:
    if isinstance(value, Proto):
        yield value.record
    elif depth < _MOST_CONTAINERS_DEEP:
        for part in parts(context.current(value)):
            yield from _records_in(context, part, depth + 1)


def _is_of_known_bases(context: Context, cls: Class) -> bool:
    """True if an object has no code of others that may look at its attributes."""
    return all(
        isinstance(base, Class) or (isinstance(base, Ref) and (base.name in _PLAIN_BASES or is_tensorflow(base.name)))
        for base in lineage(context, cls)
    )


def _places_of(context: Context, cls: Class) -> Iterator[tuple[str, Span]]:
    for base in lineage(context, cls):
        if isinstance(base, Class):
            unit = next((unit for unit in (context.main, *context.units.values()) if base.node in unit.tree.body), None)
            if unit is not None:
                yield unit.source.path, unit.source.span(base.node)
