"""The interpreter as a whole: entry points in, events out."""

from __future__ import annotations

from dataclasses import replace

import tfmemlint.interpreter.handlers  # noqa: F401 (it fills the tables)
from tfmemlint.interpreter.children import interpret_children
from tfmemlint.interpreter.context import Context, GaveUp
from tfmemlint.interpreter.forgotten_calls import report_forgotten
from tfmemlint.interpreter.observer import Observer
from tfmemlint.interpreter.operations.command_line import COMMAND_LINE, NOTHING_GIVEN, as_value
from tfmemlint.interpreter.operations.exceptions import end_entry
from tfmemlint.interpreter.operations.imports import import_module, run_module
from tfmemlint.interpreter.operations.kept_protos import find_keepers
from tfmemlint.interpreter.program import Event, Program, ProtoMade, SessionMade
from tfmemlint.interpreter.pytest_calls import call_fixtures, call_hooks_before, call_set_up
from tfmemlint.interpreter.replaced_methods import report_replaced
from tfmemlint.interpreter.settling import Settled
from tfmemlint.interpreter.state import State
from tfmemlint.interpreter.state.numbering import OF_CONTAINER
from tfmemlint.interpreter.uncalled import interpret_uncalled
from tfmemlint.interpreter.unit import EntrySetup
from tfmemlint.interpreter.values import Const, Function, Module, ModuleInstance, Ref, Value
from tfmemlint.interpreter.worker_runs import interpret_workers
from tfmemlint.knowledge.releases import Target
from tfmemlint.knowledge.variables import CONTAINER
from tfmemlint.model.finding import Span, Step


def interpret(
    unit: ModuleInstance, target: Target, setup: EntrySetup | None = None, observer: Observer | None = None
) -> Program:
    """Interpret a module from top to bottom, then every function that nothing in it calls.

    Args:
        unit: the module. target: the release of TensorFlow that it runs on.
        setup: how it is run, and where its imports are found; None for a file alone. observer: gets told of each step.

    Raises:
        RecursionError: the program's calls are nested too deeply.
    """
    context = Context(unit, target, setup) if observer is None else _watched(unit, target, setup, observer)
    try:
        try:
            _run_entry(context)
        except Settled:
            context.unit, context.frames = context.main, context.frames[:1]
            context.statement, context.loops, context.handlers, context.caught = None, [], [], []
            context.guards, context.ways, context.doubts = (), (), []
        end_entry(context, "module", context.main.tree)
        interpret_children(context)
        # A script that has left by an exception leaves no state.
        context.state = context.state or State()
        report_replaced(context)
        report_forgotten(context)
        interpret_uncalled(context)
    except GaveUp as reason:
        context.given_up.append(str(reason))
    _report_protos(context)
    events = [
        replace(event, used=event.serial in context.used) if isinstance(event, SessionMade) else event
        for event in context.events
    ]
    events += interpret_workers(context, [*events])
    modules = frozenset(unit.source.path for unit in (context.main, *context.units.values()))
    others = [unit.source.text for unit in context.units.values() if unit is not context.main]
    units = (context.main, *context.units.values())
    put = tuple(context.container_changes)
    search = context.modules
    missed = frozenset(name for name in context.asked_modules if search is not None and search.is_missed(name))
    return Program(
        context.main.source,
        context.main.tree,
        context.target,
        events,
        context.given_up,
        modules,
        others,
        units=units,
        put=put,
        config_files=frozenset(context.config_files.found),
        settings={path: setting for path, setting in context.config_files.found.items() if setting is not None},
        missed=missed,
        started=_started(context.setup),
    )


def _started(setup: EntrySetup | None) -> str:
    if setup is None or setup.arguments is None:
        return ""
    return "optimized" if setup.optimized else "launched"


def _watched(unit: ModuleInstance, target: Target, setup: EntrySetup | None, observer: Observer) -> Context:
    from tfmemlint.interpreter.watching import WatchedContext

    return WatchedContext(unit, target, setup, observer)


def _run_entry(context: Context) -> None:
    """Interpret what is run: the module's packages, a test runner's ``conftest.py``, the module, its main function."""
    run = context.setup
    conftests: list[ModuleInstance] = []
    if run is not None:
        _set_environment(context, run)
        conftests = _run_before(context, run)
        call_hooks_before(context, conftests)
    if context.state is None:
        return
    if run is None or run.name == "__main__":
        context.execute(context.main.tree.body)
    elif run.name not in context.here.imported:
        context.state = replace(context.here, imported={**context.here.imported, run.name: True})
        run_module(context, context.main, None)
        call_fixtures(context, conftests)
        call_set_up(context)
    _call_main_function(context)


def _set_environment(context: Context, run: EntrySetup) -> None:
    """Set the environment that the program is started in."""
    for write in run.environment:
        context.emit(replace(write, state=context.here))
        context.state = replace(context.here, env={**context.here.env, write.name: write.value})
        if write.name == CONTAINER:
            context.state = replace(context.here, env={**context.here.env, OF_CONTAINER: write.value})
        if write.name == "CUDA_VISIBLE_DEVICES":
            hidden = isinstance(write.value, Const) and write.value.value in ("", "-1")
            context.state = replace(context.here, cuda_visible_devices=write.value, max_gpus=0 if hidden else None)
    if run.arguments is not None:
        nothing = Const(not run.arguments and not run.environment)
        started: dict[str, Value] = {COMMAND_LINE: as_value(run.arguments), NOTHING_GIVEN: nothing}
        context.state = replace(context.here, env={**context.here.env, **started})


def _run_before(context: Context, run: EntrySetup) -> list[ModuleInstance]:
    """Import the packages around a module, and read the ``conftest.py`` files of a test; these are returned."""
    conftests = []
    if run.name != "__main__":
        context.units[run.name] = context.main
    if run.package and run.package != run.name:
        import_module(context, run.package, context.main.tree)
    for number, text in enumerate(run.before):
        unit = text.unit("conftest", None, context.next_serial())
        conftests.append(unit)
        if context.state is not None:
            run_module(context, unit, Step(text.source.path, Span(1, 1, 1, 1), f"pytest reads {text.source.path}"))
        if number == len(run.before) - 1:
            context.units.setdefault("conftest", unit)
    return conftests


def _call_main_function(context: Context) -> None:
    """Call the function that a console script calls."""
    if context.setup is None or context.setup.function is None or context.state is None:
        return
    value: Value = Module(context.main.name, context.main.scope)
    for name in context.setup.function.split("."):
        value = context.attribute(value, name, context.main.tree)
    if not isinstance(value, Ref):
        # What is imported from elsewhere has no code here to interpret.
        context.call(value, [], {}, value.node if isinstance(value, Function) else context.main.tree)


def _report_protos(context: Context) -> None:
    keepers = find_keepers(context)
    for serial, proto, event in context.run_configs:
        if serial not in context.used:
            context.emit(replace(event, fields=dict(proto.record.fields)))
    carried = {
        span for event in context.events if isinstance(event, SessionMade) for span in event.field_spans.values()
    }
    for proto, call in context.protos:
        spans = {name: span for name, span in proto.record.spans.items() if span is not None}
        event = {name: getattr(call, name) for name in Event.__dataclass_fields__}
        context.emit(
            ProtoMade(
                name=proto.name,
                fields=dict(proto.record.fields),
                consumed=proto.record.consumed,
                field_spans=spans,
                carried=not carried.isdisjoint(spans.values()),
                in_gib=context.gigabytes,
                kept=keepers.get(id(proto.record), ()),
                **event,
            )
        )
        for late in proto.record.late:
            context.emit(late)
        for emptied in proto.record.lost if proto.record.consumed or proto.record.taken is not None else ():
            context.emit(emptied)
