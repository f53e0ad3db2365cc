"""The prediction for each GPU: the settings in force when the GPU devices are created, device by device."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace

from tfmemlint.interpreter.program import EnvWrite, SessionMade
from tfmemlint.interpreter.state import ANY, PART, Key, Setting, State
from tfmemlint.interpreter.values import EACH, Const, Device, Devices
from tfmemlint.knowledge import environment
from tfmemlint.knowledge.variables import VISIBLE, judge_value
from tfmemlint.model.finding import Span
from tfmemlint.plans.entry_run import EntryRun, listed_numbers, numbers_of
from tfmemlint.plans.memory import of_session, of_settings
from tfmemlint.plans.model import Device as Row
from tfmemlint.plans.model import Memory
from tfmemlint.plans.variables import is_text_of_list
from tfmemlint.rulekit.explain import written

_NONE = frozenset({"visible", "twice"})
"""The kinds of values of ``CUDA_VISIBLE_DEVICES`` that name no GPU."""


def devices(run: EntryRun, refused: frozenset[Span]) -> tuple[Row, ...]:
    """Return the GPUs that an entry point distinguishes, and what TensorFlow does with the memory of each. ``refused``
    are the calls that raise, and so set nothing."""
    state = _without(run.in_force, refused)
    hidden = run.env_row(VISIBLE) if run.count == 0 else _hidden_by_variable(run)
    if hidden is not None:
        return (Row("each GPU", None, Memory("none", "no GPU is visible", rows=(hidden,)), False, hidden),)
    session = run.session if run.configured else None
    rows = []
    for key, name in _keys(run, state):
        visible, row = _visible(state, key) if session is None else _listed(session)
        if visible and row is None and listed_numbers(state) is not None:
            row = run.env_row(VISIBLE)
        if visible is False:
            memory = Memory("none", "hidden: nothing is taken", rows=() if row is None else (row,))
        elif session is not None:
            memory = of_session(session, run)
        elif run.divided is not None:
            by = run.divided.span.row
            words = f"not known: line {by} makes the GPU devices on some ways, with options of its own"
            memory = Memory("unknown", words, rows=())
        else:
            memory = of_settings(run, state, key)
        allocator = run.env("TF_GPU_ALLOCATOR")
        known = allocator in (environment.allowed("TF_GPU_ALLOCATOR") or ())
        chosen = str(allocator) if known and visible is not False else ""
        chosen_row = run.env_row("TF_GPU_ALLOCATOR") if chosen else None
        number = int(name.rpartition(" ")[2]) if re.fullmatch(r"GPU \d+", name) else None
        rows.append(Row(name, number, memory, visible, row, chosen, chosen_row))
    return tuple(rows)


def _keys(run: EntryRun, state: State) -> Iterator[tuple[Key, str]]:
    """Yield the GPUs to report: as many as are given, else those that the program names, and the others."""
    listed = listed_numbers(state)
    if run.gpus is not None:
        count = run.gpus if listed is None else sum(number < run.gpus for number in listed)
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
        some = _VAGUE["some"] if word.endswith(":]") else f"GPU {written(word, 30)}"
        yield word, _VAGUE.get(word, some)
    if not ((state.one_gpu or listed is not None) and named) and ANY not in words:
        yield EACH, "other GPUs" if named else "each GPU"


_VAGUE = {ANY: "a GPU that isn't known", "some": "some GPUs", PART: "some GPUs"}


def _without(state: State, refused: frozenset[Span]) -> State:
    """Return the state without the settings of these calls."""

    def is_kept(setting: Setting | None) -> bool:
        return setting is not None and (setting.by is None or setting.by.span not in refused)

    return replace(
        state,
        growth={key: setting for key, setting in state.growth.items() if is_kept(setting)},
        limits={key: setting for key, setting in state.limits.items() if is_kept(setting)},
        visible=state.visible if is_kept(state.visible) else None,
    )


def _listed(session: SessionMade) -> tuple[bool | None, int | None]:
    """Return True if a session's options leave all GPUs visible."""
    listed = (session.fields or {}).get("gpu_options.visible_device_list", Const(""))
    return (True, None) if listed == Const("") else (None, session.span.row)


def _hidden_by_variable(run: EntryRun) -> int | None:
    """Return the row that hides all GPUs by ``CUDA_VISIBLE_DEVICES``, set in time, be it meant or not."""
    value = run.in_force.cuda_visible_devices
    if value is None:
        return None
    if isinstance(value, Const):
        names_none = isinstance(value.value, str) and (bad := judge_value(VISIBLE, value.value)) and bad.kind in _NONE
        return run.env_row(VISIBLE) if run.in_force.max_gpus == 0 or names_none else None
    write = next((write for write in run.of(EnvWrite) if write.name == VISIBLE and write.value == value), None)
    return write.span.row if write is not None and is_text_of_list(write, run) else None


def _shown(state: State) -> list[int] | None:
    """Return the numbers of the GPUs that ``set_visible_devices`` leaves, if they are known."""
    return numbers_of(state.visible.value) if state.visible is not None else None


def _visible(state: State, key: Key) -> tuple[bool | None, int | None]:
    """Return True if ``set_visible_devices`` leaves a GPU visible, with the row of that call."""
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
