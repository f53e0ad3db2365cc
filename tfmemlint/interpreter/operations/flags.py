"""Variables that branches set to constants: which of them are never true together.

``limit = growth = False``, then ``if windows: limit = True`` and ``else: growth = True``: what ``if limit:`` does and
what ``if growth:`` does is never done in one run.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence
from typing import TYPE_CHECKING

from tfmemlint.interpreter.frames import Ways
from tfmemlint.interpreter.values import Const

if TYPE_CHECKING:
    from tfmemlint.interpreter.context import Context
    from tfmemlint.interpreter.state import Guards

MAX_WAYS = 8
"""Ways on which a variable is true beyond which they are not told apart."""
MAX_FLAGS = 60
"""Such variables of one scope: each is compared with all others where it is asked for."""


def flags_set(context: Context, node: ast.If) -> frozenset[str]:
    """Return the names that the branches of a statement bind."""
    shapes = context.unit.shapes
    return shapes.bound_names(node.body) | shapes.bound_names(node.orelse)


def ways_here(context: Context, names: frozenset[str], guards: Guards) -> dict[str, Ways]:
    """Return, for each name, the ways to the end of a branch on which it is true; none for a branch that is left."""
    if context.state is None:
        return dict.fromkeys(names, ())
    return {name: tuple((*guards, *way) for way in _ways_of(context, name)) for name in names}


def join_flags(context: Context, names: frozenset[str], ways: Sequence[dict[str, Ways]]) -> None:
    """Note the ways on which variables are true behind branches."""
    for name in names:
        every = tuple(way for each in ways for way in each[name])
        number = context.scope.owner(name).number
        flags = context.conditions.flags.setdefault(number, {})
        if any(way == () for way in every) or len(every) > MAX_WAYS or isinstance(context.scope.lookup(name), Const):
            flags.pop(name, None)
        elif name in flags or len(flags) < MAX_FLAGS:
            flags[name] = context.rebindings.get((number, name), 0), every


def never_with(context: Context, name: str) -> Guards:
    """Return the guards that say which variables of the same scope are false where this one is true."""
    number = context.scope.owner(name).number
    own = _known(context, number, name)
    if own is None:
        return ()
    found = []
    for other in context.conditions.flags[number]:
        ways = _known(context, number, other) if other != name else None
        if ways and all(_exclude(mine, theirs) for mine in own for theirs in ways):
            version = version_of(other, number, context.rebindings.get((number, other), 0))
            found.append((" ".join([other, *version]), False))
    return tuple(found)


def version_of(name: str, number: int, times: int) -> list[str]:
    """Return what tells a name in a condition from the same one of another scope, or before it was bound anew.

    Args:
        name: the name.
        number: that of its scope; 0 for the module that is run.
        times: how often it has been bound.
    """
    return [f"{name}@{number}#{times}"] if number or times > 1 else []


def _known(context: Context, number: int, name: str) -> Ways | None:
    times, ways = context.conditions.flags.get(number, {}).get(name, (-1, ()))
    return ways if times == context.rebindings.get((number, name), 0) else None


def _ways_of(context: Context, name: str) -> Ways:
    value = context.scope.lookup(name)
    if isinstance(value, Const):
        return ((),) if value.value else ()
    known = _known(context, context.scope.owner(name).number, name)
    return ((),) if known is None else known


def _exclude(left: Guards, right: Guards) -> bool:
    held = set(left)
    return any((name, not outcome) in held for name, outcome in right)
