"""The environment as TensorFlow and the driver read it."""

from __future__ import annotations

import ctypes
import os


def variable(name: str) -> str | None:
    """Return the value of a variable, None where it isn't set: as C has it, which ``os.putenv()`` changes too."""
    getenv = ctypes.CDLL(None).getenv
    getenv.restype = ctypes.c_char_p
    value: bytes | None = getenv(os.fsencode(name))
    return None if value is None else os.fsdecode(value)
