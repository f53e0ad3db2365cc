"""The interpretation of processes that work beside each other: what each of them does to the GPUs.

It comes after everything else, and leaves its events to themselves: a process whose start method depends on the system
is followed here as well, since a limit is a limit however the process was started.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from tfmemlint.interpreter.context import Context, GaveUp
from tfmemlint.interpreter.frames import Frame
from tfmemlint.interpreter.operations.function_bodies import function_name, is_graph_function, run_function
from tfmemlint.interpreter.operations.worker_processes import takes_turns, waits_between
from tfmemlint.interpreter.program import Event
from tfmemlint.interpreter.settling import Settled
from tfmemlint.interpreter.state import State
from tfmemlint.interpreter.state.workers import WorkerRun, WorkersRun
from tfmemlint.interpreter.values import UNKNOWN, Function, Value
from tfmemlint.interpreter.worker_records import Copies, Workers

_MOST_RUNS = 24
"""Processes beyond which no more are looked at."""
_STEPS_EACH = 5_000
"""Steps that each of them may take."""


def interpret_workers(context: Context, events: Sequence[Event]) -> list[WorkersRun]:
    """Return what the processes of the program do that work beside each other; ``events`` are its own."""
    found = [_of_copies(context, copies, events) for copies in context.workers.copies]
    runs = 0
    for group in _groups(context.workers.noted):
        runs += len(group)
        if runs > _MOST_RUNS:
            break
        made = [_interpret(context, workers) for workers in group]
        known = tuple(run for run in made if run is not None)
        first = group[0]
        if known:
            found.append(
                WorkersRun(
                    runs=known,
                    text=first.text,
                    sure=all(each.sure for each in group),
                    made_in=first.unit.source.path,
                    **first.fields,
                )
            )
    return found


def _of_copies(context: Context, copies: Copies, own: Sequence[Event]) -> WorkersRun:
    """Return what copies of the program do: what it does itself where it starts none."""
    starts = WorkersRun(runs=(), text="", sure=True, made_in="", **copies.fields)
    other = {(test, not outcome) for test, outcome in starts.guards}
    events = [
        replace(event, guards=tuple(guard for guard in event.guards if guard not in other))
        for event in own
        if other & set(event.guards)
    ]
    run = WorkerRun("", copies.count, tuple(events), frozenset())
    return replace(starts, runs=(run,), text=copies.text, sure=copies.sure, made_in=context.main.source.path)


def _groups(noted: Sequence[Workers]) -> Iterator[list[Workers]]:
    """Yield processes that run at the same time."""
    pools = [workers for workers in noted if workers.counted]
    seen: set[object] = set()
    for workers in pools:
        key = workers.place, id(workers.function.node)
        if key not in seen and workers.count > 1:
            seen.add(key)
            yield [workers]
    single: dict[object, list[Workers]] = {}
    for workers in noted:
        if not workers.counted:
            path, _, frames = workers.place
            single.setdefault((path, frames, id(workers.scope_of)), []).append(workers)
    for group in single.values():
        rows = [workers.place[1].row for workers in group]
        if len(group) > 1 and not waits_between(group[0].scope_of, rows):
            yield group


def _interpret(context: Context, workers: Workers) -> WorkerRun | None:
    """Return what one process does; None if it can't be told."""
    parent: State = workers.fields["state"]
    if workers.method in ("fork", "default") and (parent.visible is not None or parent.limits):
        # It may have that from its parent.
        return None
    if takes_turns(workers.function.node):
        return None
    shown = parent.env.get("CUDA_VISIBLE_DEVICES", parent.cuda_visible_devices)
    before = context.import_state or State(eager=context.target.major >= 2)
    heap, observer, steps, settled = context.heap, context.observer, context.max_steps, context.settled
    context.heap = {**heap, **workers.fields_of_object} if workers.fields_of_object else heap
    # What was followed in the parent process is followed again: its results count, such as a limit.
    context.events, context.observer, context.settling, context.settled = [], None, None, {}
    context.state = replace(before, env=parent.env, cuda_visible_devices=shown, in_child_process=True)
    context.guards, context.ways, context.uncertain, context.statement = (), (), 0, None
    context.frames, context.loops, context.handlers = [Frame("", context.main.scope, context.main.tree)], [], []
    context.unit, context.doubts, context.depth, context.caught = context.main, [], 0, []
    context.max_steps = context.steps + _STEPS_EACH
    function = workers.function
    try:
        if workers.making is not None:
            init, given, named = workers.making
            run_function(context, init, *_all_arguments(context, init, given, named), None)
            context.events = []
        if context.state is None:
            return None
        args, named = _all_arguments(context, function, workers.args, workers.keywords)
        run_function(context, function, args, named, None, graph=is_graph_function(function))
    except (GaveUp, Settled):
        return None
    finally:
        events: list[Event] = context.events
        context.heap, context.observer, context.max_steps, context.settled = heap, observer, steps, settled
    parameters = frozenset(arg.arg for arg in (*function.node.args.args, *function.node.args.kwonlyargs))
    return WorkerRun(function_name(function.node), workers.count, tuple(events), parameters)


def _all_arguments(
    context: Context, function: Function, args: Sequence[Value], keywords: Mapping[str, Value]
) -> tuple[list[Value], dict[str, Value]]:
    """Return the arguments of a function, with unknown ones in the place of those that nobody has seen, and with the
    defaults of the others."""
    given = function.node.args
    positional = [*given.posonlyargs, *given.args][1 if function.bound is not None else 0 :]
    defaults = dict(zip(reversed(positional), reversed(given.defaults), strict=False))
    defaults |= {
        parameter: value for parameter, value in zip(given.kwonlyargs, given.kw_defaults, strict=True) if value
    }
    all_args, named = [*args], dict(keywords)
    for parameter in positional[len(args) :]:
        if parameter.arg not in named and parameter not in defaults:
            named[parameter.arg] = UNKNOWN
    for parameter in (*positional[len(args) :], *given.kwonlyargs):
        if parameter.arg not in named and parameter in defaults:
            named[parameter.arg] = context.defaults.get(id(defaults[parameter]), UNKNOWN)
    return all_args, named
