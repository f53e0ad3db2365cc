"""The calls that configure TensorFlow, and what it does with them: its checks in ``tensorflow/python/eager/context.py``
are followed, in their order."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from tfmemlint.interpreter.context import LONGEST_UNROLLED
from tfmemlint.interpreter.program import Call
from tfmemlint.interpreter.protos import Protos
from tfmemlint.interpreter.state import ANY, ConfigEffect, Key, Phase, Setting, State, Tri
from tfmemlint.interpreter.values import EACH, UNKNOWN, Const, Device, Devices, Limit, Seq, Value
from tfmemlint.knowledge import wishes
from tfmemlint.knowledge.functions import (
    GROWTH_REFUSED,
    PHYSICAL_FIXED,
    SET_GROWTH,
    SET_LOGICAL,
    SET_THREADS,
    SET_VISIBLE,
    VIRTUAL_FIXED,
    VISIBLE_FIXED,
)
from tfmemlint.model.intent import Wish


class Configuring(Protos):
    """What is asked of the configuration, and what comes of it."""

    def _outcome(self, name: str, values: list[Value], keywords: dict[str, Value]) -> ConfigEffect | None:
        """What TensorFlow does with a configuring call instead of what was asked, if anything."""

        def arg(position: int, keyword: str) -> Value:
            return keywords.get(keyword, values[position] if position < len(values) else UNKNOWN)

        if name == SET_GROWTH:
            return self._growth_outcome(arg(0, "device"), arg(1, "enable"))
        if name in SET_LOGICAL:
            key = device_key(arg(0, "device"))
            wanted = arg(1, "logical_devices")
            if isinstance(arg(0, "device"), Device) and arg(0, "device").type == "CPU":  # type: ignore[union-attr]
                return self._late(VIRTUAL_FIXED, self.here.cpu_split, wanted) or self._void_growth(wanted)
            in_force = self._in_force(self.here.limits, key)
            return self._late(VIRTUAL_FIXED, in_force, wanted) or self._void_growth(wanted)
        if name in SET_VISIBLE:
            kind = arg(1, "device_type")
            if kind == Const("CPU") or self._shows_what_is_shown(arg(0, "devices"), kind):
                return None
            return self._visible_outcome(arg(0, "devices"))
        if name in SET_THREADS:
            return self._threads_outcome(name, arg(0, "num_threads"))
        made_up = wishes.wish_of(name)
        if made_up is not None and made_up.wish in (Wish.GROWTH, Wish.LIMIT, Wish.FRACTION):
            return self._late(PHYSICAL_FIXED if made_up.wish is Wish.GROWTH else VIRTUAL_FIXED, None, UNKNOWN)
        return None

    def _threads_outcome(self, name: str, wanted: Value) -> ConfigEffect | None:
        """Whether a number of threads comes too late. Only the eager context refuses it: what the devices alone make of
        it is not looked at. At first none is in force, so even 0, which means the default, is another value then."""
        if wanted == Const(None):
            return None
        in_force = self.here.threading.get(name)
        if in_force is None and ANY in self.here.growth and self.here.growth[ANY].by is None:
            # Code that could not be followed may have set it.
            in_force = Setting(UNKNOWN)
        late = self._late(SET_THREADS[name], in_force, wanted)
        return late if late is not None and late.kind == "late" else None

    def _shows_what_is_shown(self, devices: Value, kind: Value) -> bool:
        """Whether all GPUs are to be visible where all of them are: accepted at any time."""
        if self.here.visible is not None or not isinstance(devices, (Device, Devices)) or devices.kind != "physical":
            return False
        if kind != Const("GPU"):
            return isinstance(devices, Devices) and devices.whole and devices.type is None
        return devices.type == "GPU" and (self.here.one_gpu or (isinstance(devices, Devices) and devices.whole))

    def _visible_outcome(self, devices: Value) -> ConfigEffect | None:
        """Whether a list of visible GPUs comes too late. What hides some of the GPUs, but not the first, hides nothing
        where there is only one: it is what is in force already then, which is accepted."""
        in_force = self._visible_in_force()
        late = self._late(VISIBLE_FIXED, in_force, _as_shown(devices))
        if late is None or late.kind != "late" or not late.certain:
            return late
        shown = in_force.value if in_force is not None else Devices("physical", "GPU")
        if self.here.min_gpus > 1 or _differ_on_one_gpu(shown, _as_shown(devices)):
            return late
        return replace(late, certain=False, of_many=True)

    def _visible_in_force(self) -> Setting | None:
        """The last ``set_visible_devices``, with its value in the form that values are compared in."""
        visible = self.here.visible
        if visible is None:
            return Setting(UNKNOWN) if ANY in self.here.growth and self.here.growth[ANY].by is None else None
        ways = tuple(replace(one, value=_as_shown(one.value)) if one is not None else None for one in visible.either)
        return Setting(_as_shown(visible.value), visible.by, ways)

    def _shown(self, listed: Devices) -> Value:
        """What ``get_visible_devices`` returns."""
        visible = self.here.visible
        if visible is None or listed.type != "GPU":
            return listed
        value = _as_shown(visible.value)
        return value if isinstance(value, Seq) else replace(listed, whole=False)

    def _late(self, message: str, in_force: Setting | None, wanted: Value) -> ConfigEffect | None:
        """The runtime has started: a value that differs from the one in force is refused, or comes to nothing."""
        state = self.here
        if in_force is not None and wanted != UNKNOWN and in_force.value == wanted:
            return None
        context = state.context.under(self.guards)
        several = any(loop.devices and loop.repeated for loop in self.loops)
        if context.has in (Tri.YES, Tri.MAYBE):
            differs = self._differs(in_force, wanted, context)
            if differs is None:
                # The same value may be in force already; TensorFlow accepts that in silence.
                return None
            certain = differs and context.has is Tri.YES and not state.entry_unknown and not several
            before = in_force.by if in_force is not None else None
            return ConfigEffect("late", "RuntimeError", message, certain, context.by, setting=before, several=several)
        allocator = state.allocator.under(self.guards)
        if allocator.has in (Tri.YES, Tri.MAYBE):
            made = allocator.by.state if allocator.by is not None else state
            if message == PHYSICAL_FIXED and _allows_growth_by_env(made):
                return None
            return ConfigEffect(
                "lost", "", "", allocator.has is Tri.YES and not state.entry_unknown, allocator.by, several=several
            )
        return None

    def _differs(self, in_force: Setting | None, wanted: Value, context: Phase) -> bool | None:
        """Whether another value than the one in force is wanted: on every way (True) on which the runtime has started,
        or on some (False). None where there may be no such way."""
        ways = in_force.ways if in_force is not None else (None,)
        if len(ways) == 1:
            return None if ways[0] is not None and UNKNOWN in (wanted, ways[0].value) else True
        here = (*self.guards, *(context.guards or ()))
        setters = [one.by.guards for one in ways if one is not None and one.by is not None and one.by.guards]
        found: set[bool | None] = set()
        for one in ways:
            if one is None:
                if any(set(guards) <= set(here) for guards in setters):
                    # Where the runtime has started it was set as well.
                    continue
                found.add(True)
            elif not any((text, not outcome) in here for text, outcome in (one.by.guards if one.by else ())):
                found.add(None if UNKNOWN in (wanted, one.value) else one.value != wanted)
        if found == {True}:
            return True
        known = context.has is Tri.YES or bool(context.guards)
        return False if True in found and known else None

    def _growth_outcome(self, device: Value, enable: Value) -> ConfigEffect | None:
        state = self.here
        if state.max_gpus == 0:
            # There is none to set it for.
            return None
        key = device_key(device)
        limit = state.limit_of(key) or (self._limit_of_one() if key == EACH else None)
        if limit is not None and not self._apart(limit):
            return ConfigEffect(
                "refused", "ValueError", GROWTH_REFUSED, key != ANY and limit.value != UNKNOWN, setting=limit.by
            )
        late = self._late(PHYSICAL_FIXED, self._in_force(state.growth, key), enable)
        if late is not None:
            return None if self._completes(device, enable) else late
        same = state.growth_of(key)
        if same is not None and same.value == enable != UNKNOWN and state.context.under(self.guards).has is Tri.YES:
            # It changes nothing: the earlier call is the one that counts.
            return None
        if _allows_growth_by_env(state) or state.visible_gpus == ():
            return None
        others = [*state.limits.values(), *([state.cpu_split] if state.cpu_split is not None else [])]
        other = next((one for one in others if not self._apart(one)), None)
        if other is not None and enable != Const(False):
            return ConfigEffect("dropped", certain=other.value != UNKNOWN, setting=other.by)
        return None

    def _in_force(self, table: Mapping[Key, Setting], key: Key) -> Setting | None:
        """What is in force for a GPU; one that goes by another name may be the same."""
        found = table.get(key) or table.get(EACH)
        if found is not None:
            return found
        if ANY in self.here.growth and self.here.growth[ANY].by is None:
            # Code that could not be followed may have set anything.
            return Setting(UNKNOWN)
        if key == EACH:
            return None
        same = [one for other, one in table.items() if not (_is_number(key) and _is_number(other))]
        return Setting(UNKNOWN, same[0].by, (None, *same)) if same else None

    def _limit_of_one(self) -> Setting | None:
        """The logical devices of a single GPU, which a loop over all of them comes by as well."""
        found = (one for key, one in self.here.limits.items() if isinstance(key, int))
        return next((one for one in found if one.by is not None and one.by.devices_loop is None), None)

    def _completes(self, device: Value, enable: Value) -> bool:
        """Whether a loop over the GPUs sets what some of them have already: if that is not all of them, the runtime
        has never started."""
        loop = next((one for one in reversed(self.loops) if one.devices), None)
        if loop is None or not (isinstance(device, Device) and device.each) or self.here.visible is not None:
            return False
        here = self.span(loop.node)
        others = [one for one in self.here.growth.values() if one.by is None or one.by.devices_loop != here]
        return bool(others) and all(one.value == enable for one in others)

    def _void_growth(self, wanted: Value) -> ConfigEffect | None:
        """Logical devices make the growth void that was set before, on every GPU; what isn't a list is refused."""
        if isinstance(wanted, (Limit, Const)):
            return None
        if _allows_growth_by_env(self.here) or self.here.visible_gpus == ():
            return None
        for setting in self.here.growth.values():
            if setting.value != Const(False) and not self._apart(setting):
                return ConfigEffect("drops", certain=setting.value == Const(True), setting=setting.by)
        return None

    def _apart(self, setting: Setting) -> bool:
        """Whether a setting was made under conditions that exclude those that hold here."""
        guards = setting.by.guards if setting.by is not None else ()
        return any((text, not outcome) in self.guards for text, outcome in guards)

    def _is_refused(self, call: Call) -> bool:
        """Whether a configuring call raises for sure, and so changes nothing."""
        outcome = call.effect
        if outcome is None or outcome.kind not in ("late", "refused"):
            return False
        caught = self.throw(outcome.exception) if outcome.exception else False
        if outcome.certain and caught:
            # What stands behind it in the block is not reached.
            self.state = None
            return True
        if outcome.of_many:
            # It changes nothing, or is refused.
            return True
        if outcome.several and self.here.context.under(self.guards).has is Tri.YES:
            # Unless it is the loop itself that starts the runtime: it goes for all GPUs, whatever becomes of it.
            own = outcome.cause is not None and outcome.cause.devices_loop == call.devices_loop
            settings = (*self.here.growth.values(), *self.here.limits.values())
            passed = any(one.by is not None and one.by.span == call.span for one in settings)
            return not own and not passed and not self.here.entry_unknown
        return outcome.certain

    def _set_growth(self, device: Value | None, enable: Value | None, call: Call) -> None:
        self.start(call.node or self.unit.tree, "listed", call.name, call.text)
        if self._is_refused(call):
            return
        key = device_key(device or UNKNOWN)
        setting = Setting(enable or UNKNOWN, call)
        before = self.here.growth.get(key)
        if key != EACH and before is not None and before.value == enable != UNKNOWN:
            # It is the earlier call that counts.
            return
        growth: dict[Key, Setting] = {EACH: setting} if key == EACH else {**self.here.growth, key: setting}
        self.state = replace(self.here, growth=growth)

    def _set_logical(self, device: Value | None, logical: Value | None, call: Call) -> None:
        self.start(call.node or self.unit.tree, "listed", call.name, call.text)
        if self._is_refused(call) or isinstance(logical, (Limit, Const)):
            # One that isn't a list is refused as well.
            return
        setting = Setting(logical or UNKNOWN, call)
        if isinstance(device, Device) and device.type == "CPU":
            self.state = replace(self.here, cpu_split=setting)
            return
        key = device_key(device or UNKNOWN)
        limits: dict[Key, Setting] = {EACH: setting} if key == EACH else {**self.here.limits, key: setting}
        self.state = replace(self.here, limits=limits)

    def _set_visible(self, devices: Value | None, device_type: Value | None, call: Call) -> None:
        self.start(call.node or self.unit.tree, "listed", call.name, call.text)
        if not self._is_refused(call) and device_type != Const("CPU"):
            known = isinstance(devices, Devices) and devices.first is not None
            self.state = replace(
                self.here, visible=Setting(_as_shown(devices) if known and devices else devices or UNKNOWN, call)
            )


def device_key(value: Value) -> Key:
    """A device's place in a table of settings."""
    if isinstance(value, Device) and value.kind == "physical":
        if value.index is None:
            return ANY
        return value.index
    return ANY


def _is_number(key: Key) -> bool:
    return isinstance(key, int) and key >= 0


def _as_shown(devices: Value) -> Value:
    """What ``set_visible_devices`` makes of its argument, one device being a list of one; UNKNOWN for a part of the
    GPUs, which may be equal to another part."""
    match devices:
        case Device():
            return Seq((devices,))
        case Devices(kind, type_, False, first=int(first)) if first <= LONGEST_UNROLLED:
            return Seq(tuple(Device(kind, type_, number) for number in range(first)))
        case Devices(whole=False):
            return UNKNOWN
        case Seq(items):
            return Seq(items)
        case _:
            return devices


def _differ_on_one_gpu(one: Value, other: Value) -> bool:
    """Whether two lists of visible GPUs differ where there is only one GPU, as far as the program gets there."""
    left, right = _on_one_gpu(one), _on_one_gpu(other)
    return left is not None and right is not None and left != right


def _on_one_gpu(shown: Value) -> int | None:
    """How many GPUs a list shows where there is one; -1 where asking for them fails there; None where that can't be
    told."""
    match shown:
        case Devices(kind="physical", type="GPU", whole=True):
            return 1
        case Seq(items):
            if not all(isinstance(one, Device) and one.type == "GPU" for one in items):
                return None
            numbers = [one.index for one in items if isinstance(one, Device)]
            if any(isinstance(number, int) and number not in (0, -1) for number in numbers):
                return -1
            known = all(isinstance(number, (int, str)) and number in (0, -1, EACH) for number in numbers)
            return (len(numbers) if known else None) if numbers else 0
        case _:
            return None


def _allows_growth_by_env(state: State) -> bool:
    """Whether ``TF_FORCE_GPU_ALLOW_GROWTH=true`` made the devices grow whatever their options."""
    return state.env.get("TF_FORCE_GPU_ALLOW_GROWTH") == Const("true")
