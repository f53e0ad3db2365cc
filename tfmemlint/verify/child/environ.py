"""Read the environment as TensorFlow and the driver do."""

from __future__ import annotations

import ctypes
import os


def variable(name: str) -> str | None:
    """Return the value of a variable in C's environment, which ``os.putenv()`` changes, too; None if it isn't set."""
    getenv = ctypes.CDLL(None).getenv
    getenv.restype = ctypes.c_char_p
    value: bytes | None = getenv(os.fsencode(name))
    return None if value is None else os.fsdecode(value)
