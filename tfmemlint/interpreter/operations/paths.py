"""Paths through a program: snapshots, joins, and stretches that need not be run."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import compress
from operator import is_not

from tfmemlint.interpreter.context import Context
from tfmemlint.interpreter.frames import Heap, Snapshot
from tfmemlint.interpreter.state import Guards, State, join_states
from tfmemlint.interpreter.values import (
    UNKNOWN,
    Cell,
    Choice,
    Made,
    Module,
    Ref,
    Value,
    is_called,
    join,
    join_contents,
)


class _Doubtful:
    """A stretch of a path that need not be run, or that runs under conditions; see `doubtful`."""

    __slots__ = ("context", "doubt", "guards", "saved", "ways")

    def __init__(self, context: Context, guards: Guards, doubt: bool) -> None:
        self.context, self.guards, self.doubt = context, guards, doubt

    def __enter__(self) -> None:
        context = self.context
        self.saved, self.ways = context.guards, context.ways
        context.guards = (*self.saved, *self.guards)
        if self.doubt and not self.guards:
            context.ways = (*self.ways, context.next_serial())
        context.uncertain += self.doubt
        context.doubts.append((context.scope, context.module))

    def __exit__(self, *_: object) -> None:
        context = self.context
        context.guards, context.ways = self.saved, self.ways
        context.uncertain -= self.doubt
        context.doubts.pop()


def snapshot(context: Context) -> Snapshot:
    """Return everything that may differ between paths, to be restored or merged."""
    module_names = dict(context.module.names) if context.scope is not context.module else {}
    return Snapshot(context.state, dict(context.scope.names), module_names, context.heap)


def restore(context: Context, saved: Snapshot, state: State | None = None) -> None:
    """Restore a snapshot, but for another ``state`` if one is given."""
    context.state = state or saved.state
    context.heap = saved.heap
    context.scope.names.clear()
    context.scope.names.update(saved.names)
    if context.scope is not context.module:
        context.module.names.clear()
        context.module.names.update(saved.module_names)


def merge(context: Context, other: Snapshot, mine: Guards = (), theirs: Guards = ()) -> None:
    """Let another path end here: what both agree on is known from here on."""
    if other.state is None:
        return
    if context.state is None:
        restore(context, other)
        return
    context.state = join_states(context.state, other.state, mine, theirs)
    join_names(context.scope.names, other.names, context.used)
    if context.scope is not context.module:
        join_names(context.module.names, other.module_names, context.used)
    if context.heap is not other.heap:
        context.heap = joined_heap(context.heap, other.heap, context.used)


@contextmanager
def evaluating(context: Context, where: str) -> Iterator[None]:
    """Name the construct that is evaluated within, for events: a default argument, for instance."""
    saved, context.where = context.where, where
    try:
        yield
    finally:
        context.where = saved


def doubtful(context: Context, guards: Guards = (), *, doubt: bool = True) -> _Doubtful:
    """Mark what is interpreted within: it need not be run, unless ``doubt`` is False, and ``guards`` hold."""
    return _Doubtful(context, guards, doubt)


def either_of(context: Context, left: Value, right: Value) -> Value:
    """Return what is known of a value that is one of two; a result that is lost so counts as used."""
    joined = join(left, right)
    if joined == UNKNOWN:
        lose(left, context.used)
        lose(right, context.used)
    return joined


def _means_itself(value: Value) -> bool:
    """True for what a name is used for where it is bound at all: a function, a class, something imported."""
    return is_called(value) or isinstance(value, (Ref, Module))


def join_names(mine: dict[str, Value], theirs: dict[str, Value], used: set[int]) -> None:
    """Join the names of two paths; most names mean the same object on both."""
    for name in theirs.keys() - mine.keys():
        # A name that some way does not bind means nothing else there: what is called by it is what another way binds.
        mine[name] = theirs[name] if _means_itself(theirs[name]) else join(None, theirs[name])
        lose(theirs[name], used)
    for name, value in list(compress(mine.items(), map(is_not, map(theirs.get, mine), mine.values()))):
        other = theirs.get(name)
        if other is None and _means_itself(value):
            continue
        mine[name] = join(value, other)
        if mine[name] == UNKNOWN:
            lose(value, used)
            lose(other, used)


def joined_heap(mine: Heap, theirs: Heap, used: set[int]) -> Heap:
    joined = dict(mine)
    # Of thousands of contents a few differ: they are picked out without a step of Python's for each of the others.
    for key, other in list(compress(theirs.items(), map(is_not, map(mine.get, theirs), theirs.values()))):
        value, holder = mine.get(key), key[0]
        joined[key] = join(value, other) if type(holder) is not Cell else join_contents(holder, value, other)
        if joined[key] == UNKNOWN:
            lose(value, used)
            lose(other, used)
    for key in mine.keys() - theirs.keys() if len(joined) > len(theirs) else ():
        holder = key[0]
        joined[key] = join(mine[key], None) if type(holder) is not Cell else join_contents(holder, mine[key], None)
        lose(mine[key], used)
    return joined


def lose(value: Value | None, used: set[int]) -> None:
    """Mark a result as used that can't be followed any more."""
    if isinstance(value, Made):
        used.add(value.serial)


def for_each_option(context: Context, choice: Choice, act: Callable[[Value], Value]) -> Value:
    """Do something with each of the values that may be meant, as if it were the only one."""
    if len(choice.options) == 1:
        return act(choice.options[0])
    before = snapshot(context)
    ends: list[Snapshot] = []
    results: list[Value] = []
    for option in choice.options:
        restore(context, before)
        with doubtful(context):
            results.append(act(option))
        ends.append(snapshot(context))
    restore(context, ends[0])
    for end in ends[1:]:
        merge(context, end)
    return functools.reduce(join, results)
