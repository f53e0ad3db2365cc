"""The effect of each TensorFlow function on the runtime, measured per call and per release.

``tools/knowledge/make_effects.py`` makes the table (``data/effects.txt``). It ran each call in its own process and then
asked TensorFlow's context whether it had started. A name that was not measured, or whose effect depends on its
arguments, has no entry; nothing is concluded from a missing entry.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from enum import Enum
from functools import lru_cache

from tfmemlint.knowledge import tables
from tfmemlint.knowledge.releases import Target, position


class Effect(Enum):
    """The effect of a call on the runtime."""

    NOTHING = "n"
    """Has no effect on anything that the memory configuration depends on."""
    LISTS = "l"
    """Lists the physical devices: the driver reads ``CUDA_VISIBLE_DEVICES``."""
    STARTS = "S"
    """Starts the eager context (and lists the devices)."""
    ALLOCATES = "a"
    """Creates the process-wide GPU devices and their allocator, but does not start the eager context."""


def effect(name: str, target: Target, *, graph: bool = False) -> Effect | None:
    """Return the effect of calling ``name`` in ``target``; None if it is unknown or depends on the arguments.

    An entry for ``tf.keras`` also holds for the standalone ``keras``, and an entry for an object holds for all its
    names.

    Args:
        name: a canonical name; a method is written ``tf.keras.Sequential().fit``.
        graph: True in graph mode: inside a ``tf.Graph``, or with eager execution or all TF2 behaviour disabled.
    """
    for spelling in _spellings(name):
        if spelling in _ALLOCATES:
            return Effect.ALLOCATES
        if not graph and spelling in _ON_USE:
            return Effect.STARTS
        if graph and target < _EAGER_BY_DEFAULT_SINCE and _MAKE_SESSION.fullmatch(spelling) is not None:
            return Effect.ALLOCATES
        if graph and spelling in _SAVES_SHARDED and target >= _SAVES_SHARDED_SINCE:
            return Effect.STARTS
        found = _at(spelling, target, graph)
        if found is None and graph and spelling.startswith("tf.config."):
            # These ask the context for its configuration, whatever mode the program is in: measured in graph mode on
            # the simulated driver for eight of them (2.21), and by TensorFlow's own listing for three (2.1.4).
            # The table of graph mode has none.
            found = Effect.LISTS if _at(spelling, target, False) is Effect.LISTS else None
        if found is not None:
            return found
    return None


def starts_in_graph_mode(name: str, target: Target | None = None) -> bool | None:
    """Return True if calling ``name`` in graph mode still starts the eager context; None if that is unknown. ``target``
    defaults to the newest release."""
    found = effect(name, target or Target.newest(), graph=True)
    return None if found is None else found is Effect.STARTS


def has_weights(layer: str, target: Target) -> bool:
    """Return True if a Keras layer creates variables when it is built; False also if that is unknown."""
    return effect(f"{layer}()", target) is Effect.STARTS


_OF_KERAS_3 = re.compile(r"(?:tf\.)?keras\.(?:ops|activations|losses|metrics|backend)\.(?:\w+\.)?([a-z]\w*)\Z")
_CREATING = frozenset(
    """
    arange bartlett blackman empty eye hamming hanning identity kaiser ones tri zeros random_bernoulli random_normal
    random_uniform random_uniform_variable truncated_normal variable
    """.split()  # noqa: SIM905
)
"""Functions that create tensors from numbers and shapes alone."""


def takes_keras_tensors(name: str, target: Target) -> bool:
    """Return True if a function of Keras 3 may get a tensor of a model that is only described, and starts nothing then.

    Observed on 2.16 and 2.21: ``keras.ops.mean(keras.Input((2,)))``, ``add(1, keras.Input((2,)))`` and ``concatenate``
    of a list of these start nothing; nor do ``keras.activations.relu`` and ``keras.losses.mse`` (2.21). With Keras 2
    (2.9, 2.15) such calls start the runtime.
    """
    found = _OF_KERAS_3.match(name) if (target.major, target.minor) >= (2, 16) else None
    return found is not None and found[1] not in _CREATING


def _spellings(name: str) -> Iterator[str]:
    """Yield ``name``, then the name under which its function, or the class that it belongs to, was measured."""
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
"""These create a ``Saver(sharded=True)`` for the existing variables, which starts the eager context before the session
exists. Observed with a global step on 2.11 to 2.15 and 2.21; not observed on 1.15, 2.0, 2.4, 2.9 and 2.10. A plain
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
        "tf.python.keras.backend.get_session",
        "tf.train.Server",
        "tf.distribute.Server",
        "tf.compat.v1.train.Server",
        "tf.compat.v1.distribute.Server",
    }
)
"""Observed in the allocator's own log with a simulated driver (a session and ``device_lib`` on six releases, both
functions of ``tf.test`` on 2.21). ``get_session`` creates such a session if there is none (that of the standalone Keras
2.3.1 under both of its names, on 1.15.5); that of
``tensorflow.python.keras`` is the same function on 1.15.5, and its own, with the same result, on 2.21. A ``Server``
makes the devices even with ``start=False``, with the options of its own ``config`` (2.21). That they are its own, and
not those that a session asks for, was seen of CPUs on 1.15.5 as well."""


_EAGER_BY_DEFAULT_SINCE = Target(2, 0)
_MAKE_SESSION = re.compile(
    r"tf\.keras\.(?:(?:models\.)?(?:Model|Sequential|load_model|clone_model|model_from_(?:json|config))"
    r"|applications\.(?:\w{1,40}\.)?[A-Z]\w{1,40})\(\)\."
    r"(?:fit|evaluate|predict|(?:fit|evaluate|predict)_generator|(?:train|test|predict)_on_batch|predict_classes"
    r"|[gs]et_weights|load_weights|save|save_weights)"
    r"|tf\.keras\.models\.load_model|tf\.keras\.backend\.(?:(?:batch_)?[gs]et_value|eval|function\(\))"
)
"""These ask Keras for its session, which makes one without options where there is none. Observed on 1.15.5, of Keras
2.3.1 beside it as well. ``compile``, ``summary``, ``to_json``, ``clone_model``, ``model_from_json``
and the call of a model made none, nor did ``K.function`` of ``tf.keras``, whose result does when it is called."""


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
"""Layers that create their variables when they are called, even on a symbolic input (observed on those of 2.1, 2.4,
2.12, 2.15 and 2.21 that have them); methods that run a model (2.4, 2.15 and 2.21); and two functions of
``tf.compat.v1`` that create a tensor but are different objects from their namesakes in ``tf`` (2.0, 2.1, 2.4, 2.9,
2.12, 2.15 and 2.21)."""


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
    """Return the other names of each object: ``tf.math.add`` with ``tf.add``."""
    return _table("aliases.txt")


@lru_cache(maxsize=3)
def _table(file: str) -> dict[str, str]:
    """Return a table of lines ``name rest``: ``tf.keras.layers.Dropout 2.1-2.15:n 2.16-2.21:S``. Lines that start with
    ``#`` state its source."""
    text = tables.text(file)
    pairs = (line.partition(" ") for line in text.splitlines() if line and line[0] != "#")
    return {name: rest for name, _, rest in pairs}
