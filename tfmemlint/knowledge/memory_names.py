"""TensorFlow's names about GPU memory: those that configure it, report it, or choose the GPUs."""

from __future__ import annotations

import re
from functools import lru_cache

from tfmemlint.model.patterns import late_pattern

OPTION_CARRIERS = frozenset(
    f"{place}.{name}"
    for place in ("tf", "tf.compat.v1")
    for name in ("Session", "InteractiveSession", "ConfigProto", "GPUOptions")
)
"""TF1's sessions, and what carries their options: about GPU memory where options of it are given."""

_WORDS = late_pattern(r"memory|vram|growth|gpu(?!s?_model)|(?<!Un)GPU", re.IGNORECASE)
_CONFIGURES = late_pattern(
    r"tf(?:\.compat\.v1)?\.config(?:\.experimental)?\."
    r"(?:(?:list|get|set)_(?:physical|logical|virtual|visible)_device\w*|(?:Virtual|Logical)DeviceConfiguration"
    r"|get_device_details|PhysicalDevice|LogicalDevice)"
)
_KERAS_SESSION = late_pattern(
    r"tf(?:\.compat\.v1)?\.keras\.backend\.(?:set|get)_session|tf\.contrib\.keras\.backend\.\w+"
)
SESSION_OF_KERAS = late_pattern(r"tf(?:\.compat\.v1)?\.(?:contrib\.)?keras\.backend\.get_session")
"""The session that Keras has made: nothing about memory is told by asking for it."""
_NOT_ABOUT_MEMORY = late_pattern(
    r"tf(?:\.compat\.v1)?\.(?:contrib\.rnn|nn|estimator|lite|tpu|raw_ops)\b|\.BasicLSTM|Cudnn"
)
"""Namespaces in which a memory is that of a network, or of a cell."""


@lru_cache(maxsize=4096)
def is_about_gpu_memory(name: str) -> bool:
    """Return True if a canonical name configures or reports GPU memory, or the devices that have it."""
    if name in OPTION_CARRIERS or _CONFIGURES.match(name) or _KERAS_SESSION.match(name):
        return True
    return _WORDS.search(name) is not None and _NOT_ABOUT_MEMORY.search(name) is None


GPU_OPTIONS = late_pattern(
    r"\b(?:gpu_options|GPUOptions|allow_growth|per_process_gpu_memory_fraction|visible_device_list"
    r"|device_count|force_gpu_compatible|experimental\.use_unified_memory)\b"
)
"""The words of TF1 options about GPU memory, or about which GPUs there are."""
