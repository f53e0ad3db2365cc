"""Joins of states: what is so where two paths through the program meet."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from tfmemlint.interpreter.state.keys import ANY, PART, Guards, Key, Tri
from tfmemlint.interpreter.state.model import Phase, Setting, State
from tfmemlint.interpreter.values import EACH, UNKNOWN, Value, join

MOST_WAYS = 6
"""Paths whose settings are kept apart; where more meet, the setting in force isn't known."""


def join_phases(left: Phase, right: Phase, left_guard: Guards = (), right_guard: Guards = ()) -> Phase:
    """The phase where two ways meet; the guards are the conditions under which each way was taken."""
    pair = {left.has, right.has}
    if pair == {Tri.MAYBE} and (left.guards, left.by, left.more) != (right.guards, right.by, right.more):
        return _either(left, right, left_guard, right_guard)
    if left.has is right.has:
        return left
    if pair == {Tri.NO, Tri.UNKNOWN}:
        return Phase(Tri.UNKNOWN)
    if pair == {Tri.YES, Tri.MAYBE}:
        return _either(left, right, left_guard, right_guard)
    first, guard = (left, left_guard) if left.has in (Tri.YES, Tri.MAYBE) else (right, right_guard)
    ways = _ways(first, guard)
    return replace(ways[0], more=ways[1:]) if ways else Phase(Tri.MAYBE, first.by, None)


def _either(left: Phase, right: Phase, left_guard: Guards, right_guard: Guards) -> Phase:
    """The phase where it has happened on either way, or may have."""
    of_left, of_right = _ways(left, left_guard), _ways(right, right_guard)
    ways = tuple(dict.fromkeys((*of_left, *of_right)))
    if not of_left or not of_right or len(ways) > MOST_WAYS:
        return Phase(Tri.MAYBE, left.by, None)
    return replace(ways[0], more=ways[1:])


def _ways(phase: Phase, guard: Guards) -> tuple[Phase, ...]:
    """The ways on which it has happened, each with its conditions; none where they are not known."""
    if not guard and phase.has is Tri.YES:
        return ()
    found = [
        Phase(Tri.MAYBE, way.by, (*guard, *way.guards))
        for way in phase.ways
        if way.guards is not None and (guard or way.guards)
    ]
    return tuple(found) if len(found) == len(phase.ways) else ()


def join_states(left: State, right: State, left_guard: Guards = (), right_guard: Guards = ()) -> State:
    """The state where two ways meet."""
    if left is right:
        return left
    if (left.max_gpus == 0) is not (right.max_gpus == 0):
        # What is set for GPUs is moot where there are none: the other way decides.
        having = right if left.max_gpus == 0 else left
        left, right = (
            replace(
                way,
                growth=having.growth,
                limits=having.limits,
                visible=having.visible,
                cuda_visible_devices=having.cuda_visible_devices,
            )
            for way in (left, right)
        )
    return State(
        context=join_phases(left.context, right.context, left_guard, right_guard),
        allocator=join_phases(left.allocator, right.allocator, left_guard, right_guard),
        listed=join_phases(left.listed, right.listed, left_guard, right_guard),
        eager=left.eager if left.eager is right.eager else None,
        graphs=left.graphs,
        growth=_join_settings(left.growth, right.growth),
        limits=_join_settings(left.limits, right.limits),
        cpu_split=left.cpu_split or right.cpu_split,
        visible=_join_setting(left.visible, right.visible),
        threading=_join_table(left.threading, right.threading),
        env=_join_values(left.env, right.env),
        imported=_join_imported(left.imported, right.imported),
        cuda_visible_devices=left.cuda_visible_devices
        if left.cuda_visible_devices is right.cuda_visible_devices
        else join(left.cuda_visible_devices, right.cuda_visible_devices),
        entry_unknown=left.entry_unknown or right.entry_unknown,
        in_child_process=left.in_child_process or right.in_child_process,
        forked=left.forked or right.forked,
        min_gpus=min(left.min_gpus, right.min_gpus),
        max_gpus=None if left.max_gpus is None or right.max_gpus is None else max(left.max_gpus, right.max_gpus),
    )


def _join_setting(left: Setting | None, right: Setting | None) -> Setting | None:
    if left == right:
        return left
    ways = (left.ways if left is not None else (None,)) + (right.ways if right is not None else (None,))
    either = tuple(dict.fromkeys(ways)) if len(ways) <= MOST_WAYS else ()
    if left is None or right is None:
        return Setting(UNKNOWN, (left or right).by, either)  # type: ignore[union-attr]
    value = join(left.value, right.value)
    return Setting(value, left.by, either if value == UNKNOWN else ())


def _join_settings(left: Mapping[Key, Setting], right: Mapping[Key, Setting]) -> Mapping[Key, Setting]:
    if left == right:
        return left
    joined: dict[Key, Setting] = {}
    for key in [*left, *(key for key in right if key not in left)]:
        # What was set for all of them holds for each.
        mine, other = (None if key in (EACH, ANY) else table.get(EACH) for table in (left, right))
        setting = _join_setting(left.get(key, mine), right.get(key, other))
        if setting is not None:
            joined[key] = setting
    if PART in joined and None not in joined[PART].ways and 0 in joined:
        # Those that a condition singles out, and all others as well.
        rest = joined.pop(PART)
        return {EACH: rest} if joined[0].value == rest.value else {**joined, EACH: rest}
    return joined


def _join_table(left: Mapping[str, Setting], right: Mapping[str, Setting]) -> Mapping[str, Setting]:
    if left == right:
        return left
    joined = {
        key: _join_setting(left.get(key), right.get(key)) for key in [*left, *(key for key in right if key not in left)]
    }
    return {key: setting for key, setting in joined.items() if setting is not None}


def _join_values(left: Mapping[str, Value], right: Mapping[str, Value]) -> Mapping[str, Value]:
    if left == right:
        return left
    return {key: join(left.get(key), right.get(key)) for key in [*left, *(key for key in right if key not in left)]}


def _join_imported(left: Mapping[str, bool], right: Mapping[str, bool]) -> Mapping[str, bool]:
    if left is right or left == right:
        return left
    names = [*left, *(name for name in right if name not in left)]
    return {name: bool(left.get(name) and right.get(name)) for name in names}
