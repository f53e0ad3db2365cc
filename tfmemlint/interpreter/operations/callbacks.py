"""Functions that other code is given to call: threads, processes, sort keys."""

from __future__ import annotations

import ast
from collections.abc import Sequence

from tfmemlint.interpreter.context import Context
from tfmemlint.interpreter.limits import MAX_ITEMS_UNROLLED
from tfmemlint.interpreter.operations.paths import doubtful, merge, snapshot
from tfmemlint.interpreter.operations.side_effects import havoc, is_side_effect_free
from tfmemlint.interpreter.values import UNKNOWN, Function, Seq, Value

_PROCESSES = frozenset({"multiprocessing.Process", "multiprocessing.context.Process", "torch.multiprocessing.Process"})
_POOL_METHODS = frozenset(
    {"Process", "submit", "apply", "apply_async", "map", "map_async", "imap", "imap_unordered", "starmap"}
)
"""Of a pool, which may well be one of processes; or of a context of ``multiprocessing``."""


def note_process_functions(context: Context, called: str, values: Sequence[Value]) -> None:
    """Record the functions that a call, which may start a process, is given to run there."""
    if called in _PROCESSES or called.rpartition(".")[2] in _POOL_METHODS:
        context.run_elsewhere.update(id(value.node) for value in values if isinstance(value, Function))


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
