"""The configuration in force, and whether a configuring call still takes effect."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from tfmemlint.interpreter.context import Context
from tfmemlint.interpreter.limits import MAX_ITEMS_UNROLLED
from tfmemlint.interpreter.operations.exceptions import throw
from tfmemlint.interpreter.program import Call
from tfmemlint.interpreter.state import ANY, ConfigEffect, Key, Phase, Setting, State, Tri
from tfmemlint.interpreter.values import EACH, UNKNOWN, Choice, Const, Device, Devices, Seq, Value
from tfmemlint.knowledge.functions import PHYSICAL_FIXED


def late_effect(context: Context, message: str, in_force: Setting | None, wanted: Value) -> ConfigEffect | None:
    """Return the effect of setting another value after the runtime has started; None if it is set in time."""
    state = context.here
    if in_force is not None and wanted != UNKNOWN and in_force.value == wanted:
        return None
    phase = state.context.under(context.guards)
    several = any(loop.devices and loop.repeated for loop in context.loops)
    if phase.has in (Tri.YES, Tri.MAYBE):
        differs = _differs_from_in_force(context, in_force, wanted, phase)
        if differs is None:
            # The same value may be in force already; TensorFlow accepts that in silence.
            return None
        certain = differs and phase.has is Tri.YES and not state.entry_unknown and not several
        before = in_force.by if in_force is not None else None
        return ConfigEffect("late", "RuntimeError", message, certain, phase.by, setting=before, several=several)
    allocator = state.allocator.under(context.guards)
    if allocator.has in (Tri.YES, Tri.MAYBE):
        made = allocator.by.state if allocator.by is not None else state
        if message == PHYSICAL_FIXED and allows_growth_by_env(made):
            return None
        return ConfigEffect(
            "lost", "", "", allocator.has is Tri.YES and not state.entry_unknown, allocator.by, several=several
        )
    return None


def _differs_from_in_force(context: Context, in_force: Setting | None, wanted: Value, phase: Phase) -> bool | None:
    """Return whether another value than the one in force is wanted.

    True on every path on which the runtime has started, False on some; None if there may be no such path.
    """
    ways = in_force.ways if in_force is not None else (None,)
    if len(ways) == 1:
        return None if ways[0] is not None and _may_be_the_same(ways[0].value, wanted) else True
    here = (*context.guards, *(phase.guards or ()))
    setters = [way.by.guards for way in ways if way is not None and way.by is not None and way.by.guards]
    again = bool(setters) and any(_is_set_here(context, way.by) for way in ways if way is not None and way.by)
    found: set[bool | None] = set()
    for way in ways:
        if way is None:
            if any(set(guards) <= set(here) for guards in setters):
                # Where the runtime has started it was set as well.
                continue
            # The same statement runs once more: a condition that it stands under now most likely held before, too.
            found.add(None if again else True)
        elif not any((text, not outcome) in here for text, outcome in (way.by.guards if way.by else ())):
            found.add(None if _may_be_the_same(way.value, wanted) else way.value != wanted)
    if found == {True}:
        return True
    known = phase.has is Tri.YES or bool(phase.guards)
    return False if True in found and known else None


def _may_be_the_same(value: Value, wanted: Value) -> bool:
    """Return True if it is not known whether two values differ: one of several may be the other."""
    if isinstance(value, Choice):
        return any(option in (UNKNOWN, wanted) for option in value.options)
    return UNKNOWN in (wanted, value)


def _is_set_here(context: Context, by: Call) -> bool:
    """Return True if an earlier call is of the statement that runs now."""
    statement = context.statement
    return (
        statement is not None
        and by.path == context.source.path
        and by.span.row in range(context.span(statement).row, context.span(statement).end_row + 1)
    )


def setting_in_force(context: Context, table: Mapping[Key, Setting], key: Key) -> Setting | None:
    """Return the setting in force for a GPU; one that goes by another name may be the same."""
    found = table.get(key) or table.get(EACH)
    if found is not None:
        return found
    if ANY in context.here.growth and context.here.growth[ANY].by is None:
        # Code that could not be followed may have set anything.
        return Setting(UNKNOWN)
    if key == EACH:
        return None
    same = [setting for other, setting in table.items() if not (_is_number(key) and _is_number(other))]
    return Setting(UNKNOWN, same[0].by, (None, *same)) if same else None


def is_apart(context: Context, setting: Setting) -> bool:
    """True if a setting was made under conditions that exclude those that hold here.

    What nothing calls is no part of the program whose module made the setting.
    """
    if setting.by is not None and context.here.entry_unknown and not setting.by.state.entry_unknown:
        return True
    guards = setting.by.guards if setting.by is not None else ()
    return any((text, not outcome) in context.guards for text, outcome in guards)


def is_refused(context: Context, call: Call) -> bool:
    """True if a configuring call raises for sure, and so changes nothing."""
    outcome = call.effect
    if outcome is None or outcome.kind not in ("late", "refused"):
        return False
    caught = throw(context, outcome.exception) if outcome.exception else False
    if outcome.certain and caught:
        # What stands behind it in the block is not reached.
        context.state = None
        return True
    if outcome.of_many:
        # It changes nothing, or is refused.
        return True
    if outcome.several and context.here.context.under(context.guards).has is Tri.YES:
        # Unless it is the loop itself that starts the runtime: it goes for all GPUs, whatever becomes of it.
        own = outcome.cause is not None and outcome.cause.devices_loop == call.devices_loop
        settings = (*context.here.growth.values(), *context.here.limits.values())
        passed = any(setting.by is not None and setting.by.span == call.span for setting in settings)
        return not own and not passed and not context.here.entry_unknown
    return outcome.certain


def _is_number(key: Key) -> bool:
    return isinstance(key, int) and key >= 0


def allows_growth_by_env(state: State) -> bool:
    """True if ``TF_FORCE_GPU_ALLOW_GROWTH=true`` lets the devices grow, whatever their options."""
    return state.env.get("TF_FORCE_GPU_ALLOW_GROWTH") == Const("true")


def shown_devices(context: Context, listed: Devices) -> Value:
    """Return what ``get_visible_devices`` returns."""
    visible = context.here.visible
    if visible is None or listed.type != "GPU":
        return listed
    value = as_visible(visible.value)
    return value if isinstance(value, Seq) else replace(listed, whole=False)


def as_visible(devices: Value) -> Value:
    """Return the argument of ``set_visible_devices`` in the form in which values are compared.

    One device is a list of one; a part of the GPUs is UNKNOWN, as it may be equal to another part.
    """
    match devices:
        case Device():
            return Seq((devices,))
        case Devices(kind, type_, False, numbers=range() as numbers) if len(numbers) <= MAX_ITEMS_UNROLLED:
            return Seq(tuple(Device(kind, type_, number) for number in numbers))
        case Devices(whole=False):
            return UNKNOWN
        case Seq(items):
            return Seq(items)
        case _:
            return devices
