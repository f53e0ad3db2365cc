"""The purpose of a made-up name: from a list of names found in public code, else from the words in the name.

The list (``data/made_up.txt``) was collected from public code, articles and forum answers. No TensorFlow release has
any of its names; every look-up checks this against the table of names, so a real name never has a purpose.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import field, replace
from functools import lru_cache

from tfmemlint.knowledge import names, tables
from tfmemlint.model.intent import Purpose
from tfmemlint.model.records import dataclass

DEVICE_KEYWORDS = ("device", "gpu", "dev", "devices", "gpus", "physical_device", "device_name", "device_index", "index")
"""Likely keywords of the argument that states the device."""

AMOUNT_KEYWORDS: Mapping[Purpose, tuple[str, ...]] = {
    Purpose.GROWTH: ("enable", "enabled", "growth", "memory_growth", "allow_growth", "value"),
    Purpose.LIMIT: (
        "memory_limit",
        "limit",
        "memory_limit_mb",
        "memory_limit_mib",
        "limit_mb",
        "memory",
        "mb",
        "megabytes",
        "size",
        "value",
        *("limit_gb", "memory_limit_gb", "memory_mb", "memory_gb", "size_mb", "size_gb", "max_mb", "max_gb"),
        *("mib", "gb", "gib", "gigabytes", "bytes", "limit_bytes", "max_memory", "max_bytes", "cap", "cap_mb"),
        *("mem_limit", "amount", "budget", "quota", "fraction"),
    ),
    Purpose.FRACTION: (
        "fraction",
        "memory_fraction",
        "per_process_gpu_memory_fraction",
        "share",
        "ratio",
        "limit",
        "value",
        *("percent", "percentage", "frac", "gpu_fraction", "gpu_memory_fraction", "max_fraction", "amount"),
    ),
}
"""Likely keywords of the argument that states the amount, for each purpose that has an amount."""


@dataclass(frozen=True, slots=True)
class MadeUp:
    """The meaning of a name that TensorFlow never had.

    Attributes:
        purpose: what its author wanted.
        value: for a report, which number: ``current``, ``peak``, ``total`` or ``free``; for growth, ``not`` if True
            disables it (``disable_memory_growth``, ``preallocate_memory``); else ``""``.
        unit: ``mib``, ``gib``, ``bytes``, ``fraction``, ``percent``, or ``auto`` (a number in (0, 1] is a fraction, any
            other number is MiB); ``""`` without an amount.
        device: the position of the argument that states the device; None if there is none.
        amount: the position of the argument that states the amount (for growth: True or False); None if there is none.
        device_keywords: likely keywords of the device argument.
        amount_keywords: likely keywords of the amount argument.
        listed: True if the name is in the list, False if the purpose comes from the words in the name.
    """

    purpose: Purpose
    value: str = ""
    unit: str = ""
    device: int | None = None
    amount: int | None = None
    device_keywords: tuple[str, ...] = field(default=())
    amount_keywords: tuple[str, ...] = field(default=())
    listed: bool = False


KEYS: Mapping[str, str] = {
    "memory_used": "current",
    "used": "current",
    "used_memory": "current",
    "memory_usage": "current",
    "usage": "current",
    "in_use": "current",
    "bytes_in_use": "current",
    "allocated": "current",
    "current_usage": "current",
    "current_memory": "current",
    "current_bytes": "current",
    "used_bytes": "current",
    "bytes_used": "current",
    "allocated_bytes": "current",
    "bytes_allocated": "current",
    "memory_allocated": "current",
    "allocated_bytes.all.current": "current",
    "max": "peak",
    "maximum": "peak",
    "max_used": "peak",
    "peak_usage": "peak",
    "peak_memory": "peak",
    "peak_bytes_in_use": "peak",
    "peak_bytes": "peak",
    "peak_used": "peak",
    "max_memory": "peak",
    "max_bytes": "peak",
    "max_bytes_in_use": "peak",
    "max_allocated": "peak",
    "max_allocated_bytes": "peak",
    "max_memory_allocated": "peak",
    "peak_allocated": "peak",
    "peak_memory_usage": "peak",
    "allocated_bytes.all.peak": "peak",
    "memory_total": "total",
    "total": "total",
    "total_memory": "total",
    "memory_limit": "total",
    "memory_size": "total",
    "memory": "total",
    "memory_mb": "total",
    "limit": "total",
    "bytes_limit": "total",
    "bytes_total": "total",
    "total_bytes": "total",
    "gpu_memory": "total",
    "device_memory": "total",
    "device_memory_size": "total",
    "capacity": "total",
    "size": "total",
    "free": "free",
    "memory_free": "free",
    "bytes_free": "free",
    "free_bytes": "free",
    "free_memory": "free",
    "available": "free",
    "available_memory": "free",
    "memory_available": "free",
}
"""Keys that ``get_device_details`` and ``get_memory_info`` never have, with the number that the code expects. The real
keys are ``device_name`` and ``compute_capability``, and ``current`` and ``peak``."""

REAL_KEYS: Mapping[str, tuple[str, ...]] = {
    "tf.config.experimental.get_device_details": ("device_name", "compute_capability"),
    "tf.config.experimental.get_memory_info": ("current", "peak"),
}
"""All the keys of the dictionaries that these calls return."""

KEYWORDS: Mapping[str, str] = {
    "memory_fraction": "fraction",
    "fraction": "fraction",
    "memory_limit_fraction": "fraction",
    "gpu_memory_fraction": "fraction",
    "per_process_gpu_memory_fraction": "fraction",
    "memory_limit_mb": "mib",
    "memory_limit_mib": "mib",
    "memory_limit_in_mb": "mib",
    "memory_mb": "mib",
    "limit_mb": "mib",
    "limit": "auto",
    "memory": "auto",
    "max_memory": "auto",
    "memory_size": "auto",
    "mem_limit": "auto",
    "memorylimit": "auto",
    "gpu_memory_limit": "auto",
}
"""Keywords that ``LogicalDeviceConfiguration`` never had, with the unit that the author meant (see `MadeUp.unit`)."""

MEANT: Mapping[str, tuple[str, ...]] = {
    **dict.fromkeys(("dev", "gpu", "gpus", "devices", "physical_device", "device_name"), ("device", "devices")),
    **dict.fromkeys(("device",), ("devices", "device_type")),
    **dict.fromkeys(("enabled", "growth", "value", "memory_growth", "allow_growth"), ("enable",)),
    **dict.fromkeys(("type", "kind", "dev_type", "devices_type", "device_types"), ("device_type",)),
    **dict.fromkeys(("virtual_devices", "logical_device", "configuration", "configurations"), ("logical_devices",)),
}
"""Keywords that the device functions never had, with the real keywords that may be meant."""

ASSIGNED: Mapping[str, Purpose] = {
    "enable_memory_growth": Purpose.GROWTH,
    "set_memory_growth": Purpose.GROWTH,
    "memory_growth": Purpose.GROWTH,
    "gpu_memory_growth": Purpose.GROWTH,
    "allow_growth": Purpose.GROWTH,
    "allow_memory_growth": Purpose.GROWTH,
    "gpu_allow_growth": Purpose.GROWTH,
    "memory_limit": Purpose.LIMIT,
    "gpu_memory_limit": Purpose.LIMIT,
    "set_memory_limit": Purpose.LIMIT,
    "memory_fraction": Purpose.FRACTION,
    "gpu_memory_fraction": Purpose.FRACTION,
    "per_process_gpu_memory_fraction": Purpose.FRACTION,
}
"""Attributes that code sets on ``tf.config``, ``tf.config.experimental`` or a device; TensorFlow never reads them. (In
``tf.config.experimental``, ``set_memory_growth`` is real: assigning to it destroys the function.)"""


@lru_cache(maxsize=2048)
def purpose_of(name: str) -> MadeUp | None:
    """Return the purpose of ``name``, used as a function or an option.

    Return None for a name that any release has (or may have), for a name outside ``tf.``, and if neither the list nor
    the words in the name state a purpose.
    """
    if not name.startswith("tf."):
        return None
    found = _listed().get(name)
    if found is None and _placed(name):
        found = _by_last_word().get(name.rpartition(".")[2]) or _by_words(name)
    if found is None or _real(name):
        return None
    return found


def assigned(name: str) -> MadeUp | None:
    """Return the purpose of assigning to ``name``, a module attribute:
    ``tf.config.experimental.enable_memory_growth``."""
    purpose = ASSIGNED.get(name.rpartition(".")[2])
    if purpose is None or not _placed(name):
        return None
    unit = {Purpose.LIMIT: "auto", Purpose.FRACTION: "fraction"}.get(purpose, "")
    return MadeUp(purpose, unit=unit, listed=True)


def _real(name: str) -> bool:
    """Return True if some release has the name; a method of a call's result is never in the table of names."""
    return "()" not in name and names.ever_existed(name)


# The list


@lru_cache(maxsize=1)
def _listed() -> dict[str, MadeUp]:
    """Return the list; a line is ``name purpose [value=..] [unit=..] [device=..] [amount=..]``."""
    table = {}
    for line in tables.text("made_up.txt").splitlines():
        if line and not line.startswith("#"):
            name, purpose, *more = line.split()
            fields = dict(item.split("=") for item in more)
            device, amount = fields.get("device"), fields.get("amount")
            table[name] = _make(
                Purpose(purpose),
                fields.get("value", ""),
                fields.get("unit", ""),
                int(device) if device else None,
                int(amount) if amount else None,
                listed=True,
            )
    return table


@lru_cache(maxsize=1)
def _by_last_word() -> dict[str, MadeUp]:
    """Return the list by last component, for the same made-up name in another namespace."""
    return {name.rpartition(".")[2]: replace(found, listed=False) for name, found in reversed(_listed().items())}


def _make(
    purpose: Purpose,
    value: str = "",
    unit: str = "",
    device: int | None = None,
    amount: int | None = None,
    *,
    listed: bool = False,
) -> MadeUp:
    keywords = AMOUNT_KEYWORDS.get(purpose, ())
    return MadeUp(purpose, value, unit, device, amount, DEVICE_KEYWORDS if device is not None else (), keywords, listed)


# The words

_PLACES = frozenset(
    f"tf{version}{place}"
    for version in ("", ".compat.v1")
    for place in (
        "",
        ".config",
        ".config.experimental",
        ".config.optimizer",
        ".config.threading",
        ".contrib.memory_stats",
        ".debugging",
        ".debugging.experimental",
        ".distribute",
        ".distribute.experimental",
        ".experimental",
        ".keras",
        ".keras.backend",
        ".keras.utils",
        ".profiler",
        ".profiler.experimental",
        ".sysconfig",
        ".test",
        ".test.experimental",
    )
)
"""Namespaces in which made-up names are about memory; the same words in ``tf.nn`` or ``tf.data`` mean something
else."""


def _placed(name: str) -> bool:
    """Return True if the longest prefix of ``name`` that any release has is such a namespace."""
    if "(" in name:
        return False
    owner = name.rpartition(".")[0]
    while not names.is_module(owner) and not names.ever_existed(owner):
        owner = owner.rpartition(".")[0]
    return owner in _PLACES


def _words(name: str) -> frozenset[str]:
    """Return ``set_gpuMemoryLimit`` as its words in lower case."""
    return frozenset(word.lower() for word in re.findall(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+", name))


_READING = frozenset(
    {"get", "report", "usage", "used", "info", "stats", "statistics", "query", "read", "print", "show"}
    | {
        "allocated",
        "reserved",
        "consumption",
        "consumed",
        "footprint",
        "monitor",
        "track",
        "measure",
        "dump",
        "summary",
    }
)
_RELEASING = frozenset(
    {"clear", "free", "release", "empty", "flush", "purge", "reset", "clean", "cleanup", "collect", "gc", "reclaim"}
    | {"deallocate", "dealloc"}
)
_MEMORY = frozenset({"memory", "mem", "vram"})
_SHARES = frozenset({"fraction", "frac", "percent", "percentage", "ratio", "share"})
_BOUNDS = frozenset({"limit", "cap", "max", "maximum", "budget", "quota", "restrict", "bound"})
_BOUNDING = frozenset({"set", "limit", "cap", "apply", "gpu", "configure", "restrict", "bound"})
_GROWING = (frozenset({"on", "demand"}), frozenset({"dynamic"}), frozenset({"incremental"}), frozenset({"grow"}))
"""Words for growth besides "growth", if the name also has "memory"."""
_ALL_AT_ONCE = frozenset({"preallocate", "preallocation", "prealloc"})
_OFF = frozenset({"disable", "no", "off", "prevent", "stop", "without"})


def _by_words(name: str) -> MadeUp | None:
    """Return the purpose that the words of the last component state unambiguously."""
    last = name.rpartition(".")[2]
    words = _words(last)
    place = _words(name.rpartition(".")[0])
    memory, gpu = words & _MEMORY, words & {"gpu", "gpus", "cuda", "vram"}
    grows = "growth" in words or ((memory or gpu) and any(name <= words for name in _GROWING))
    at_once = bool(words & _ALL_AT_ONCE and (memory or gpu or place & _MEMORY))
    if grows or at_once:
        opposite = at_once is not bool(words & _OFF)
        return None if words & _READING else _make(Purpose.GROWTH, "not" if opposite else "", device=0, amount=1)
    if not memory and not (place & _MEMORY):
        listed = words & {"gpu", "gpus"} or {"physical", "devices"} <= words
        if words & {"list", "available", "devices", "physical"} and listed and words <= _LISTING:
            return _make(Purpose.DEVICES)
        return None
    if words & _SHARES:
        unit = "percent" if words & {"percent", "percentage"} else "fraction"
        return None if words & _READING else _make(Purpose.FRACTION, unit=unit, device=0, amount=1)
    if words & _READING:
        return _make(Purpose.REPORT, _reported(words), device=0)
    if (words & _BOUNDS and words & _BOUNDING) or ("set" in words and words <= _AMOUNTS):
        return _make(Purpose.LIMIT, unit=_unit(words), device=0, amount=1)
    if words & _RELEASING and (memory or gpu or place & _MEMORY):
        return _make(Purpose.RELEASE)
    return None


_AMOUNTS = frozenset(
    {"set", "gpu", "gpus", "device", "memory", "mem", "vram", "size", "amount", "mb", "gb", "mib", "gib"}
)
"""In ``set_gpu_memory(gpu, 2048)`` the number can only be an amount."""


def _unit(words: frozenset[str]) -> str:
    """Return the unit that a name states: ``set_memory_limit_gb``."""
    for unit, said in _UNITS.items():
        if words & said:
            return unit
    return "auto"


_UNITS: Mapping[str, frozenset[str]] = {
    "mib": frozenset({"mb", "mib", "megabytes"}),
    "gib": frozenset({"gb", "gib", "gigabytes"}),
    "bytes": frozenset({"bytes"}),
}
_LISTING = frozenset(
    {"list", "get", "available", "gpu", "gpus", "device", "devices", "all", "physical", "visible", "local", "names"}
)


def _reported(words: frozenset[str]) -> str:
    if words & {"peak", "max", "maximum", "highest"}:
        return "peak"
    if words & {"free", "available", "remaining"}:
        return "free"
    if words & {"total", "limit", "size", "capacity"}:
        return "total"
    return "current"
