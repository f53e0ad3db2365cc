"""Functions that other code is given to call: threads, processes, sort keys."""

from __future__ import annotations

import ast
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace

from tfmemlint.interpreter.context import Context
from tfmemlint.interpreter.frames import Child
from tfmemlint.interpreter.limits import MAX_ITEMS_UNROLLED
from tfmemlint.interpreter.operations.events import event_fields
from tfmemlint.interpreter.operations.handed_calls import report_handed_call
from tfmemlint.interpreter.operations.paths import doubtful, merge, snapshot
from tfmemlint.interpreter.operations.side_effects import havoc, is_side_effect_free
from tfmemlint.interpreter.operations.signals import PHASES, only_starts
from tfmemlint.interpreter.operations.worker_processes import PROCESSES, note_workers
from tfmemlint.interpreter.program import Call, Event, RuntimeStart
from tfmemlint.interpreter.state import Phase, Tri
from tfmemlint.interpreter.values import UNKNOWN, Const, Function, Seq, Thread, Value
from tfmemlint.knowledge.functions import CONFIGURES_GPUS

_POOL_METHODS = frozenset(
    {"Process", "submit", "apply", "apply_async", "map", "map_async", "imap", "imap_unordered", "starmap"}
)
"""Of a pool, which may well be one of processes; or of a context of ``multiprocessing``."""
PROCESS_POOLS = frozenset({"Pool", "ProcessPoolExecutor", "Parallel"})
OF_PROCESSES = ("multiprocessing.", "concurrent.futures.ProcessPoolExecutor", "torch.multiprocessing.", "joblib.")
"""The beginnings of the names of functions that start processes, or say how they are started."""
_WAITING = frozenset({"accept", "acquire", "get", "join", "recv", "wait"})
_OF_THREADS = re.compile(r"\bdummy\b|ThreadPool")


def note_process_functions(
    context: Context, called: str, args: Sequence[Value], keywords: Mapping[str, Value], node: ast.AST
) -> None:
    """Record the functions that a call, which may start a process, is given to run there."""
    if called in PROCESSES or called.rpartition(".")[2] in _POOL_METHODS:
        values = (*args, *keywords.values())
        context.run_elsewhere.update(id(value.node) for value in values if isinstance(value, Function))
    if called.startswith(OF_PROCESSES) and not _OF_THREADS.search(called) and context.state is not None:
        _note_child(context, called, args, keywords, node)
        report_handed_call(context, called, args, keywords, node)
        note_workers(context, called, args, keywords, node)


def _note_child(
    context: Context, called: str, args: Sequence[Value], keywords: Mapping[str, Value], node: ast.AST
) -> None:
    """Record how processes are started, and the functions that new ones run."""
    children, method = context.children, called.rpartition(".")[2]
    if method in ("get_context", "set_start_method"):
        given = args[0] if args else keywords.get("method", UNKNOWN)
        children.method = given.value if isinstance(given, Const) and isinstance(given.value, str) else ""
    elif method in PROCESS_POOLS:
        place = 0 if called.startswith("joblib.") else 1 if method == "Pool" else 2
        given = keywords.get("initializer", args[place] if len(args) > place else Const(None))
        children.initializer = None if given == Const(None) else given
        children.pool = context.span(node)
        if method == "Parallel":
            children.method = "loky" if _starts_processes(keywords) else ""
    elif method in _POOL_METHODS or called == "joblib.delayed":
        where = "loky" if called == "joblib.delayed" else "process"
        if children.method and (children.method == "loky") is (where == "loky"):
            listed = keywords.get("args")
            given_args = listed.items if method == "Process" and isinstance(listed, Seq) else ()
            for value in (*args, *keywords.values()):
                if isinstance(value, Function):
                    # A generator that another library goes through has no statement of its own.
                    statement, context.statement = context.statement, context.statement if where != "loky" else None
                    fields = event_fields(context, node)
                    context.statement = statement
                    initializer = children.initializer if method != "Process" else None
                    made = children.pool if method != "Process" else None
                    children.noted.append(
                        Child(value, given_args, children.method, initializer, fields, made or fields["span"])
                    )


def _starts_processes(keywords: Mapping[str, Value]) -> bool:
    """True if ``joblib.Parallel`` with these arguments starts processes of its own kind."""
    jobs = keywords.get("n_jobs")
    return jobs is not None and jobs != Const(1) and not keywords.keys() & {"backend", "prefer", "require"}


def run_thread(context: Context, thread: Thread, node: ast.AST) -> None:
    """Start a thread, of which the end may be waited for: see `wait_for`."""
    before, earlier, known = snapshot(context), context.state, len(context.events)
    if earlier is not None:
        context.threads.append((thread, earlier))
    with doubtful(context):
        context.call(thread.function, thread.args, dict(thread.keywords), node)
    if earlier is not None:
        context.threads.pop()
    later = context.state
    merge(context, before)
    if later is not None and earlier is not None and only_starts(earlier, later):
        context.ended[thread] = later
        if not _waits(thread.function):
            return
    if _waits(thread.function) and earlier is not None:
        # Another thread says when it goes on: nothing is known until its end.
        context.state = replace(
            context.here, context=earlier.context, allocator=earlier.allocator, listed=earlier.listed
        )
        havoc(context)
        if thread in context.ended:
            context.state = replace(context.here, growth=earlier.growth)
        return
    if later is None and context.state is not None and _may_have_started(context, context.events[known:]):
        return
    havoc(context, is_side_effect_free(context, thread.function))


def _waits(function: Value) -> bool:
    """True if a function waits for another thread without a time limit: ``event.wait()``, ``queue.get()``."""
    return isinstance(function, Function) and any(
        isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and node.func.attr in _WAITING
        and not node.args
        and not node.keywords
        for node in ast.walk(function.node)
    )


def _may_have_started(context: Context, events: Sequence[Event]) -> bool:
    """Note what a thread that never ends has started; return False if it configures something, or starts nothing."""
    starts = [event for event in events if isinstance(event, RuntimeStart)]
    if not starts or any(isinstance(event, Call) and event.name in CONFIGURES_GPUS for event in events):
        return False
    for event in starts:
        if getattr(context.here, event.what).has is Tri.NO:
            phase = {event.what: Phase(Tri.MAYBE, event)}
            context.state = replace(context.here, **phase)  # type: ignore[arg-type]
    return True


def wait_for(context: Context, thread: Thread) -> None:
    """Wait for the end of a thread: what it has started is started from here on."""
    ended = context.ended.get(thread)
    if ended is None or context.state is None:
        return
    sure = {
        which: now
        for which in PHASES
        if (now := getattr(ended, which)).has is Tri.YES and getattr(context.state, which).has is not Tri.YES
    }
    context.state = replace(context.state, **sure)


def call_sort_key(context: Context, key: Value, values: Value, node: ast.AST) -> None:
    """Call the ``key`` of a sort, or of ``min`` and ``max``, for each value."""
    if isinstance(values, Seq) and len(values.items) <= MAX_ITEMS_UNROLLED:
        for item in values.items:
            context.call(key, [item], {}, node)
        return
    before = snapshot(context)
    with doubtful(context):
        context.call(key, [UNKNOWN], {}, node)
    merge(context, before)
