"""Summaries of modules: a module is interpreted once, and other programs that import it use what came of it.

**What is kept** (`tfmemlint.interpreter.unit.ModuleSummary`): the names that importing the module, and all that it
imports, have bound; the attributes and containers that were made (the part of the heap that was added); the values of
default arguments; and the environment variables that were set.

**On what it depends**, all of it recorded in the summary and compared before use: where each module lies that was asked
for (``places``), the environment variables that were read (``read``), the containers of other modules that were
looked at (``contents``), the modules whose names were looked up (``looked_at``), and those that had been imported
before (``needs``).

**When it may be used**: only modules are summarized that have done nothing but bind names while nothing had started
(`only_bound_names`): no event that a rule reads, no change of the runtime's state, no name given to another module, no
import in a circle. What did nothing while nothing had started does nothing afterwards either.

What a module with effects does is repeated by other programs only where nothing could make a difference to it, and then
as a whole (`tfmemlint.interpreter.replays`).

**To summarize more**, extend three places together: `only_bound_names` (which modules qualify), `ModuleSummary` with
`keep_summary` (what they did: events would be kept with the state in which they happened, and state changes as the
difference that they make), and `use_summary` (check what that depends on, and replay it). `interpret_module` in
``operations/imports.py`` is the only caller of the first two, and `import_one` there that of the last.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import compress, islice
from operator import is_not

from tfmemlint.interpreter.context import Context
from tfmemlint.interpreter.frames import Heap
from tfmemlint.interpreter.operations.contents import is_as_read
from tfmemlint.interpreter.program import Call, EnvWrite, Event
from tfmemlint.interpreter.state import State, Tri
from tfmemlint.interpreter.unit import ModuleInstance, ModuleSummary
from tfmemlint.interpreter.values import Cell, Value
from tfmemlint.knowledge.environment import Moment, read_at
from tfmemlint.project.search import prefixes


def use_summary(context: Context, name: str) -> bool:
    """Bind what an earlier program's import of this module has bound; return False if that may not hold here."""
    found: dict[str, ModuleSummary] = {}
    if not _collect(context, name, (), found, {}):
        return False
    for kept in found.values():
        _bind(context, kept)
    return True


def _collect(
    context: Context,
    name: str,
    asking: tuple[str, ...],
    found: dict[str, ModuleSummary],
    units: dict[str, ModuleInstance],
) -> bool:
    """Find the summary of a module, and of those that it needs and that have not been imported yet; return False if one
    is missing, or does not hold here.

    Args:
        context: the program so far. name: the module's.
        asking: the modules whose imports lead to this one: they have not ended.
        found: gets the summaries, by the names of the modules, each behind those that it needs.
        units: gets all modules that these bind, by name.
    """
    kept = context.modules.kept(name) if context.modules is not None else None
    if kept is None or context.path_changed:
        return False
    if any(other in kept.looked_at and (unit.running or other in asking) for other, unit in kept.modules()):
        # It is imported in a circle that was entered elsewhere then: what has not ended lacks names that it had there.
        return False
    if any(context.here.env.get(variable) != value for variable, value in kept.read.items()):
        return False
    for other, (unit, _) in kept.units.items():
        if context.units.get(other, unit) is not unit or units.setdefault(other, unit) is not unit:
            return False
    if not is_as_read(context, kept.contents):
        return False
    found[name] = kept
    for other, unit in kept.needs.items():
        if context.units.get(other) is unit and context.here.imported.get(other):
            continue
        if other in context.units:
            return False
        if other not in found and not _collect(context, other, (*asking, name), found, units):
            return False
        if units.get(other) is not unit:
            return False
    # What it has changed in the modules that it needs is bound after these.
    found[name] = found.pop(name)
    return True


def _bind(context: Context, kept: ModuleSummary) -> None:
    for other, (unit, names) in kept.units.items():
        if other not in context.units:
            unit.scope.names.clear()
            unit.scope.names.update(names)
            context.units[other] = unit
    context.reads = {**kept.contents, **context.reads}
    context.heap = {**context.heap, **kept.heap}
    context.defaults.update(kept.defaults)
    context.asked_modules.update(kept.places)
    context.modules_looked_at.update(kept.looked_at)
    context.env_read = {**kept.read, **context.env_read}
    imported = {**context.here.imported, **dict.fromkeys(kept.units, True)}
    context.state = replace(context.here, imported=imported, env={**context.here.env, **kept.env})


def _is_fresh(context: Context, state: State) -> bool:
    """True if nothing has started, so that a start would be seen."""
    phases = state.context, state.allocator, state.listed
    return all(phase.has is Tri.NO for phase in phases) and not state.graph_mode and not context.uncertain


def only_bound_names(context: Context, before: State, events: int) -> bool:
    """True if, since ``before``, names were bound, modules imported, unread variables set, and nothing else."""
    after = context.state
    if (
        after is None
        or not _is_fresh(context, before)
        or context.path_changed
        or context.bound_in_other_module
        or context.given_up
    ):
        return False
    if replace(after, imported=before.imported, env=before.env) != before:
        return False
    return all(_leaves_no_trace(event) for event in context.events[events:])


def keep_summary(
    context: Context,
    unit: ModuleInstance,
    before: State,
    heap: Heap,
    defaults: int,
    asked: set[str],
    contents: dict[Cell, Value | None],
) -> None:
    assert context.modules is not None
    own = [name for name in context.here.imported if name not in before.imported or name == unit.name]
    units = {name: context.units[name] for name in own if name in context.units}
    # The package of a module that is asked for is imported before it, with all that this does.
    names = {name for asked_name in asked for name in prefixes(asked_name)}
    places = {name: context.modules.place(name) for name in names}
    needs = {name: context.units[name] for name in names if name in context.units and name not in units}
    after = context.heap
    kept = ModuleSummary(
        {name: (module, _names_of_module(context, name, module)) for name, module in units.items()},
        needs,
        frozenset(context.modules_looked_at),
        # Of thousands of contents a few differ: no step of Python's for each of the others.
        dict(compress(after.items(), map(is_not, map(heap.get, after), after.values()))),
        # None is ever taken out: those that were added are the last ones.
        dict(islice(context.defaults.items(), defaults, None)),
        {name: value for name, value in context.here.env.items() if before.env.get(name) is not value},
        dict(context.env_read),
        places,
        contents,
    )
    context.modules.keep(unit.name, kept)


def _names_of_module(context: Context, name: str, unit: ModuleInstance) -> dict[str, Value]:
    assert context.modules is not None
    kept = context.modules.kept(name)
    return kept.units[name][1] if kept is not None and kept.units[name][0] is unit else dict(unit.scope.names)


def _leaves_no_trace(event: Event) -> bool:
    """True if nothing that comes later can depend on an event: it starts nothing, and configures nothing."""
    if isinstance(event, EnvWrite):
        return read_at(event.name) in (None, Moment.IMPORT)
    return isinstance(event, Call) and event.effect is None and not event.name.startswith("tf.config.")
