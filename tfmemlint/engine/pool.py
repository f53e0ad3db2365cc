"""Do the same for many items, in several processes where that saves time."""

from __future__ import annotations

import importlib
import os
from collections.abc import Callable, Iterator, Sequence
from typing import Any, TypeVar

ItemT = TypeVar("ItemT")
ResultT = TypeVar("ResultT")

MIN_ITEMS_FOR_POOL = 24
"""Items from which a second process saves more time than its start takes: a fork takes some 20 ms, and most files take
1 to 5 ms each."""
MAX_WORKERS = 8
"""Processes. Each reads the modules of its programs anew: with more of them that work is repeated more often."""


def map_items(
    function: Callable[[ItemT], ResultT],
    items: Sequence[ItemT],
    *,
    warm_up: Callable[[Sequence[ItemT]], None],
    max_chunk: int,
    alone: bool = False,
) -> Iterator[ResultT]:
    """Yield the result of ``function`` for each item, in order.

    Args:
        function: neither it nor the items need to be picklable, as the workers are forks of this process; the results
            do.
        items: what it is called with.
        warm_up: called before the processes are forked: what it reads and imports is known to all of them.
        max_chunk: how many neighbouring items one process takes at once at most.
        alone: stay in this process.
    """
    workers = min(os.cpu_count() or 1, MAX_WORKERS)
    if alone or len(items) < MIN_ITEMS_FOR_POOL or workers < 2 or not hasattr(os, "fork"):
        for item in items:
            yield function(item)
        return
    import multiprocessing
    from concurrent.futures import ProcessPoolExecutor

    importlib.import_module("tfmemlint.interpreter.interpreter")
    from tfmemlint.rulekit.rule import rules

    rules()
    warm_up(items)
    chunk = max(1, min(max_chunk, len(items) // (2 * workers)))
    fork = multiprocessing.get_context("fork")
    with ProcessPoolExecutor(workers, mp_context=fork, initializer=_remember, initargs=(function, items)) as pool:
        yield from pool.map(_call, range(len(items)), chunksize=chunk)


_work: tuple[Callable[[Any], Any], Sequence[Any]] | None = None
"""In a worker: the function and the items, which it has from its parent."""


def _remember(function: Callable[[Any], Any], items: Sequence[Any]) -> None:
    global _work
    _work = function, items


def _call(number: int) -> Any:
    assert _work is not None
    function, items = _work
    return function(items[number])
