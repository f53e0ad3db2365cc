"""Variables that branches set to constants: which of them are never true together.

``limit = growth = False``, then ``if windows: limit = True`` and ``else: growth = True``: what ``if limit:`` does and
what ``if growth:`` does is never done in one run.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence
from typing import TYPE_CHECKING

from tfmemlint.facts.syntax import assigned_names
from tfmemlint.interpreter.frames import Ways
from tfmemlint.interpreter.values import Const

if TYPE_CHECKING:
    from tfmemlint.interpreter.context import Context
    from tfmemlint.interpreter.state import Guards

MAX_WAYS = 8
"""Ways on which a variable is true beyond which they are not told apart."""


def flags_set(context: Context, node: ast.If) -> frozenset[str]:
    """Return the names that the branches of a statement bind."""
    return frozenset(assigned_names([*node.body, *node.orelse], expressions=False))


def ways_here(context: Context, names: frozenset[str], guards: Guards) -> dict[str, Ways]:
    """Return, for each name, the ways to the end of a branch on which it is true; none for a branch that is left."""
    if context.state is None:
        return dict.fromkeys(names, ())
    return {name: tuple((*guards, *way) for way in _ways_of(context, name)) for name in names}


def join_flags(context: Context, names: frozenset[str], ways: Sequence[dict[str, Ways]]) -> None:
    """Note the ways on which variables are true behind branches."""
    for name in names:
        every = tuple(way for each in ways for way in each[name])
        key = context.scope.owner(name).number, name
        if any(way == () for way in every) or len(every) > MAX_WAYS or isinstance(context.scope.lookup(name), Const):
            context.conditions.flags.pop(key, None)
        else:
            context.conditions.flags[key] = context.rebindings.get(key, 0), every


def never_with(context: Context, name: str) -> Guards:
    """Return the guards that say which variables of the same scope are false where this one is true."""
    owner = context.scope.owner(name)
    own = _known(context, (owner.number, name))
    if own is None:
        return ()
    found = []
    for number, other in list(context.conditions.flags):
        ways = _known(context, (number, other)) if number == owner.number and other != name else None
        if ways and all(_exclude(mine, theirs) for mine in own for theirs in ways):
            found.append((_guard(context, number, other), False))
    return tuple(found)


def _known(context: Context, key: tuple[int, str]) -> Ways | None:
    times, ways = context.conditions.flags.get(key, (-1, ()))
    return ways if times == context.rebindings.get(key, 0) else None


def _ways_of(context: Context, name: str) -> Ways:
    value = context.scope.lookup(name)
    if isinstance(value, Const):
        return ((),) if value.value else ()
    known = _known(context, (context.scope.owner(name).number, name))
    return ((),) if known is None else known


def _exclude(left: Guards, right: Guards) -> bool:
    held = set(left)
    return any((name, not outcome) in held for name, outcome in right)


def _guard(context: Context, number: int, name: str) -> str:
    """Return the name of the guard that a plain name is, as `guards_of` makes it."""
    times = context.rebindings.get((number, name), 0)
    return f"{name} {name}@{number}#{times}" if number or times > 1 else name
