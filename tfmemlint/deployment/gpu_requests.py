"""The number of GPUs that a container gets.

Source: NVIDIA Container Toolkit, "Specialized Configurations with Docker": ``NVIDIA_VISIBLE_DEVICES`` is "a
comma-separated list of GPU UUID(s) or index(es)", ``all``, ``none``, ``void`` or empty; ``--gpus`` of ``docker run``
takes ``all``, a number, or ``device=`` with such a list. A container that gets two GPUs has two, whatever their numbers
are outside of it; CUDA numbers the devices that it finds from 0 (CUDA C++ Programming Guide, "CUDA Environment
Variables").
"""

from __future__ import annotations

import re

_ENTRY = re.compile(r"\d+|GPU-[0-9a-fA-F-]+")


def counted(text: str) -> int | None:
    """Return the number of GPUs in a list of indices or UUIDs; None for any other value."""
    entries = [part.strip() for part in text.split(",")]
    if not all(_ENTRY.fullmatch(entry) for entry in entries) or len(set(entries)) < len(entries):
        return None
    return len(entries)


def of_option(text: str) -> tuple[int, str] | None:
    """Return the number of GPUs that ``docker run --gpus`` requests, and their names if it names them; None if
    unknown."""
    text = text.strip().strip("\"'")
    if text.isascii() and text.isdigit():
        return (int(text), "") if int(text) else None
    found = re.fullmatch(r"(?:[^=]*,)?device=([\w,-]+)", text)
    if found is None:
        return None
    names = found[1]
    count = counted(names)
    return (count, names) if count is not None else None
