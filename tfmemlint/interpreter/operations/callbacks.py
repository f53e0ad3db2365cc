"""Functions that other code is given to call: threads, processes, sort keys."""

from __future__ import annotations

import ast
import re
from collections.abc import Mapping, Sequence

from tfmemlint.interpreter.context import Context
from tfmemlint.interpreter.frames import Child
from tfmemlint.interpreter.limits import MAX_ITEMS_UNROLLED
from tfmemlint.interpreter.operations.events import event_fields
from tfmemlint.interpreter.operations.paths import doubtful, merge, snapshot
from tfmemlint.interpreter.operations.side_effects import havoc, is_side_effect_free
from tfmemlint.interpreter.values import UNKNOWN, Const, Function, Seq, Value

_PROCESSES = frozenset({"multiprocessing.Process", "multiprocessing.context.Process", "torch.multiprocessing.Process"})
_POOL_METHODS = frozenset(
    {"Process", "submit", "apply", "apply_async", "map", "map_async", "imap", "imap_unordered", "starmap"}
)
"""Of a pool, which may well be one of processes; or of a context of ``multiprocessing``."""
PROCESS_POOLS = frozenset({"Pool", "ProcessPoolExecutor", "Parallel"})
OF_PROCESSES = ("multiprocessing.", "concurrent.futures.ProcessPoolExecutor", "torch.multiprocessing.", "joblib.")
"""The beginnings of the names of functions that start processes, or say how they are started."""
_OF_THREADS = re.compile(r"\bdummy\b|ThreadPool")


def note_process_functions(
    context: Context, called: str, args: Sequence[Value], keywords: Mapping[str, Value], node: ast.AST
) -> None:
    """Record the functions that a call, which may start a process, is given to run there."""
    if called in _PROCESSES or called.rpartition(".")[2] in _POOL_METHODS:
        values = (*args, *keywords.values())
        context.run_elsewhere.update(id(value.node) for value in values if isinstance(value, Function))
    if called.startswith(OF_PROCESSES) and not _OF_THREADS.search(called) and context.state is not None:
        _note_child(context, called, args, keywords, node)


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


def run_in_background(
    context: Context, function: Value, args: Sequence[Value], keywords: dict[str, Value], node: ast.AST
) -> None:
    """Start a thread: what it does happens at some time from now on."""
    before = snapshot(context)
    with doubtful(context):
        context.call(function, args, keywords, node)
    merge(context, before)
    havoc(context, is_side_effect_free(context, function))


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
