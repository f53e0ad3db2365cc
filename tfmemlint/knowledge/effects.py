"""What calling a TensorFlow function does to the runtime: measured, call by call, release by release.

The table (``data/effects.txt``, made by ``tools/knowledge/make_effects.py``) rests on running each call in a process of
its own and asking TensorFlow's context afterwards whether it was started. A name that nobody measured, or whose effect
depends on its arguments, has none in the table, and nothing is ever concluded from that.
"""

from __future__ import annotations

from collections.abc import Iterator
from enum import Enum
from functools import lru_cache

from tfmemlint.knowledge import tables
from tfmemlint.knowledge.releases import Target, position


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


def effect(name: str, target: Target, *, graph: bool = False) -> Effect | None:
    """The effect of calling ``name`` in ``target``; None where it isn't known or depends on the arguments.

    ``name`` is canonical; a method is written as ``tf.keras.Sequential().fit``. What is said of ``tf.keras`` is also
    said of the standalone ``keras``, and what is said of an object, of all of its names.

    Args:
        graph: in graph mode, that is inside a ``tf.Graph``, or with eager execution or all of TF2's behaviour disabled.
    """
    for spelling in _spellings(name):
        if spelling in _ALLOCATES:
            return Effect.ALLOCATES
        if not graph and spelling in _ON_USE:
            return Effect.STARTS
        if graph and spelling in _SAVES_SHARDED and target >= _SAVES_SHARDED_SINCE:
            return Effect.STARTS
        found = _at(spelling, target, graph)
        if found is not None:
            return found
    return None


def starts_in_graph_mode(name: str, target: Target | None = None) -> bool | None:
    """Whether ``name``, called in graph mode, starts the eager context all the same: in ``target``, else in the newest
    release; None where that isn't known."""
    found = effect(name, target or Target.newest(), graph=True)
    return None if found is None else found is Effect.STARTS


def has_weights(layer: str, target: Target) -> bool:
    """Whether a Keras layer makes variables when it is built; False also where that isn't known."""
    return effect(f"{layer}()", target) is Effect.STARTS


def _spellings(name: str) -> Iterator[str]:
    """``name``, then under the name that its function, or the class it belongs to, was measured by."""
    if name.startswith("keras."):
        name = f"tf.{name}"
    yield name
    aliases = _aliases()
    owner, rest = name, ""
    while owner.count(".") > 1:
        found = aliases.get(owner)
        if found is not None:
            yield found + rest
            return
        cut = max(owner.rfind("."), owner.rfind("("))
        owner, rest = owner[:cut], owner[cut:] + rest


_SAVES_SHARDED = frozenset(
    f"tf.compat.v1.train.{name}"
    for name in (
        "MonitoredTrainingSession",
        "MonitoredSession",
        "SingularMonitoredSession",
        "ChiefSessionCreator().create_session",
    )
)
_SAVES_SHARDED_SINCE = Target(2, 11)
"""These make a ``Saver(sharded=True)`` for the variables there are, and that starts the eager context, before the
session exists: seen with a global step on 2.11 to 2.15 and 2.21, not so on 1.15, 2.0, 2.4, 2.9 and 2.10. A plain
``Saver()`` starts nothing."""

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
        "tf.keras.backend.get_session",
        "tf.compat.v1.keras.backend.get_session",
    }
)
"""Seen in the allocator's own log over a simulated driver (a session and ``device_lib`` on six releases, the two of
``tf.test`` on 2.21); ``get_session`` makes such a session where there is none."""


_LAYERS = """
    Bidirectional Conv1D Conv1DTranspose Conv2D Conv2DTranspose Conv3D Conv3DTranspose Convolution2D Dense
    BatchNormalization DepthwiseConv2D EinsumDense Embedding GRU GroupNormalization LSTM LayerNormalization
    MultiHeadAttention PReLU SeparableConv1D SeparableConv2D SimpleRNN SpectralNormalization
"""
_ON_USE = frozenset(
    {f"tf.keras.layers.{layer}()" for layer in _LAYERS.split()}
    | {
        f"tf.keras.{model}().{method}"
        for model in ("Model", "Sequential")
        for method in ("fit", "fit_generator", "evaluate", "train_on_batch", "test_on_batch", "predict_on_batch")
    }
    | {"tf.compat.v1.constant", "tf.compat.v1.convert_to_tensor"}
)
"""Layers that make their variables when they are called, on a symbolic input too (seen on 2.1, 2.4, 2.12, 2.15 and
2.21, as far as they have them), methods that run a model (on 2.4, 2.15 and 2.21), and the two of ``tf.compat.v1`` that
make a tensor as those of ``tf`` do, but are functions of their own (on 2.0, 2.1, 2.4, 2.9, 2.12, 2.15 and 2.21)."""


@lru_cache(maxsize=4096)
def _at(name: str, target: Target, graph: bool) -> Effect | None:
    runs = _table("graph_mode.txt" if graph else "effects.txt").get(name)
    if not runs:
        return None
    place = target.index
    for run in runs.split(" "):
        span, _, letter = run.partition(":")
        first, _, last = span.partition("-")
        if position(first) <= place <= position(last):
            return Effect(letter)
    return None


def _aliases() -> dict[str, str]:
    """Other names of the same object: ``tf.math.add`` with ``tf.add``."""
    return _table("aliases.txt")


@lru_cache(maxsize=3)
def _table(file: str) -> dict[str, str]:
    """A table of lines ``name rest``: ``tf.keras.layers.Dropout 2.1-2.15:n 2.16-2.21:S``; lines that start with ``#``
    say where it comes from."""
    text = tables.text(file)
    pairs = (line.partition(" ") for line in text.splitlines() if line and line[0] != "#")
    return {name: rest for name, _, rest in pairs}
