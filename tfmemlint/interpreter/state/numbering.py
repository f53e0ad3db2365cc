"""Numbers of GPUs: the machine's, those that TensorFlow lists, those that are visible, and the logical ones.

``CUDA_VISIBLE_DEVICES`` numbers the machine's GPUs anew: with ``"2"`` the machine's GPU 2 is physical GPU 0. Of these
``set_visible_devices`` leaves some, in the order of their numbers, each of which is one logical GPU, or as many as it
is split into: with physical GPU 1 visible alone, ``GPU:0`` is the only logical GPU. Seen on TensorFlow 2.4 to 2.21.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from tfmemlint.interpreter.state.keys import Guards, Key
from tfmemlint.interpreter.state.model import Call, Setting, State
from tfmemlint.interpreter.values import EACH, Const, Device, Devices, Seq, Value
from tfmemlint.knowledge.variables import hides_all, shown
from tfmemlint.model.records import record

OF_CONTAINER = "GPUs of the container"
"""The key among the environment variables of a state, a name that none has, of what a container starts with."""


@record(frozen=True, slots=True)
class LogicalGpus:
    """The logical GPUs at one point of a program, of which there are at most so many.

    Attributes:
        count: how many there are at most. starts: by the number of a physical GPU, that of its first logical GPU.
        by: the call that leaves no more; None if that is the environment, or a condition.
    """

    count: int
    starts: dict[int, int]
    by: Call | None


def machine_gpus(state: State) -> tuple[str, ...] | None:
    """Return the machine's GPUs that ``CUDA_VISIBLE_DEVICES``, as the program sets it, leaves; None if not known."""
    value = state.cuda_visible_devices
    if not isinstance(value, Const) or not isinstance(value.value, str):
        return None
    return () if hides_all(value.value) else shown(value.value)


def container_gpus(state: State) -> tuple[str, ...] | None:
    """Return the machine's GPUs that the container of the program has; None if it is in none, or they aren't known.

    ``NVIDIA_VISIBLE_DEVICES`` is read when a container starts: a program that sets it itself changes nothing.
    """
    value = state.env.get(OF_CONTAINER)
    text = value.value if isinstance(value, Const) else None
    named = [part.strip() for part in text.split(",")] if isinstance(text, str) else []
    return tuple(named) if named and all(map(str.isdecimal, named)) else None


def most_physical(state: State) -> int | None:
    """Return how many physical GPUs TensorFlow lists at most."""
    listed = machine_gpus(state)
    bounds = [bound for bound in (state.max_gpus, None if listed is None else len(listed)) if bound is not None]
    return min(bounds) if bounds else None


def visible_gpus(state: State) -> Sequence[int | None] | None:
    """Return the numbers of the visible physical GPUs, None for one whose number isn't known; None if not known."""
    if state.visible is not None and not state.visible.either:
        known = _numbers(state.visible.value)
        if known is not None:
            return known
    most = most_physical(state)
    if most is not None and hides_some(state) and state.visible is not None:
        shown = state.visible.value
        return range(shown.skip, most - shown.last) if isinstance(shown, Devices) else None
    return None if most is None else range(most)


def _numbers(value: Value) -> Sequence[int | None] | None:
    match value:
        case Device(kind="physical", type="GPU", index=index):
            return [index if isinstance(index, int) and index >= 0 else None]
        case Devices(kind="physical", type="GPU", whole=False, numbers=range() as numbers):
            return numbers
        case Devices(kind="physical", type="GPU", most=int() as most):
            return [None] * most
        case Seq(items) if all(isinstance(item, Device) and item.type == "GPU" for item in items):
            found = [_numbers(item) for item in items]
            parts = [part[0] for part in found if part is not None]
            if None in parts or len(parts) != len(items):
                return [None] * len(items)
            return sorted({number for number in parts if number is not None})
        case _:
            return None


def logical_gpus(state: State) -> LogicalGpus | None:
    """Return the logical GPUs that there are at most; None if that isn't known."""
    visible = visible_gpus(state)
    if visible is None or (state.limits and any(not isinstance(key, int) and key != EACH for key in state.limits)):
        return None
    count, starts = 0, {}
    by = state.visible.by if state.visible is not None else None
    for number in visible:
        pieces = _pieces(state, number)
        if pieces is None:
            return None
        if number is not None:
            starts[number] = count
        count += pieces
    return LogicalGpus(count, starts, by)


def _pieces(state: State, number: int | None) -> int | None:
    """Return how many logical devices a physical GPU is split into; None if that isn't known."""
    if not state.limits:
        return 1
    setting = state.limits.get(EACH) if number is None else state.limit_of(number)
    if setting is None:
        return None if number is None else 1
    value = setting.value
    return len(value.items) if isinstance(value, Seq) and not setting.either else None


def hides_some(state: State) -> bool:
    """True if ``set_visible_devices`` hides a GPU, however many there are: all but ``gpus[1:]``, or ``gpus[:-1]``."""
    shown = state.visible.value if state.visible is not None else None
    return isinstance(shown, Devices) and shown.kind == "physical" and shown.type == "GPU" and shown.leaves_out


def is_growth_hidden(state: State) -> bool:
    """True if growth is set on GPUs that are not visible alone, so that the visible ones have none."""
    return _are_hidden(state, state.growth)


def are_limits_hidden(state: State) -> bool:
    """True if only GPUs that are not visible are limited."""
    return _are_hidden(state, state.limits)


def _are_hidden(state: State, settings: Mapping[Key, Setting]) -> bool:
    """True if there are settings, all of GPUs that are not visible, and others are.

    ``gpus[-1]`` is another GPU than ``gpus[0]`` wherever there is more than one.
    """
    if state.visible is None or state.visible.either or EACH in settings:
        return False
    shows = state.visible.value
    visible = _numbers_from_either_end(shows)
    numbers = [key for key in settings if isinstance(key, int)]
    if not numbers or len(numbers) != len(settings):
        return False
    if isinstance(shows, Devices) and shows.skip and visible is None:
        return all(0 <= key < shows.skip for key in numbers)
    if isinstance(shows, Device) and isinstance(shows.index, str) and shows.index.replace(".", "_").isidentifier():
        # Of one that a user chooses: whatever is chosen, it is meant for that.
        return shows.kind == "physical" and not shows.each
    return bool(visible) and all(
        number is not None and _are_two_gpus(state, number, key) for number in visible or () for key in numbers
    )


def _numbers_from_either_end(value: Value) -> Sequence[int | None] | None:
    """Return the numbers of GPUs, negative for those that are counted from the last one; None if not known."""
    match value:
        case Device(kind="physical", type="GPU", index=int() as index):
            return [index]
        case Seq(items) if all(isinstance(item, Device) and item.kind == "physical" for item in items):
            return [item.index if isinstance(item.index, int) else None for item in items if isinstance(item, Device)]
        case _:
            return _numbers(value)


def _are_two_gpus(state: State, number: int, other: int) -> bool:
    """True if two numbers are those of different GPUs, wherever there is more than one."""
    if (number < 0) is (other < 0):
        return number != other
    from_first, from_last = max(number, other), -min(number, other)
    return (from_first, from_last) == (0, 1) or state.min_gpus > from_first + from_last


def with_enough_gpus(state: State) -> State:
    """Return a state as it is on a machine with as many GPUs as ``set_visible_devices`` asks for by ``len(gpus)``."""
    if state.visible is None or not state.visible.either:
        return state
    ways = [way for way in state.visible.ways if way is not None and way.by is not None]
    if len(ways) != 1 or ways[0].by is None or not ways[0].by.guards:
        return state
    counted = all("len(" in text and outcome for text, outcome in ways[0].by.guards)
    return replace(state, visible=ways[0]) if counted else state


def state_where(state: State, guards: Guards) -> State:
    """Return a state as it is where conditions hold: of the visible GPUs on several paths, those of the path there."""
    if state.visible is None or not state.visible.either or not guards:
        return state
    ways = [way for way in state.visible.ways if way is not None and way.by is not None and way.by.guards == guards]
    return replace(state, visible=ways[0]) if len(ways) == 1 else state
