"""``set_logical_device_configuration``, and the configurations that it gets."""

from __future__ import annotations

import ast
from dataclasses import replace
from functools import partial

from tfmemlint.interpreter.context import Context
from tfmemlint.interpreter.operations.in_force import (
    allows_growth_by_env,
    is_apart,
    is_refused,
    late_effect,
    setting_in_force,
)
from tfmemlint.interpreter.operations.parts_of_memory import part_of
from tfmemlint.interpreter.operations.starting import start_runtime
from tfmemlint.interpreter.program import Call
from tfmemlint.interpreter.registry import Invocation, models, outcome_of
from tfmemlint.interpreter.state import ANY, ConfigEffect, Key, Setting, device_key
from tfmemlint.interpreter.values import EACH, UNKNOWN, Const, Device, Limit, Seq, Value
from tfmemlint.knowledge.functions import LOGICAL_CONFIGURATION, SET_LOGICAL, VIRTUAL_FIXED
from tfmemlint.knowledge.signatures import parameters


def _voided_growth(context: Context, wanted: Value) -> ConfigEffect | None:
    """Return the growth that logical devices make void, on every GPU; what isn't a list is refused."""
    if isinstance(wanted, (Limit, Const)):
        return None
    if allows_growth_by_env(context.here) or context.here.visible_gpus == ():
        return None
    for setting in context.here.growth.values():
        if any(map(partial(_may_be_on, context), setting.ways)) and not is_apart(context, setting):
            return ConfigEffect("drops", certain=setting.value == Const(True), setting=setting.by)
    return None


def _may_be_on(context: Context, growth: Setting | None) -> bool:
    """True if growth may be switched on under the conditions that hold here."""
    if growth is None or growth.value == Const(False):
        return False
    return not any((test, not outcome) in context.guards for test, outcome in growth.on_where)


def _apply_logical(context: Context, device: Value | None, logical: Value | None, call: Call) -> None:
    start_runtime(context, call.node or context.unit.tree, "listed", call.name, call.text)
    if is_refused(context, call) or isinstance(logical, (Limit, Const)):
        # One that isn't a list is refused as well.
        return
    setting = Setting(logical or UNKNOWN, call)
    if isinstance(device, Device) and device.type == "CPU":
        context.state = replace(context.here, cpu_split=setting)
        return
    key = device_key(device or UNKNOWN)
    limits: dict[Key, Setting] = {EACH: setting} if key == EACH else {**context.here.limits, key: setting}
    context.state = replace(context.here, limits=limits)


def _is_set_by(setting: Setting, node: ast.AST) -> bool:
    ways = (setting, *(way for way in setting.ways if way is not None))
    return any(way.by is not None and way.by.node is node for way in ways)


def _may_be_as(present: Setting, wanted: Value) -> bool:
    """True if limits that are not known are set where there are as many that are not known."""
    now = present.value
    if not isinstance(now, Seq) or not isinstance(wanted, Seq) or len(now.items) != len(wanted.items):
        return now == UNKNOWN and wanted == UNKNOWN
    pairs = zip(now.items, wanted.items, strict=True)
    return all(old == new or (_has_unknown_limit(old) and _has_unknown_limit(new)) for old, new in pairs)


def _has_unknown_limit(part: Value) -> bool:
    return part == UNKNOWN or (isinstance(part, Limit) and part.value == UNKNOWN)


@outcome_of(*SET_LOGICAL)
def check_logical(context: Context, call: Invocation) -> ConfigEffect | None:
    device, wanted = call.argument(0, "device") or UNKNOWN, call.argument(1, "logical_devices") or UNKNOWN
    if isinstance(device, Device) and device.type == "CPU":
        present = context.here.cpu_split
    else:
        present = setting_in_force(context, context.here.limits, device_key(device))
    if device_key(device) == ANY and any(_is_set_by(setting, call.node) for setting in context.here.limits.values()):
        # The same statement once more, for GPUs that are not known: TensorFlow accepts the limits that are in force.
        return None
    repeats = any(loop.repeated for loop in context.loops)
    if present is not None and not repeats and _is_set_by(present, call.node) and _may_be_as(present, wanted):
        # A function that configures is called again, with limits that are not known, but may well be those in force.
        return None
    return late_effect(context, VIRTUAL_FIXED, present, wanted) or _voided_growth(context, wanted)


@models(*SET_LOGICAL)
def set_logical_devices(context: Context, call: Invocation) -> Value:
    _apply_logical(context, call.argument(0, "device"), call.argument(1, "logical_devices"), call.event)
    return Const(None)


@models(*LOGICAL_CONFIGURATION)
def logical_device_configuration(context: Context, call: Invocation) -> Value:
    hidden = call.event.has_star or not call.keywords.keys() <= set(parameters(call.name, context.target) or ())
    limit = UNKNOWN if hidden else call.argument(0, "memory_limit")
    return Limit(limit, part_of(context, limit))
