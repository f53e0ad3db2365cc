"""Units of memory: in names, in conversions, and in what other libraries return."""

from __future__ import annotations

import re
from collections.abc import Mapping

from tfmemlint.model.patterns import late_pattern

BYTES, KIB, MIB, GIB = "bytes", "kib", "mib", "gib"
SHARE = "share"
"""Of an amount that is a part of a GPU's memory, from 0 to 1."""
_BITS: Mapping[str, int] = {BYTES: 0, KIB: 10, MIB: 20, GIB: 30}
"""By unit: how many times 1024 bytes it is, as a power of two."""
_UNITS = {bits: unit for unit, bits in _BITS.items()}
_DECIMAL = {1000: 10, 1_000_000: 20, 1_000_000_000: 30}
_MOST_PLAIN = 100
"""A factor up to this one scales an amount; no conversion of units has one that is so small."""

_WORDS: Mapping[str, str] = {
    **dict.fromkeys(("bytes", "byte"), BYTES),
    **dict.fromkeys(("kb", "kib", "kilobytes", "kbytes"), KIB),
    **dict.fromkeys(("mb", "mib", "megabytes", "mbytes", "megs"), MIB),
    **dict.fromkeys(("gb", "gib", "gigabytes", "gbytes", "gigs"), GIB),
}
_PARTS = late_pattern(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")
_UNIT = late_pattern(r"b(?:\b|_|ytes?\b|ytes?_)|[kmg]ib|gigs|megs|B\b|Bytes", re.IGNORECASE)
_AMOUNT = late_pattern(r"([0-9]{1,15}(?:\.[0-9]{1,15})?)\s{0,9}([A-Za-z]{1,9})")
_PLAIN_WORD = late_pattern(r"[A-Za-z]+")
_STATED = late_pattern(r"\bin ([A-Za-z]{1,9})\b|[(\[]([A-Za-z]{1,9})[)\]]")
"""The unit of an option in its explanation: ``in MB``, ``(MB)``."""
_RATE = late_pattern(r"/\s?s|%")
_LETTERS: Mapping[str, str] = {"k": KIB, "m": MIB, "g": GIB}
WORDS = {BYTES: "bytes", KIB: "KiB", MIB: "MiB", GIB: "GiB"}

MEMORY_FIELDS: Mapping[str, tuple[str, ...]] = {
    "nvmlDeviceGetMemoryInfo": ("total", "free", "used"),
    "virtual_memory": ("total", "available", "used", "free"),
    "swap_memory": ("total", "used", "free"),
    "get_device_properties": ("total_memory",),
}
"""Functions of NVML, psutil and torch that return amounts of memory in bytes, with the names of these.

Source: NVML's reference, ``nvmlMemory_t`` ("in bytes"); psutil's, ``virtual_memory()`` ("expressed in bytes").
"""

_TOTALS: Mapping[str, str] = {"nvmlDeviceGetMemoryInfo": "total", "get_device_properties": "total_memory"}
"""Of these, what is all of the memory of a GPU."""

GPUTIL_FIELDS: Mapping[str, str] = {
    **dict.fromkeys(("memoryTotal", "memoryFree", "memoryUsed"), MIB),
    **dict.fromkeys(("memoryUtil", "load"), SHARE),
}
"""Attributes of what ``GPUtil.getGPUs()`` lists: it takes them from nvidia-smi, in MiB (GPUtil 1.4)."""
_QUERY = late_pattern(r"--query-gpu=[\s\"']{0,3}((?:memory\.(?:total|free|used)[\s,]{0,3}){1,3})(?![\w.])")


def is_asked_in_mib(command: str) -> bool:
    """Return True if a command is nvidia-smi that is asked for amounts of memory alone, as plain numbers: of MiB.

    Source: ``nvidia-smi --help-query-gpu`` and the unit that it writes without ``nounits``.
    """
    return "nvidia-smi" in command and "nounits" in command and _QUERY.search(command) is not None


def unit_in_name(name: str) -> str:
    """Return the unit that a name of several words states: ``gib`` of ``memory_gb``; "" where it states none or two.

    A name that is nothing but a unit (``GB = 1024``) is a factor, and ``bytes_per_mb`` has two.
    """
    if not _UNIT.search(name):
        return ""
    words = [word.lower() for word in _PARTS.findall(name)]
    found = {_WORDS[word] for word in words if word in _WORDS}
    others = [word for word in words if word not in _WORDS and not word.isdigit()]
    return found.pop() if len(found) == 1 and others and "per" not in words and "to" not in words else ""


def unit_in_heading(text: str) -> str:
    """Return the unit that the heading of a column states: ``mib`` of ``peak MB``; "" for none, several, or a rate."""
    whole = [word for word in _PLAIN_WORD.findall(text) if word.lower() in _WORDS]
    words = {word.lower() for word in (*whole, *_PARTS.findall(text))}
    found = {_WORDS[word] for word in words if word in _WORDS}
    return found.pop() if len(found) == 1 and not words & {"per", "of", "to"} and not _RATE.search(text) else ""


def unit_in_help(text: str) -> str:
    """Return the unit that the explanation of an option states: ``mib`` of ``memory to use, in MB``; "" for none, or
    several."""
    units_written = {_WORDS[word.lower()] for word in _PLAIN_WORD.findall(text) if word.lower() in _WORDS}
    stated = {_WORDS.get((match[1] or match[2]).lower(), "") for match in _STATED.finditer(text)} - {""}
    return stated.pop() if len(units_written) == len(stated) == 1 else ""


_TOTAL = frozenset({"total", "card", "capacity", "vram", "physical", "installed", "hbm"})
_GPU = frozenset({"gpu", "device", "cuda"})
_MEMORY = frozenset({"mem", "memory", "ram", "size", "vram"})
_OTHERS = frozenset({"host", "cpu", "system", "limit", "used", "free", "max", "min", "batch", "slice", "unit", "step"})
"""Words of names of amounts that are not all of the memory of a GPU."""
_TOGETHER = frozenset({"together", "altogether", "combined", "overall", "total"})
_EACH = frozenset({"each", "per", "every", "individual", "single", "one", "default", "fraction", "share"})


def is_memory_of_gpu(name: str, *, for_sure: bool = False) -> bool:
    """True if a name says that it is all of the memory of a GPU: ``CARD_MB``, ``total_gpu_memory``.

    ``for_sure``: not if it may as well be a part of it, as ``gpu_memory_mb`` may.
    """
    words = {word.lower() for word in _PARTS.findall(name)}
    if words & _OTHERS or any(word.endswith("s") and word not in _WORDS for word in words):
        return False
    amount = bool(words & _MEMORY) or any(word in _WORDS for word in words)
    if words & _TOTAL:
        return amount or bool(words & _GPU) or not for_sure
    return not for_sure and bool(words & _GPU) and amount


def all_of_a_gpu(function: str) -> tuple[str, ...]:
    """Return the fields of what a function returns that are all of the memory of a GPU."""
    total = _TOTALS.get(function.rpartition(".")[2])
    return (total,) if total is not None else ()


def is_for_all(text: object) -> bool:
    """True if the explanation of an option says that its amount is for all who share it."""
    words = {word.lower() for word in _PLAIN_WORD.findall(text)} if isinstance(text, str) else set()
    return bool(words & _TOGETHER) and not words & _EACH


def written_unit(word: str) -> str:
    """Return the unit that a word beside an amount states: ``mib`` of ``MB``; "" for any other word."""
    return _WORDS.get(word.lower(), "")


def bits_of_factor(factor: object) -> int | None:
    """Return the power of two by which a factor converts units, 0 for one that only scales, None for any other."""
    if isinstance(factor, bool) or not isinstance(factor, (int, float)) or factor <= 0 or factor != factor:
        return None
    for bits in (10, 20, 30):
        if factor == 2**bits:
            return bits
        if factor == 2**-bits:
            return -bits
    for number, bits in _DECIMAL.items():
        if factor == number:
            return bits
        if abs(factor * number - 1) < 1e-9:
            return -bits
    return 0 if factor <= _MOST_PLAIN else None


def converted(unit: str, bits: int | None) -> str:
    """Return the unit of an amount that is multiplied by a factor of so many bits; "" where it has none that is known.

    16 GiB times 1024 are so many MiB.
    """
    return _UNITS.get(_BITS[unit] - bits, "") if unit in _BITS and bits is not None else ""


def factor_between(unit: str, told: str) -> str:
    """Return the factor that makes an amount in ``unit`` one in ``told``, as code: ``/ 1024**2`` of bytes and MiB."""
    bits = _BITS[told] - _BITS[unit]
    power = abs(bits) // 10
    return f"{'/' if bits > 0 else '*'} 1024{f'**{power}' if power > 1 else ''}"


def factor_to_mib(unit: str) -> int:
    """Return the power of two that an amount in ``unit`` is divided by to be in MiB: 20 for bytes, -10 for GiB."""
    return _BITS[MIB] - _BITS[unit]


def amount_in_mib(text: str) -> float | None:
    """Return an amount that a program has as a text (``2GB``, ``512 MiB``) in MiB; None for any other text.

    In programs a GB is 1024 MB: who writes ``2GB`` for a limit means 2048.
    """
    match = _AMOUNT.fullmatch(text.strip())
    unit = _WORDS.get(match[2].lower()) or _LETTERS.get(match[2].lower()) if match is not None else None
    if match is None or unit is None:
        return None
    return float(match[1]) * 2.0 ** (_BITS[unit] - _BITS[MIB]) or None
