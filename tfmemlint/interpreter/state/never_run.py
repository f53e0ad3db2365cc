"""Events of configuration that is never run."""

from __future__ import annotations

from tfmemlint.interpreter.state.model import Event, RuntimeStart
from tfmemlint.model.finding import Span
from tfmemlint.model.records import dataclass, record


@dataclass(frozen=True, slots=True)
class Exhausted:
    """The place at which an iterator was gone through to its end. ``made``: the path and the place of what has made it,
    if that is one expression."""

    path: str
    span: Span
    made: tuple[str, Span] | None = None


@record(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class NeverRun(Event):
    """Code that would configure a GPU is made, and nothing ever runs it; or an option is named, and not set.

    ``kind``: ``map``, ``filter``, ``generator expression``, ``generator``, ``context manager``, ``coroutine``,
    ``partial``, ``lambda``, ``thread``, ``function`` (a name that is not called), ``comparison``, ``option``,
    ``exhausted`` (a loop over an exhausted iterator), ``replaced`` (the method ``text`` runs in place of
    ``stored_in``), ``uncalled`` (the function ``text``), ``fixture`` (pytest's fixture ``text``) or ``key`` (``text``,
    which a table lacks that has ``stored_in``). ``called``: the function that would configure, or the option. ``text``:
    the function that calls it. ``stored_in``: the name that it is bound to and nothing reads; with ``is_attribute``
    that of an attribute, which something may read. ``exhausted``: what has exhausted the iterator. ``arguments``: what
    it is to be called with, as code; None if something is lacking. ``before``: what starts the runtime without it.
    """

    kind: str
    called: str
    text: str
    stored_in: str = ""
    exhausted: Exhausted | None = None
    arguments: str | None = None
    before: RuntimeStart | None = None
    is_attribute: bool = False
