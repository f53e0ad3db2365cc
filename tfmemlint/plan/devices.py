"""What is in store for each GPU: the settings in force when the GPU devices are made, device by device."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace

from tfmemlint.interpreter.program import SessionMade
from tfmemlint.interpreter.state import ANY, Key, Setting, State
from tfmemlint.interpreter.values import EACH, Const, Device, Devices
from tfmemlint.model.finding import Span
from tfmemlint.plan.entry_run import Scene, listed_numbers, numbers_of
from tfmemlint.plan.memory import of_session, of_settings
from tfmemlint.plan.model import Device as Row
from tfmemlint.plan.model import Memory
from tfmemlint.rulekit.explain import written


def devices(scene: Scene, refused: frozenset[Span]) -> tuple[Row, ...]:
    """The GPUs that an entry point tells apart, and what TensorFlow does with the memory of each; ``refused`` are the
    calls that raise, and so set nothing."""
    state = _without(scene.in_force, refused)
    hidden = _hidden_by_variable(scene)
    if hidden is not None:
        return (Row("each GPU", None, Memory("none", "no GPU is visible", rows=(hidden,)), False, hidden),)
    session = scene.session if scene.configured else None
    rows = []
    for key, name in _keys(scene, state):
        visible, row = _visible(state, key) if session is None else _listed(session)
        if visible and row is None and listed_numbers(state) is not None:
            row = scene.env_row("CUDA_VISIBLE_DEVICES")
        if visible is False:
            memory = Memory("none", "hidden: nothing is taken", rows=() if row is None else (row,))
        elif session is not None:
            memory = of_session(session, scene)
        elif scene.divided is not None:
            by = scene.divided.span.row
            words = f"not known: line {by} makes the GPU devices on some ways, with options of its own"
            memory = Memory("unknown", words, rows=())
        else:
            memory = of_settings(scene, state, key)
        allocator = scene.env("TF_GPU_ALLOCATOR")
        chosen = allocator if isinstance(allocator, str) and visible is not False else ""
        chosen_row = scene.env_row("TF_GPU_ALLOCATOR") if chosen else None
        number = int(name.rpartition(" ")[2]) if re.fullmatch(r"GPU \d+", name) else None
        rows.append(Row(name, number, memory, visible, row, chosen, chosen_row))
    return tuple(rows)


def _keys(scene: Scene, state: State) -> Iterator[tuple[Key, str]]:
    """The GPUs to speak of: as many as are told, else those that the program names, and the others."""
    listed = listed_numbers(state)
    if scene.gpus is not None:
        count = scene.gpus if listed is None else sum(number < scene.gpus for number in listed)
        for number in range(count):
            from_end = number - count
            known = from_end in state.growth or from_end in state.limits
            yield from_end if known else number, f"GPU {number}"
        return
    named: list[Key] = [key for key in (*state.growth, *state.limits) if key != EACH]
    named.extend(number for number in _shown(state) or ())
    if listed is not None:
        named.extend(range(len(listed)))
    numbers = sorted({key for key in named if isinstance(key, int)}, key=lambda number: (number < 0, number))
    words = list(dict.fromkeys(key for key in named if isinstance(key, str)))
    for number in numbers:
        yield number, f"GPU {number}" if number >= 0 else "the last GPU" if number == -1 else f"GPU [{number}]"
    for word in words:
        yield word, _VAGUE.get(word) or f"GPU {written(word, 30)}"
    if not ((state.one_gpu or listed is not None) and named) and ANY not in words:
        yield EACH, "other GPUs" if named else "each GPU"


_VAGUE = {ANY: "a GPU that isn't known", "some": "some GPUs"}


def _without(state: State, refused: frozenset[Span]) -> State:
    """The state without the settings of these calls."""

    def stands(setting: Setting | None) -> bool:
        return setting is not None and (setting.by is None or setting.by.span not in refused)

    return replace(
        state,
        growth={key: setting for key, setting in state.growth.items() if stands(setting)},
        limits={key: setting for key, setting in state.limits.items() if stands(setting)},
        visible=state.visible if stands(state.visible) else None,
    )


def _listed(session: SessionMade) -> tuple[bool | None, int | None]:
    """Whether a session's options leave all GPUs visible."""
    listed = (session.fields or {}).get("gpu_options.visible_device_list", Const(""))
    return (True, None) if listed == Const("") else (None, session.span.row)


def _hidden_by_variable(scene: Scene) -> int | None:
    """The row that hides all GPUs by ``CUDA_VISIBLE_DEVICES``, set in time."""
    if scene.in_force.max_gpus != 0 or not isinstance(scene.in_force.cuda_visible_devices, Const):
        return None
    return scene.env_row("CUDA_VISIBLE_DEVICES")


def _shown(state: State) -> list[int] | None:
    """The numbers of the GPUs that ``set_visible_devices`` leaves, where they are known."""
    return numbers_of(state.visible.value) if state.visible is not None else None


def _visible(state: State, key: Key) -> tuple[bool | None, int | None]:
    """Whether ``set_visible_devices`` leaves a GPU visible, and the row that says so."""
    setting = state.visible
    if setting is None:
        return True, None
    row = setting.by.span.row if setting.by is not None else None
    value = setting.value
    if isinstance(value, Devices) and value.whole and value.type in ("GPU", None):
        return True, row
    if isinstance(value, Device) and value.index == key and key not in (None, ANY):
        return True, row
    numbers = _shown(state)
    if numbers is None or not isinstance(key, (int, str)) or (isinstance(key, str) and key != EACH):
        return None, row
    if any(number < 0 for number in numbers) and (key != EACH and key not in numbers):
        return None, row
    return (key in numbers, row)
