"""Names about memory, devices and sessions of the package ``keras``: those that its releases have, and all others.

The table is made of the packages themselves (``tools/knowledge/make_keras.py``).
"""

from __future__ import annotations

import re
from functools import lru_cache

from tfmemlint.knowledge import tables
from tfmemlint.model.patterns import late_pattern

ABOUT = late_pattern(r"memory|vram|growth|gpu|session|device|cuda", re.IGNORECASE)
"""Words in the names that the table has."""
_PLACES = frozenset(
    {
        *("keras", "keras.backend", "keras.config", "keras.utils", "keras.distribution", "keras.experimental"),
        *("keras.device", "keras.devices", "keras.gpu", "keras.memory", "keras.runtime", "keras.backend.config"),
        *("keras.api", "keras.mixed_precision", "keras.backend.tensorflow", "keras.utils.gpu", "keras.system"),
    }
)
"""Modules, real ones and made-up ones, in which people look for such functions."""


@lru_cache(maxsize=1)
def _known() -> frozenset[str]:
    lines = tables.text("keras.txt").splitlines()
    return frozenset(line.partition(" ")[0] for line in lines if line and not line.startswith("#"))


def is_made_up(name: str) -> bool:
    """Return True if a function of Keras about memory, devices or sessions is in no release, under any module."""
    owner, _, last = name.rpartition(".")
    return owner in _PLACES and ABOUT.search(last) is not None and last not in _known()
