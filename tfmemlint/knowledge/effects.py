"""What calling a TensorFlow function does to the runtime: measured, call by call, release by release.

The table (``data/effects.txt``, made by ``tools/knowledge/make_effects.py``) rests on running each call in a process of its
own and asking TensorFlow's context afterwards whether it was started. A name that nobody measured has no effect in
the table, and nothing is ever concluded from that.
"""

from __future__ import annotations

from enum import Enum
from functools import lru_cache
from pathlib import Path

from tfmemlint.knowledge.releases import Target

_DATA = Path(__file__).parent / "data"


class Effect(Enum):
    """What a call does to the runtime."""

    NOTHING = "n"
    """Nothing that the memory configuration depends on."""
    LISTS = "l"
    """Lists the physical devices: the driver reads ``CUDA_VISIBLE_DEVICES``."""
    STARTS = "S"
    """Starts the eager context (and lists the devices)."""
    ALLOCATES = "a"
    """Makes the process-wide GPU devices with their allocator, but does not start the eager context."""


def effect(name: str, target: Target) -> Effect | None:
    """The effect of calling ``name`` in ``target``; None where it isn't known or depends on the arguments.

    ``name`` is canonical; a method is written as ``tf.keras.Sequential().fit``.
    """
    if name in _ALLOCATES:
        return Effect.ALLOCATES
    return _STUB.get(name)


def starts_in_graph_mode(name: str) -> bool | None:
    """Whether ``name``, called in graph mode, starts the eager context all the same; None where nobody measured it."""
    return _GRAPH.get(name)


_ALLOCATES = frozenset(
    {
        "tf.test.is_gpu_available",
        "tf.test.gpu_device_name",
        "tf.python.client.device_lib.list_local_devices",
        "tf.compat.v1.test.is_gpu_available",
        "tf.compat.v1.test.gpu_device_name",
        "tf.Session",
        "tf.InteractiveSession",
        "tf.compat.v1.Session",
        "tf.compat.v1.InteractiveSession",
    }
)
_STUB: dict[str, Effect] = {}
_GRAPH: dict[str, bool] = {}
