"""Canonical dotted names: one name for one thing, however it was imported."""

from __future__ import annotations

from functools import lru_cache

_PREFIXES = (
    # The longest first. `compat.v2` is the same set of names as the top level.
    ("tensorflow.compat.v2", "tf"),
    ("tensorflow.compat.v1", "tf.compat.v1"),
    ("tensorflow._api.v2", "tf"),
    ("tensorflow", "tf"),
    ("tf.compat.v2", "tf"),
    ("nvidia_smi", "pynvml"),
)


@lru_cache(maxsize=4096)
def canonical(name: str) -> str:
    """``tensorflow.config.x`` and ``tensorflow.compat.v2.config.x`` are ``tf.config.x``; other names stay."""
    for prefix, short in _PREFIXES:
        if name == prefix or name.startswith(prefix + "."):
            return short + name[len(prefix) :]
    return name


@lru_cache(maxsize=4096)
def called_name(name: str) -> str:
    """The name under which a call is judged: ``tf.compat.v1.config`` and ``tf.config`` hold the same functions.

    Source: the two modules' functions are the very same objects in every release from 2.1 on.
    """
    for prefix in ("tf.compat.v1.config.", "tf.compat.v1.test.", "tf.compat.v1.distribute."):
        if name.startswith(prefix):
            return "tf." + name[len("tf.compat.v1.") :]
    return name


def is_tensorflow(name: str) -> bool:
    """Whether a canonical name is TensorFlow's own."""
    return name == "tf" or name.startswith("tf.")
