"""The events of processes that work beside each other."""

from __future__ import annotations

from tfmemlint.interpreter.state.model import Event
from tfmemlint.model.records import record


@record(frozen=True, slots=True)
class WorkerRun:
    """One of several processes, or ``times`` of them that do the same.

    ``function``: what it runs. ``events``: in their order. ``parameters``: the names of the function's parameters.
    """

    function: str
    times: int
    events: tuple[Event, ...]
    parameters: frozenset[str]


@record(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class WorkersRun(Event):
    """Several processes of the program work beside each other.

    Attributes:
        runs: what each of them does. text: their number as written; "" for a plain number, or none.
        sure: the number is known; False where it is so by default. made_in: the file that makes them.
    """

    runs: tuple[WorkerRun, ...]
    text: str
    sure: bool
    made_in: str
