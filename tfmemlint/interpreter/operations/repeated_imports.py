"""Importing a module that was imported on another way to here only.

Its statements run on the ways on which they have not run yet: what they have started and set on the others is not in
force there. A state in which ways have met no longer tells which of them came through the module; the traces of what
was started and set do.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TypeVar

from tfmemlint.interpreter.state import Call, Phase, RuntimeStart, Setting, State, Tri

_Key = TypeVar("_Key")


def without_import(state: State, path: str) -> State:
    """Return a state as it is on the ways that have not imported the module in the file ``path``."""
    return replace(
        state,
        context=_phase(state.context, path),
        allocator=_phase(state.allocator, path),
        listed=_phase(state.listed, path),
        growth=_settings(state.growth, path),
        limits=_settings(state.limits, path),
        threading=_settings(state.threading, path),
        visible=_setting(state.visible, path),
        cpu_split=_setting(state.cpu_split, path),
    )


def _phase(phase: Phase, path: str) -> Phase:
    return Phase() if phase.has is Tri.MAYBE and _came_through(phase.by, path) else phase


def _settings(settings: Mapping[_Key, Setting], path: str) -> Mapping[_Key, Setting]:
    kept = {key: _setting(setting, path) for key, setting in settings.items()}
    return {key: setting for key, setting in kept.items() if setting is not None}


def _setting(setting: Setting | None, path: str) -> Setting | None:
    if setting is None or None not in setting.either:
        return setting
    others = (way for way in setting.either if way is not None)
    return None if all(_came_through(way.by, path) for way in others) else setting


def _came_through(event: RuntimeStart | Call | None, path: str) -> bool:
    """True if an event happened in the module, in a function of it, or in a module that it imports."""
    return event is not None and (event.path == path or any(step.path == path for step in event.frames))
