"""Canonical dotted names: the same name for the same object, however it was imported."""

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
    """Return the canonical form of a name: ``tf.config.x`` for ``tensorflow.config.x`` and
    ``tensorflow.compat.v2.config.x``; other names are unchanged."""
    for prefix, short in _PREFIXES:
        if name == prefix or name.startswith(prefix + "."):
            return short + name[len(prefix) :]
    return name


@lru_cache(maxsize=4096)
def called_name(name: str) -> str:
    """Return the name under which a call is judged: ``tf.compat.v1.config`` and ``tf.config`` have the same functions.

    Source: the functions of the two modules are identical objects in every release from 2.1 on.
    """
    for prefix in ("tf.compat.v1.config.", "tf.compat.v1.test.", "tf.compat.v1.distribute."):
        if name.startswith(prefix):
            return "tf." + name[len("tf.compat.v1.") :]
    return name


def is_tensorflow(name: str) -> bool:
    """Return True if a canonical name belongs to TensorFlow itself."""
    return name == "tf" or name.startswith("tf.")
