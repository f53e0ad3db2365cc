"""Resolve device names for the runtime's memory statistics to simulated GPUs."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Any

_GPU = re.compile(r"(?P<type>GPU|gpu)(?P<rest>:(?P<number>\d+|\*))?(?=/|$)")
_NO_STATISTICS = "Allocator stats not available"
_TYPED = re.compile(r"(?i)cpu|gpu|tpu")


def is_simulated_gpu(name: object, gpus: Sequence[str], real: Callable[[Any], object]) -> bool:
    """True if ``name`` refers to exactly one of the logical GPUs ``gpus`` (full names); False leaves it to TensorFlow.

    TensorFlow itself judges the spelling: ``real`` is called with the same name for the CPU, and raises its own error
    for a name that it can't parse. So no name is accepted here that the real runtime would refuse.

    Raises:
        ValueError: the name fits several devices.
        TypeError: ``name`` isn't a string (from ``real``).
    """
    if not isinstance(name, str) or not gpus:
        return False
    match = _GPU.search(name)
    if match is None:
        if not _TYPED.search(name):
            _judge(real, name)
            raise _several(name, "/job:localhost/replica:0/task:0/device:CPU:0", gpus[0])
        return False
    cpu = "cpu" if match["type"] == "gpu" else "CPU"
    number = match["number"]
    anywhere = number in (None, "*")
    stand_in = cpu if match["rest"] is None else f"{cpu}:{'*' if anywhere else 0}"
    try:
        _judge(real, name[: match.start()] + stand_in + name[match.end() :])
    except ValueError:
        return False
    if anywhere:
        if len(gpus) > 1:
            raise _several(name, gpus[0], gpus[1])
        return True
    return int(number) < len(gpus)


def _judge(real: Callable[[Any], object], name: str) -> None:
    """Let TensorFlow judge a name of the CPU.

    It finds the device, and then nothing to tell of it, where oneDNN is off, as it is by default on processors without
    AVX-512 VNNI; measured with TensorFlow 2.21.
    """
    try:
        real(name)
    except ValueError as error:
        if _NO_STATISTICS not in str(error):
            raise


def _several(name: str, first: str, second: str) -> ValueError:
    return ValueError(f"Multiple devices match the provided string '{name}': '{first}' and '{second}'.")
