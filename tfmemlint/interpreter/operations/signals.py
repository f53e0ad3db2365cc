"""Objects by which threads wait for each other: what a thread has done for sure when a wait for its signal is over.

A signal is what such an object's ``put()``, ``set()``, ``release()`` or ``notify()`` gives. Where only threads that
were followed give it, everything that they do before their first signal has happened after a wait for it.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable
from dataclasses import replace

from tfmemlint.interpreter.context import Context
from tfmemlint.interpreter.state import State, Tri
from tfmemlint.interpreter.values import Dict, Function, Instance, Partial, Seq, Value, parts

PHASES = ("context", "allocator", "listed")
_SIGNALS = frozenset({"put", "put_nowait", "set", "release", "notify", "notify_all", "wait"})


def signal(context: Context, on: Value) -> None:
    """Note that a signal is given here."""
    if not isinstance(on, Instance) or context.state is None or on not in context.signals:
        return
    thread = context.threads[-1] if context.threads else None
    if thread is None:
        context.signals[on][None] = None
        return
    runner, started = thread
    given = context.signals[on]
    state = context.state if only_starts(started, context.state) else None
    if runner not in given:
        given[runner] = state
    else:
        earlier = given[runner]
        given[runner] = None if earlier is None or state is None else _both(earlier, state)


def _both(first: State, second: State) -> State:
    """Return the first state, with those phases only that both have for sure."""
    lacking = {which: getattr(second, which) for which in PHASES if getattr(second, which).has is not Tri.YES}
    return replace(first, **lacking)


def wait_for_signal(context: Context, on: Value) -> None:
    """Wait until a thread has given a signal: what it has started before is started from here on."""
    if not isinstance(on, Instance) or context.state is None or context.state.entry_unknown or context.signals_lost:
        return
    given = list(context.signals.get(on, {}).values())
    states = [state for state in given if state is not None]
    if not given or len(states) < len(given):
        return
    sure = {
        which: getattr(states[0], which)
        for which in PHASES
        if all(getattr(state, which).has is Tri.YES for state in states)
        and getattr(context.state, which).has is not Tri.YES
    }
    context.state = replace(context.state, **sure)


def may_be_signalled(context: Context, values: Iterable[Value]) -> None:
    """Note that code that is not followed is given objects, or functions, by which it may give signals."""
    if not context.signals:
        return
    for value in values:
        match value:
            case Instance():
                held = [each for (holder, _), each in context.heap.items() if holder is value]
                for each in (value, *held):
                    if isinstance(each, Instance) and each in context.signals:
                        context.signals[each][None] = None
            case Seq() | Dict():
                may_be_signalled(context, parts(value))
            case Function(node):
                may_be_signalled(context, [value.bound] if value.bound is not None else [])
                context.signals_lost |= any(map(_may_signal, ast.walk(node)))
            case Partial(inner):
                may_be_signalled(context, [inner])
            case _:
                pass


def _may_signal(node: ast.AST) -> bool:
    """True for a call that may give a signal: of a method that does, or of a function or method of the program."""
    if not isinstance(node, ast.Call):
        return False
    if isinstance(node.func, ast.Attribute):
        own = isinstance(node.func.value, ast.Name) and node.func.value.id == "self"
        return own or node.func.attr in _SIGNALS
    return True


def only_starts(before: State, after: State) -> bool:
    """True if what lies between two states has started something, and configured nothing."""
    return replace(after, context=before.context, allocator=before.allocator, listed=before.listed) == before
