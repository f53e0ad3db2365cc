"""Holding what something costs without a clock on the wall: processor time, against a reference of the same test.

A busy machine makes wall time long, and a slow one all times; a ratio of two processor times is the same on both.
"""

from __future__ import annotations

import ast
import contextlib
import gc
import signal
import sys
import time
from collections.abc import Callable, Iterator
from functools import cache
from itertools import repeat
from typing import TypeVar

Result = TypeVar("Result")

TRIES = 12
"""Measurements in a row; the least of them counts. Noise only ever adds to a time."""
PAUSES = (1, 4, 16)
"""Seconds to wait before a cost that is too high is measured again: what disturbs a machine may last for seconds."""
LINEAR = 3.0
"""The most that twice the work may cost: linear work costs 2 or, for memory caches, somewhat more; quadratic work 4."""
_LINES = "".join(f"value_{row} = function_{row}(argument, [1, 2, {row}], key='text')\n" for row in range(2_000))


def processor_seconds() -> float:
    """The processor time of this process and of those that it has waited for, in seconds."""
    if sys.platform == "win32":
        return time.process_time()
    import resource

    children = resource.getrusage(resource.RUSAGE_CHILDREN)
    return time.process_time() + children.ru_utime + children.ru_stime


def measured(work: Callable[[], Result]) -> tuple[Result, float]:
    """What ``work`` returns, and the processor time that it takes, in seconds."""
    # The collector looks at all that other tests have left: that time says nothing of the work.
    gc.disable()
    try:
        before = processor_seconds()
        result = work()
        return result, processor_seconds() - before
    finally:
        gc.enable()


@contextlib.contextmanager
def at_most(seconds: float) -> Iterator[None]:
    """Let what never ends fail: what is inside may take so many seconds of processor time (on Windows, any number).

    Raises:
        AssertionError: it has taken longer. A regular expression in the middle of its work is stopped as well.
    """
    if sys.platform == "win32":
        yield
        return

    def stop(*_: object) -> None:
        raise AssertionError(f"it has not ended after {seconds:g} s of processor time")

    before = signal.signal(signal.SIGVTALRM, stop)
    signal.setitimer(signal.ITIMER_VIRTUAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, before)


def reference_seconds() -> float:
    """The processor time that Python takes here to parse 2,000 lines: some 30 ms on a machine of 2020."""
    return min(measured(lambda: ast.parse(_LINES))[1] for _ in range(2))


def tries() -> Iterator[None]:
    """Measure `TRIES` times, and as often again after each pause; a test that passes stops at its first good one."""
    for pause in (0, *PAUSES):
        time.sleep(pause)
        yield from repeat(None, TRIES)


@cache
def _little_seconds() -> float:
    return reference_seconds()


def assert_costs_at_most(references: float, seconds: float, again: Callable[[], object]) -> None:
    """Hold a processor time against a number of `reference_seconds`.

    ``again`` does the work anew: where the first time is too long, the machine may have been busy with something else.
    """
    ratio = seconds / reference_seconds()
    for _ in tries():
        if ratio <= references:
            return
        ratio = min(ratio, measured(again)[1] / reference_seconds())
    raise AssertionError(f"it costs {ratio:.0f} times what parsing 2,000 lines does")


def assert_linear(work: Callable[[], object], twice: Callable[[], object]) -> None:
    """Hold that the cost of ``twice``, which does the work of ``work`` twice over, is about twice as high.

    What costs no more than `reference_seconds`, as first measured, is too little to tell, and passes.
    """
    small = large = float("inf")
    for _ in tries():
        large = min(large, measured(twice)[1])
        if large <= _little_seconds():
            return
        small = min(small, measured(work)[1])
        if large <= LINEAR * small:
            return
    raise AssertionError(f"twice as much takes {large / small:.1f} times as long: {small:.3f} s, then {large:.3f} s")
