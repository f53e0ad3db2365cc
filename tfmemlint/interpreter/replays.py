"""Replays of imports: the first import of a module with effects is interpreted once, and later programs repeat it.

A module that does more than bind names has no summary (`tfmemlint.interpreter.summaries`). Most programs of a project
begin with the same import of its package, though, and nothing that a program does before can make a difference to
that: no module has been imported that it asks for, nothing has started, no condition holds. Such an import is recorded
as the difference that it makes to the `Context`, whatever that consists of, and the next program takes that over.

**On what it depends**, all of it compared before use: the environment that the program has set, the release, where each
module lies that was asked for, which of them had been imported before, and the containers of these that were looked at.

**What is not the same in two programs** is the way that leads there: the ``frames`` of events begin with the calls and
imports of the program itself. They are exchanged, in the events and in the state that refers to them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, replace
from typing import TYPE_CHECKING, Any

from tfmemlint.interpreter.context import Context
from tfmemlint.interpreter.operations.contents import is_as_read
from tfmemlint.interpreter.state import ConfigEffect, Event, Phase, Setting, State
from tfmemlint.interpreter.unit import ModuleInstance, Replay
from tfmemlint.interpreter.values import Lazy, Value
from tfmemlint.interpreter.values.joins import parts
from tfmemlint.model.finding import Span, Step
from tfmemlint.model.records import dataclass
from tfmemlint.project.search import prefixes

if TYPE_CHECKING:
    import ast

    from tfmemlint.interpreter.unit import Modules

_PLACE = frozenset(
    {
        "target", "setup", "observer", "main", "unit", "frames", "loops", "handlers", "caught", "statement", "where",
        "depth", "tracing", "guards", "uncertain", "ways", "doubts", "import_fallbacks", "modules", "max_steps",
        "steps", "last_values", "state", "heap", "events", "container_changes", "asked_modules", "env_read",
        "circular_imports", "modules_looked_at", "reads", "is_recording", "oldest_cell_changed", "end_state",
        "settling", "started_generators", "exhausted", "config_files",
    }
)  # fmt: skip
"""Attributes of a `Context` that are the same again after an import, or that are dealt with one by one."""
_MUST_STAY = frozenset({"given_up", "protos", "raised", "run_configs", "surely_left", "import_state", "path_changed"})
"""Attributes with which an import that changes them is not repeated."""
_MOVED = (Event, State, Phase, Setting, ConfigEffect)


@dataclass(slots=True, eq=False)
class Recording:
    """The context before an import that is recorded."""

    before: State
    heap: Mapping[Any, Value]
    events: int
    changes: int
    number: int
    attributes: dict[str, Any]
    outer: tuple[Any, ...]
    file_requests: int


def _is_plain(context: Context) -> bool:
    """True if nothing that surrounds an import here can make a difference to it."""
    state = context.state
    return (
        state is not None
        and not (context.handlers or context.guards or context.ways or context.uncertain or context.doubts)
        and not (context.depth or context.caught or context.where or context.tracing or context.import_fallbacks)
        and not (context.path_changed or context.bound_in_other_module or context.given_up)
        and context.observer is None
        and context.end_state is None
        and replace(state, env={}, imported={}) == State(eager=context.target.major >= 2)
    )


def import_step(context: Context, unit: ModuleInstance, node: ast.AST) -> Step:
    """Return the step of a trace that an import at ``node`` is."""
    return Step(context.source.path, context.span(node), f"imports {unit.source.path}")


def use_replay(context: Context, name: str, node: ast.AST) -> bool:
    """Do what an earlier program's import of this module has done; return False if that may not be the same here."""
    modules = context.modules
    variants = modules.replays(name) if modules is not None else ()
    if not variants or modules is None or not _is_plain(context):
        return False
    for kept in variants:
        if _is_the_same(context, kept, modules):
            _replay(context, kept, (*_way_to(context), import_step(context, kept.units[name][0], node)))
            return True
    return False


def _is_the_same(context: Context, kept: Replay, modules: Modules) -> bool:
    """True if all that a record depends on is here as it was there."""
    units, imported = context.units, context.here.imported
    return (
        kept.target == context.target
        and kept.env == context.here.env
        and kept.attributes_set == context.attributes_set
        and kept.stored_functions == context.stored_functions
        and all(
            units.get(name) is unit and imported.get(name) and not unit.running for name, unit in kept.needs.items()
        )
        and not any(name in units for name in kept.places if name not in kept.needs)
        and is_as_read(context, kept.contents)
        and modules.finds_the_same(kept.places)
    )


def _way_to(context: Context) -> tuple[Step, ...]:
    return tuple(frame.call for frame in context.frames if frame.call is not None)


def _replay(context: Context, kept: Replay, way: tuple[Step, ...]) -> None:
    moved = _Moving(kept.way, way)
    here, after = context.here, moved.state(kept.after)
    for name, (unit, names) in kept.units.items():
        unit.scope.names.clear()
        unit.scope.names.update(names)
        context.units[name] = unit
    context.state = _with_imports(after, here)
    context.end_state = _with_imports(moved.state(kept.end), here) if kept.end is not None else None
    context.heap = {**context.heap, **kept.heap}
    context.events.extend(moved.event(event) for event in kept.events)
    for chain in kept.changes:
        context.container_changes[moved.chain(chain)] = None
    context.asked_modules.update(kept.places)
    context.modules_looked_at.update(kept.units, kept.needs)
    context.env_read = {**kept.env_read, **context.env_read}
    for attribute, added in kept.collections.items():
        current = getattr(context, attribute)
        if isinstance(current, list):
            current.extend(added)
        else:
            current.update(added)
    for value in kept.collections.get("made_by", ()):
        context.made_by[value] = moved.event(context.made_by[value])
    for attribute, value in kept.counts.items():
        setattr(context, attribute, value)


def _with_imports(state: State, before: State) -> State:
    """Return a state with what had been imported and set before."""
    return replace(state, imported={**before.imported, **state.imported}, env={**before.env, **state.env})


def begin_recording(context: Context) -> Recording | None:
    """Return the context as it is, if an import that begins here can be repeated by other programs."""
    if context.modules is None or context.is_recording or not _is_plain(context):
        return None
    attributes: dict[str, Any] = {}
    for name, value in vars(context).items():
        if name not in _PLACE:
            attributes[name] = len(value) if type(value) is list else value.copy() if _is_collection(value) else value
    outer = context.asked_modules, context.env_read, context.reads
    context.asked_modules, context.env_read, context.reads = set(), {}, {}
    context.is_recording = True
    return Recording(
        context.here,
        context.heap,
        len(context.events),
        len(context.container_changes),
        context.next_serial(),
        attributes,
        outer,
        context.config_files.requests,
    )


def end_recording(context: Context, name: str, begun: Recording, node: ast.AST) -> None:
    """Keep what an import has done since ``begun``, if other programs can repeat it."""
    assert context.modules is not None
    asked, read, reads = context.asked_modules, context.env_read, context.reads
    outer_asked, outer_read, outer_reads = begun.outer
    context.is_recording = False
    context.asked_modules = outer_asked | asked
    context.env_read = outer_read | read
    context.reads = {**reads, **outer_reads}
    unit = context.units.get(name)
    if unit is None or context.state is None or context.modules.kept(name) is not None:
        # It wasn't found, or a summary says as much.
        return
    if context.config_files.requests != begun.file_requests:
        # Where a relative path leads is decided by the program that asks.
        return
    way = (*_way_to(context), import_step(context, unit, node))
    kept = _difference(context, begun, asked, read, reads, way)
    if kept is not None:
        context.modules.keep_replay(name, kept)


def _difference(
    context: Context,
    begun: Recording,
    asked: set[str],
    read: dict[str, Value | None],
    reads: Mapping[Any, Value | None],
    way: tuple[Step, ...],
) -> Replay | None:
    """Return the difference that an import has made; None if it can't be repeated."""
    after, modules = context.state, context.modules
    assert modules is not None
    if after is None or after.graphs or any(name not in after.env for name in begun.before.env):
        return None
    known = begun.attributes["units"]
    names = {part for each in asked for part in prefixes(each)} | (context.units.keys() - known.keys())
    needs = {name: known[name] for name in names if name in known}
    if any(unit is context.main or unit.running or not begun.before.imported.get(name) for name, unit in needs.items()):
        return None
    if any(
        home is unit.scope
        for home, *_ in context.outer_bindings[begun.attributes["outer_bindings"] :]
        for unit in needs.values()
    ):
        # It gives names to a module that is not imported again.
        return None
    counts: dict[str, Any] = {}
    collections: dict[str, Any] = {}
    for name, value in vars(context).items():
        if name in _PLACE:
            continue
        before: Any = begun.attributes.get(name)
        if type(value) is list:
            added: Any = value[before:]
        elif type(value) is dict:
            added = {key: item for key, item in value.items() if key not in before or before[key] is not item}
        elif isinstance(value, (set, frozenset)):
            added = value - before
        else:
            if value is not before and value != before:
                if name in _MUST_STAY or type(value) not in (bool, int, float):
                    return None
                counts[name] = value
            continue
        if added:
            if name in _MUST_STAY:
                return None
            collections[name] = added
    units = {name: (unit, dict(unit.scope.names)) for name, unit in collections.pop("units", {}).items()}
    heap = {key: value for key, value in context.heap.items() if begun.heap.get(key) is not value}
    if any(
        map(_holds_generator, (*heap.values(), *(value for _, bound in units.values() for value in bound.values())))
    ):
        # It would go on in the program that it was made in. One that is out of reach is forgotten, started or not.
        return None
    return Replay(
        target=context.target,
        env=begun.before.env,
        attributes_set=begun.attributes["attributes_set"],
        stored_functions=begun.attributes["stored_functions"],
        needs=needs,
        contents={cell: begun.heap.get((cell, "")) for cell in reads if cell.number < begun.number},
        way=way,
        after=_without_imports(after, begun.before),
        end=_without_imports(context.end_state, begun.before) if context.end_state is not None else None,
        units=units,
        places={name: modules.place(name) for name in names},
        heap=heap,
        events=context.events[begun.events :],
        env_read=dict(read),
        collections=collections,
        counts=counts,
        changes=list(context.container_changes)[begun.changes :],
    )


def _without_imports(state: State, before: State) -> State:
    return replace(state, imported={name: has for name, has in state.imported.items() if name not in before.imported})


def _holds_generator(value: Value) -> bool:
    looked_at: set[int] = set()
    held = [value]
    while held:
        inner = held.pop()
        if isinstance(inner, Lazy):
            return True
        if id(inner) not in looked_at:
            looked_at.add(id(inner))
            held.extend(parts(inner))
    return False


def _is_collection(value: object) -> bool:
    return isinstance(value, (dict, set))


class _Moving:
    """Events and states as they are where another way leads to the module."""

    def __init__(self, old: tuple[Step, ...], new: tuple[Step, ...]) -> None:
        self.old, self.new = old, new
        self._known: dict[int, Any] = {}

    def event(self, event: Any) -> Any:
        return event if self.old == self.new else self._moved(event)

    def state(self, state: State) -> State:
        moved: State = self.event(state)
        return moved

    def chain(self, chain: tuple[Span, ...]) -> tuple[Span, ...]:
        return (chain[0], *(step.span for step in self.new), *chain[1 + len(self.old) :])

    def _moved(self, value: Any) -> Any:
        if isinstance(value, Mapping):
            return {key: self._moved(item) for key, item in value.items()} if _refers(value) else value
        if isinstance(value, tuple):
            return tuple(map(self._moved, value)) if any(isinstance(item, _MOVED) for item in value) else value
        if not isinstance(value, _MOVED):
            return value
        known = self._known.get(id(value))
        if known is None:
            changed: dict[str, Any] = {}
            for each in fields(value):
                if not each.init:
                    continue
                old = getattr(value, each.name)
                new = self._moved(old)
                if new is not old:
                    changed[each.name] = new
            if isinstance(value, Event):
                changed["frames"] = (*self.new, *value.frames[len(self.old) :])
            known = replace(value, **changed) if changed else value
            self._known[id(value)] = known
        return known


def _refers(value: Mapping[Any, Any]) -> bool:
    return any(isinstance(item, _MOVED) for item in value.values())
