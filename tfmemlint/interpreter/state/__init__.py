"""The state of TensorFlow's runtime at one point of a program, and the model of the checks that depend on it.

The model follows ``tensorflow/python/eager/context.py``; each transition names the check it stands for, and
``tests/truth`` replays them on the installed TensorFlow. Three things start, one by one or together:

* ``listed``: the physical devices are listed (the driver has read ``CUDA_VISIBLE_DEVICES``);
* ``allocator``: the process-wide GPU devices exist, with their allocator (a v1 session or ``device_lib`` makes them);
* ``context``: the eager context is initialised; physical devices can't be configured from then on.
"""

from __future__ import annotations

from tfmemlint.interpreter.state.handlers import Arg, Handler
from tfmemlint.interpreter.state.joins import join_phases, join_states
from tfmemlint.interpreter.state.keys import ANY, PART, Guards, Key, Tri, device_key
from tfmemlint.interpreter.state.model import (
    Call,
    ConfigEffect,
    Event,
    Phase,
    RuntimeStart,
    Setting,
    State,
)

__all__ = [
    "ANY",
    "PART",
    "Arg",
    "Call",
    "ConfigEffect",
    "Event",
    "Guards",
    "Handler",
    "Key",
    "Phase",
    "RuntimeStart",
    "Setting",
    "State",
    "Tri",
    "device_key",
    "join_phases",
    "join_states",
]
