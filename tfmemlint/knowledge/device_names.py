"""Names of GPUs: as TensorFlow reads those of logical devices, and as people write them."""

from __future__ import annotations

import re
from collections.abc import Mapping

from tfmemlint.model.patterns import late_pattern

_LOGICAL = late_pattern(r"(?:/job:\w+)?(?:/replica:\d+)?(?:/task:\d+)?/?(?:device:)?gpu:(\d+)", re.IGNORECASE)
_PREFIX = r"/?(?:(?:physical_)?device:)?"
_TYPE = r"(?:xla_)?gpu|cuda|nvidia"
_MEANT = late_pattern(
    rf"{_PREFIX}(?:(?:{_TYPE})[:_]?(?P<numbers>[0-9]+(?: ?, ?[0-9]+)*)?|(?P<number>[0-9]+))", re.IGNORECASE
)
BEFORE_NUMBER = late_pattern(rf"{_PREFIX}(?:{_TYPE})[:_]?", re.IGNORECASE)
"""The text that people write before the number of a GPU: ``cuda:``, ``/physical_device:GPU:``, ``gpu``."""

BEGINNINGS: Mapping[str, str] = {"physical": "/physical_device:", "logical": "/device:", "local": "/device:"}
"""The beginnings of the names of devices, by kind; the type and the number follow (``GPU:0``).

Source: what ``list_physical_devices``, ``list_logical_devices`` and ``device_lib.list_local_devices`` return in
TensorFlow 2.15 and 2.21, and the first (then experimental) and the last in 1.15. In a cluster the job comes first.
"""


def logical_gpu(name: object) -> int | None:
    """Return the number of the logical GPU that TensorFlow reads in ``GPU:1``, ``/device:GPU:1``,
    ``/job:localhost/replica:0/task:0/device:GPU:1``; None for everything else."""
    match = _LOGICAL.fullmatch(name) if isinstance(name, str) else None
    return int(match[1]) if match is not None else None


def gpus_meant(text: str) -> tuple[int, ...]:
    """Return the numbers of the GPUs that a name likely means: ``cuda:0``, ``gpu0``, ``1``, ``/physical_device:GPU:0``,
    ``/gpu:0,1``; (0,) for ``gpu``, and () where it means something else."""
    meant = _MEANT.fullmatch(text)
    if meant is None:
        return ()
    return tuple(int(number) for number in (meant["number"] or meant["numbers"] or "0").split(","))
