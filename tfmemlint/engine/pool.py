"""Do the same for many items, in several processes where that saves time.

A process that dies loses the item that killed it, not the run. No process outlives the run, however that ends: each
watches a pipe whose other end only the run holds, which the kernel closes even where the run is killed.
"""

from __future__ import annotations

import gc
import importlib
import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    from concurrent.futures import ProcessPoolExecutor

ItemT = TypeVar("ItemT")
ResultT = TypeVar("ResultT")

MIN_ITEMS_FOR_POOL = 24
"""Items from which a second process is started. Two processes take 35 ms of processor time to start, imports included.
The files of TensorFlow and Keras that are read closely take 21 ms each at the median, programs of 20 lines 1 ms."""
MAX_WORKERS = 8
"""Processes. Each reads the modules of its programs anew: with more of them that work is repeated more often."""


class WorkerDied(Exception):
    """The process that worked on an item died: the kernel ended it, or the code of a library did."""

    def __init__(self) -> None:
        super().__init__("the process that worked on it died, for want of memory or by a fault in a library")


def map_items(
    function: Callable[[ItemT], ResultT],
    items: Sequence[ItemT],
    *,
    warm_up: Callable[[Sequence[ItemT]], None],
    max_chunk: int,
    alone: bool = False,
    first: int | None = None,
    lost: Callable[[ItemT, WorkerDied], ResultT] | None = None,
    jobs: int | None = None,
) -> Iterator[ResultT]:
    """Yield the result of ``function`` for each item, in order.

    Args:
        function: neither it nor the items need to be picklable, as the workers are forks of this process; the results
            do.
        items: what it is called with.
        warm_up: called before the processes are forked: what it reads and imports is known to all of them.
        max_chunk: how many neighbouring items one process takes at once at most.
        alone: stay in this process.
        first: the number of the item that is done before the processes are forked: what they all need is read then.
        lost: returns the result of an item on which a process died each time.
        jobs: the processes to use at most, as the user states; None for one a core, up to `MAX_WORKERS`.

    Raises:
        WorkerDied: a process died, and ``lost`` is not given.
    """
    workers = jobs or min(os.cpu_count() or 1, MAX_WORKERS)
    if alone or len(items) < MIN_ITEMS_FOR_POOL or workers < 2 or not hasattr(os, "fork"):
        for item in items:
            yield function(item)
        return
    importlib.import_module("tfmemlint.interpreter.interpreter")
    from tfmemlint.rulekit.rule import rules

    rules()
    warm_up(items)
    known = [] if first is None else [function(items[first])]
    rest = items if first is None else [*items[:first], *items[first + 1 :]]
    results = _in_processes(function, rest, workers, max_chunk, lost)
    for number in range(len(items)):
        result = known[0] if number == first else next(results)
        if number + 1 == len(items):
            # The processes have ended when the last result is handed on: who takes no more would interrupt them.
            next(results, None)
        yield result


def _in_processes(
    function: Callable[[ItemT], ResultT],
    items: Sequence[ItemT],
    workers: int,
    max_chunk: int,
    lost: Callable[[ItemT, WorkerDied], ResultT] | None,
) -> Iterator[ResultT]:
    size = max(1, min(max_chunk, len(items) // (2 * workers)))
    waiting = [range(start, min(start + size, len(items))) for start in range(0, len(items), size)]
    while waiting:
        done = 0
        for results in _until_death(function, items, waiting, workers):
            yield from results
            done += 1
        # The chunks that were begun when a process died are among the first of those that are left.
        suspects, waiting = waiting[done : done + 2 * workers + 1], waiting[done + 2 * workers + 1 :]
        for number in (number for chunk in suspects for number in chunk):
            result = next(_until_death(function, items, [range(number, number + 1)], 1), None)
            if result is not None:
                yield from result
            elif lost is not None:
                yield lost(items[number], WorkerDied())
            else:
                raise WorkerDied


def _until_death(
    function: Callable[[ItemT], ResultT], items: Sequence[ItemT], chunks: Sequence[range], workers: int
) -> Iterator[list[ResultT]]:
    """Yield the results of the chunks, in order, until a process dies."""
    from concurrent.futures.process import BrokenProcessPool

    with _processes(function, items, workers) as pool:
        try:
            # A process may die while chunks are still handed out.
            yield from pool.map(_call, chunks)
        except BrokenProcessPool:
            return


@contextmanager
def _processes(function: Callable[[Any], Any], items: Sequence[Any], workers: int) -> Iterator[ProcessPoolExecutor]:
    """Enter with processes that know the function and the items, and end them with the block or with this process."""
    import multiprocessing
    from concurrent.futures import ProcessPoolExecutor

    watched, held = os.pipe()
    fork = multiprocessing.get_context("fork")
    # What there is by now stays: looking at it would give each process a copy of its own.
    gc.freeze()
    pool = ProcessPoolExecutor(workers, fork, initializer=_start, initargs=(function, items, watched, held))
    try:
        yield pool
    except BaseException:
        # Nobody waits for the rest: an interrupted run ends now.
        pool.shutdown(wait=False, cancel_futures=True)
        os.close(held)
        held = -1
        raise
    finally:
        pool.shutdown()
        gc.unfreeze()
        if held >= 0:
            os.close(held)
        os.close(watched)


_work: tuple[Callable[[Any], Any], Sequence[Any]] | None = None
"""In a worker: the function and the items, which it has from its parent."""


def _start(function: Callable[[Any], Any], items: Sequence[Any], watched: int, held: int) -> None:
    """Prepare a worker: it leaves interruptions to its parent, and ends with it."""
    import signal
    import threading

    global _work
    _work = function, items
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    os.close(held)
    threading.Thread(target=_end_with_parent, args=(watched,), daemon=True).start()


def _end_with_parent(watched: int) -> None:
    os.read(watched, 1)
    os._exit(1)


def _call(numbers: range) -> list[Any]:
    assert _work is not None
    function, items = _work
    return [function(items[number]) for number in numbers]
