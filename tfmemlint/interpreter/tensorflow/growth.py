"""``set_memory_growth``."""

from __future__ import annotations

import ast
from dataclasses import replace

from tfmemlint.interpreter.context import Context
from tfmemlint.interpreter.operations.guards import guards_of
from tfmemlint.interpreter.operations.in_force import (
    allows_growth_by_env,
    is_apart,
    is_refused,
    late_effect,
    setting_in_force,
)
from tfmemlint.interpreter.operations.starting import start_runtime
from tfmemlint.interpreter.program import Call
from tfmemlint.interpreter.registry import Invocation, models, outcome_of
from tfmemlint.interpreter.state import ANY, PART, ConfigEffect, Guards, Key, Setting, Tri, device_key
from tfmemlint.interpreter.values import EACH, UNKNOWN, Const, Device, Value
from tfmemlint.knowledge.functions import GROWTH_REFUSED, PHYSICAL_FIXED, SET_GROWTH


def _growth_outcome(context: Context, device: Value, enable: Value, on_where: Guards) -> ConfigEffect | None:
    state = context.here
    if state.max_gpus == 0:
        # There is none to set it for.
        return None
    key = device_key(device)
    limit = state.limit_of(key) or (_limit_of_one_gpu(context) if key == EACH else None)
    if limit is not None and not is_apart(context, limit):
        return ConfigEffect(
            "refused", "ValueError", GROWTH_REFUSED, key != ANY and limit.value != UNKNOWN, setting=limit.by
        )
    late = late_effect(context, PHYSICAL_FIXED, setting_in_force(context, state.growth, key), enable)
    if late is not None:
        return None if _completes_growth(context, device, enable) else late
    same = state.growth_of(key)
    if same is not None and same.value == enable != UNKNOWN and state.context.under(context.guards).has is Tri.YES:
        # It changes nothing: the earlier call is the one that counts.
        return None
    if allows_growth_by_env(state) or state.visible_gpus == ():
        return None
    others = [*state.limits.values(), *([state.cpu_split] if state.cpu_split is not None else [])]
    other = next(
        (setting for setting in others if not is_apart(context, setting) and not _excludes(setting, on_where)), None
    )
    if other is not None and enable != Const(False):
        return ConfigEffect("dropped", certain=other.value != UNKNOWN, setting=other.by)
    return None


def _limit_of_one_gpu(context: Context) -> Setting | None:
    """Return the logical devices of a single GPU, which a loop over all of them sets as well."""
    found = (setting for key, setting in context.here.limits.items() if isinstance(key, int))
    return next((setting for setting in found if setting.by is not None and setting.by.devices_loop is None), None)


def _completes_growth(context: Context, device: Value, enable: Value) -> bool:
    """True if a loop over the GPUs sets what some of them have already.

    If these are not all GPUs, the runtime has never started.
    """
    loop = next((enclosing for enclosing in reversed(context.loops) if enclosing.devices), None)
    if loop is None or not (isinstance(device, Device) and device.each) or context.here.visible is not None:
        return False
    here = context.span(loop.node)
    others = [
        setting for setting in context.here.growth.values() if setting.by is None or setting.by.devices_loop != here
    ]
    return bool(others) and all(setting.value == enable for setting in others)


def _apply_growth(context: Context, device: Value | None, enable: Value | None, call: Call) -> None:
    start_runtime(context, call.node or context.unit.tree, "listed", call.name, call.text)
    if is_refused(context, call):
        return
    key = device_key(device or UNKNOWN)
    setting = Setting(enable or UNKNOWN, call, on_where=_on_where(context, enable, call.node))
    before = context.here.growth.get(key)
    if key != EACH and before is not None and before.value == enable != UNKNOWN:
        # It is the earlier call that counts.
        return
    growth: dict[Key, Setting] = {**context.here.growth, key: setting}
    if key == EACH:
        growth = _growth_of_rest(context, setting, call)
    context.state = replace(context.here, growth=_together(growth))


def _on_where(context: Context, enable: Value | None, node: ast.AST | None) -> Guards:
    """Return the conditions that hold where growth is switched on, if a condition says whether it is:
    ``set_memory_growth(gpu, limit is None)``."""
    if isinstance(enable, Const) or not isinstance(node, ast.Call):
        return ()
    given = [keyword.value for keyword in node.keywords if keyword.arg == "enable"] or node.args[1:2]
    return guards_of(context, given[0], True) if given and not isinstance(given[0], ast.Starred) else ()


def _excludes(limit: Setting, on_where: Guards) -> bool:
    """Return True if logical devices are there only where growth is switched off."""
    guards = limit.by.guards if limit.by is not None else ()
    return any((test, not outcome) in guards for test, outcome in on_where)


def _together(growth: dict[Key, Setting]) -> dict[Key, Setting]:
    """Return the setting of all GPUs where the first ones and all others have the same: ``gpus[0]``, ``gpus[1:]``."""
    rest = next((key for key in growth if isinstance(key, str) and key.startswith("[") and key.endswith(":]")), "")
    first: set[Key] = set(range(int(rest[1:-2]))) if rest[1:-2].isdecimal() else set()
    if not first or growth.keys() not in ({*first, rest}, {EACH, rest}):
        return growth
    values = [setting.value for setting in growth.values()]
    sure = not any(setting.either for setting in growth.values()) and values[0] != UNKNOWN
    return {EACH: growth.get(EACH, growth[rest])} if sure and all(value == values[0] for value in values) else growth


def _growth_of_rest(context: Context, setting: Setting, call: Call) -> dict[Key, Setting]:
    """Return the growth settings after a later pass of a loop over all GPUs, which stands for all but the first."""
    before = context.here.growth
    first = before.get(0)
    if call.devices_loop is None or not call.repeated:
        return {EACH: setting}
    if any(f"{name} ".startswith(f"{test} ") for name, _ in call.guards for test in context.singling_out):
        # Of the later GPUs some come by here and some do not.
        return {**before, PART: setting}
    if first is None and EACH not in before:
        # The first pass has left its GPU out.
        return {**before, "some": setting}
    if first is not None and not first.either and first.by is not None and first.by.span != call.span:
        # Another line has set the first one, in its own way perhaps.
        return {EACH: setting} if first.value == setting.value else {EACH: setting, 0: first}
    return {EACH: setting}


@outcome_of(SET_GROWTH)
def check_growth(context: Context, call: Invocation) -> ConfigEffect | None:
    enable = call.argument(1, "enable") or UNKNOWN
    on_where = _on_where(context, enable, call.node)
    return _growth_outcome(context, call.argument(0, "device") or UNKNOWN, enable, on_where)


@models(SET_GROWTH)
def set_memory_growth(context: Context, call: Invocation) -> Value:
    _apply_growth(context, call.argument(0, "device"), call.argument(1, "enable"), call.event)
    return Const(None)
