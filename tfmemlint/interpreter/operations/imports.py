"""Imports: the project's own modules are interpreted where a program first imports them."""

from __future__ import annotations

import ast
from dataclasses import replace

from tfmemlint.interpreter.context import Context
from tfmemlint.interpreter.frames import Frame
from tfmemlint.interpreter.limits import MAX_IMPORT_DEPTH
from tfmemlint.interpreter.observer import ImportOutcome
from tfmemlint.interpreter.operations.paths import doubtful, merge, snapshot
from tfmemlint.interpreter.operations.repeated_imports import without_import
from tfmemlint.interpreter.replays import begin_recording, end_recording, import_step, use_replay
from tfmemlint.interpreter.scopes import Scope
from tfmemlint.interpreter.summaries import keep_summary, only_bound_names, use_summary
from tfmemlint.interpreter.unit import ModuleInstance
from tfmemlint.interpreter.values import UNKNOWN, Module, Value
from tfmemlint.model.finding import Step
from tfmemlint.project.search import prefixes


def import_module(context: Context, name: str, node: ast.AST) -> Value | None:
    """A module of the project's own, gone through where this is its first import; None where it isn't the
    project's own, UNKNOWN where it can't be told."""
    if context.modules is None:
        _tell_import(context, node, name, ImportOutcome.NOT_FOLLOWED)
        return None
    module: Value | None = None
    context.asked_modules.add(name)
    for part in prefixes(name):
        inner = import_one(context, part, node)
        if inner is None:
            return None if module is None else UNKNOWN
        module = inner
        if context.state is None or not isinstance(module, Module):
            return UNKNOWN
    return module


def import_one(context: Context, name: str, node: ast.AST) -> Value | None:
    """Import the module of this absolute name, the packages that it is in being imported."""
    if name in context.units or context.modules is None or context.modules.place(name) is None:
        return _import_here(context, name, node)
    if use_summary(context, name) or use_replay(context, name, node):
        _tell_import(context, node, name, ImportOutcome.SUMMARY)
        return Module(name, context.units[name].scope)
    recording = begin_recording(context)
    if recording is None:
        return _import_here(context, name, node)
    # What was not followed to its end is no import that another program could repeat.
    module = _import_here(context, name, node)
    end_recording(context, name, recording, node)
    return module


def _import_here(context: Context, name: str, node: ast.AST) -> Value | None:
    unit = context.units.get(name) or _found_module(context, name)
    if not isinstance(unit, ModuleInstance):
        known = ImportOutcome.FOLLOWED if unit is not None else ImportOutcome.NOT_FOUND
        _tell_import(context, node, name, ImportOutcome.UNREADABLE if unit == UNKNOWN else known)
        return unit
    module = Module(name, unit.scope)
    has = context.here.imported.get(name)
    if has or unit.running:
        _tell_import(context, node, name, ImportOutcome.REPEATED)
        return module
    _tell_import(context, node, name, ImportOutcome.FOLLOWED)
    context.state = replace(context.here, imported={**context.here.imported, name: True})
    if sum(isinstance(frame.node, ast.Module) for frame in context.frames) > MAX_IMPORT_DEPTH:
        context.give_up(f"{unit.source.path} is imported through more than {MAX_IMPORT_DEPTH} other modules")
        return UNKNOWN
    if has is None:
        interpret_module(context, unit, node)
    else:
        # On some way to here it has been imported: then nothing happens now.
        before = snapshot(context)
        if unit.source.path != context.main.source.path:
            context.state = without_import(context.here, unit.source.path)
        with doubtful(context):
            interpret_module(context, unit, node)
        after = context.state
        merge(context, before)
        if after is not None and context.state is not None:
            # What it imports has been imported on the other ways as well: with it.
            with_it = {inner: True for inner, there in after.imported.items() if there is True}
            context.state = replace(context.here, imported={**context.here.imported, **with_it})
    return module


def _tell_import(context: Context, node: ast.AST, name: str, outcome: ImportOutcome) -> None:
    if context.observer is not None:
        context.observer.imported(context.source.path, context.span(node), name, outcome)


def _found_module(context: Context, name: str) -> ModuleInstance | Value | None:
    assert context.modules is not None
    found = context.modules.find(name)
    if found is None:
        return None
    if (context.path_changed and not context.modules.is_only(name)) or not found.readable:
        # Python may well find another module of that name first.
        return UNKNOWN
    if found.text is None:
        return Module(name, Scope())
    package = name if found.is_package else name.rpartition(".")[0]
    unit = found.text.unit(name, package, context.next_serial())
    context.units[name] = unit
    return unit


def interpret_module(context: Context, unit: ModuleInstance, node: ast.AST) -> None:
    before, heap, events = context.here, context.heap, len(context.events)
    bound = len(context.outer_bindings)
    files = context.config_files.requests
    defaults = len(context.defaults)
    asked, within, read = context.asked_modules, context.circular_imports, context.env_read
    context.asked_modules, context.circular_imports, context.env_read = set(), set(), {}
    looked_at, context.modules_looked_at = context.modules_looked_at, set()
    reads, context.reads, begun = context.reads, {}, context.next_serial()
    # Each module has a budget of its own: whether a program is followed to its end must not depend on which of its
    # modules another program has imported before.
    steps, context.steps = context.steps, 0
    run_module(context, unit, import_step(context, unit, node))
    context.steps = steps
    circle = context.circular_imports - {unit.name}
    contents = {cell: content for cell, content in context.reads.items() if cell.number < begun}
    context.reads = {**contents, **reads}
    # Where a relative path leads is decided by the program that asks.
    # A name of a module that had been imported before would lack it where a summary is used.
    others = any(
        home.unit is not None and before.imported.get(home.unit.name) for home, *_ in context.outer_bindings[bound:]
    )
    if not (circle or others) and files == context.config_files.requests and only_bound_names(context, before, events):
        keep_summary(context, unit, before, heap, defaults, context.asked_modules, contents)
    context.asked_modules |= asked
    context.modules_looked_at |= looked_at
    context.circular_imports = within | circle
    context.env_read = context.env_read | read


def run_module(context: Context, unit: ModuleInstance, call: Step | None) -> None:
    """Interpret a module's top level."""
    here, statement, loops = context.unit, context.statement, context.loops
    context.frames.append(Frame("", unit.scope, unit.tree, call))
    context.unit, context.loops, unit.running = unit, [], True
    try:
        context.execute(unit.tree.body)
    finally:
        context.frames.pop()
        context.unit, context.statement, context.loops, unit.running = here, statement, loops, False
