"""The intent behind a member that an object of TensorFlow's lacks, and the code that fulfils it.

Answers go by the words in the name, never by its spelling: nothing is offered but what does what was wanted.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from tfmemlint.knowledge.types import ATTRIBUTES, CONFIGURATION, LOGICAL, PHYSICAL
from tfmemlint.model.intent import Purpose
from tfmemlint.model.patterns import late_pattern


class Way(NamedTuple):
    """The code that fulfils the intent.

    Attributes:
        advice: in words. code: what to write, with ``{0}`` for the object; "" where it is not that plain.
        purpose: what was wanted. value: of that, as in an intent.
    """

    advice: str
    code: str = ""
    purpose: Purpose | None = None
    value: str | bool | None = None


_NVML = "Ask NVML: pynvml.nvmlDeviceGetMemoryInfo(handle).{}"
_USED = "Use tf.config.experimental.get_memory_info('GPU:0'), whose 'current' and 'peak' are bytes"
_DEVICES = (PHYSICAL, LOGICAL)
_STRATEGY = late_pattern(r"tf\.distribute\.(?:experimental\.)?\w+Strategy$")


def way_to(type_: str, member: str) -> Way:
    """Return how to get what was wanted of a missing member; a `Way` with empty texts where that can't be told."""
    words = frozenset(re.findall(r"[a-z]+|[A-Z][a-z]*|\d+", member.lower()))
    if type_ in _DEVICES or type_ == ATTRIBUTES:
        return _of_device(type_, member, words)
    if type_ == CONFIGURATION and words & {"memory", "limit", "mb", "size"}:
        return Way("Its limit in MiB is memory_limit", "{0}.memory_limit", Purpose.LIMIT)
    if _STRATEGY.match(type_):
        return _of_strategy(words)
    if type_.startswith("message "):
        return _of_message(type_, words)
    if type_ == "dict":
        return Way(f"It is a dictionary: write [{member!r}]" if member.isidentifier() else "It is a dictionary")
    return Way("")


def _of_device(type_: str, member: str, words: frozenset[str]) -> Way:
    if words & {"growth", "grow"}:
        code = "tf.config.experimental.set_memory_growth({0}, {1})" if type_ == PHYSICAL else ""
        return Way("Use tf.config.experimental.set_memory_growth(gpu, True)", code, Purpose.GROWTH, True)
    if words & {"fraction", "limit"} and "set" in words:
        return Way("Use tf.config.set_logical_device_configuration, with the limit in MiB", "", Purpose.LIMIT)
    if words & {"memory", "mem", "vram", "bytes", "mb"}:
        return _of_memory(words)
    if words & {"index", "id", "number", "idx", "ordinal", "num"}:
        advice = "Count the devices: for i, gpu in enumerate(gpus)"
        return Way(f"{advice}; the number is also at the end of .name")
    if words & {"type", "kind"}:
        return Way("Its type is device_type", "{0}.device_type")
    if words & {"capability", "compute", "cc"}:
        code = "tf.config.experimental.get_device_details({0}).get('compute_capability')"
        return Way("Use tf.config.experimental.get_device_details(gpu)", code if type_ == PHYSICAL else "")
    if "name" in words or words & {"model", "desc", "description"}:
        advice = "Its name in TensorFlow is .name; that of the product: "
        return Way(f"{advice}tf.config.experimental.get_device_details(gpu).get('device_name')")
    return Way("It has name and device_type, nothing else")


def _of_memory(words: frozenset[str]) -> Way:
    if words & {"peak", "max", "maximum"}:
        return Way(_USED, "", Purpose.REPORT, "peak")
    if words & {"used", "usage", "use", "current", "allocated", "info", "stats"}:
        return Way(_USED, "", Purpose.REPORT, "current")
    if words & {"free", "available"}:
        return Way(_NVML.format("free"), "", Purpose.REPORT, "free")
    return Way(_NVML.format("total"), "", Purpose.REPORT, "total")


def _of_strategy(words: frozenset[str]) -> Way:
    if words & {"num", "number", "count", "n", "size"} and words & {"replicas", "replica", "gpus", "devices", "sync"}:
        return Way("The number of replicas is num_replicas_in_sync", "{0}.num_replicas_in_sync")
    if words & {"devices", "device", "gpus", "workers"}:
        return Way("Its devices are extended.worker_devices", "{0}.extended.worker_devices")
    return Way("")


_OPTIONS = {"message ConfigProto": "{0}.gpu_options.", "message GPUOptions": "{0}."}


def _of_message(type_: str, words: frozenset[str]) -> Way:
    place = _OPTIONS.get(type_)
    if place is None:
        return Way("")
    plain = place.replace("{0}.", "")
    if words & {"growth", "grow"}:
        return Way(f"It is {plain}allow_growth", f"{place}allow_growth", Purpose.GROWTH, True)
    if words & {"fraction", "share", "percent", "ratio"}:
        field = "per_process_gpu_memory_fraction"
        return Way(f"It is {plain}{field}", f"{place}{field}", Purpose.FRACTION)
    if words & {"visible", "devices", "device"} and words & {"list", "visible", "gpu", "gpus"}:
        return Way(f"It is {plain}visible_device_list, a string: '0,1'", "", Purpose.VISIBLE)
    if words & {"limit", "memory", "mem"}:
        advice = f"A session takes a share, {plain}per_process_gpu_memory_fraction, not a number of MiB"
        return Way(advice, "", Purpose.LIMIT)
    if type_ == "message ConfigProto" and words & {"soft", "placement"}:
        return Way("It is allow_soft_placement")
    return Way("")
