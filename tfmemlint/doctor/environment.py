"""Judge the environment variables that are set and affect GPU memory."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum

from tfmemlint.knowledge.environment import OTHERS, Moment, allowed, is_made_up, purpose_of, read_at
from tfmemlint.model.intent import Purpose


class VariableVerdict(Enum):
    """The effect of a variable."""

    READ = "read"
    """TensorFlow, or the driver below it, reads it."""
    IGNORED = "ignored"
    """It is read, but this value has no effect."""
    UNREAD = "unread"
    """No release of TensorFlow reads it."""


@dataclass(frozen=True, slots=True)
class VariableReport:
    """A variable that is set.

    Attributes:
        name, value: as in the environment. verdict: its effect.
        note: the effect in words, as a clause. do: what to write instead; "" if nothing needs to change.
    """

    name: str
    value: str
    verdict: VariableVerdict
    note: str
    do: str = ""


_MOMENTS = {
    Moment.IMPORT: "read while TensorFlow is imported",
    Moment.LISTING: "read when the devices are first listed",
    Moment.DEVICES: "read when the devices are started",
    Moment.CONVOLUTION: "read at the first convolution",
    Moment.SHORTAGE: "read when memory has run out",
}
# Measured, like the tables of variables: effects of values that are easily mistaken.
_MEANINGS = {
    ("TF_FORCE_GPU_ALLOW_GROWTH", "true"): "growth on every GPU, whatever the program sets",
    ("TF_FORCE_GPU_ALLOW_GROWTH", "false"): "no growth on any GPU: set_memory_growth(gpu, True) has no effect",
    ("TF_GPU_ALLOCATOR", "cuda_malloc_async"): "memory limits are not enforced by this allocator",
    ("TF_GPU_ALLOCATOR", "cuda_malloc"): "this allocator keeps no statistics: get_memory_info fails",
}
_INSTEAD = {
    Purpose.GROWTH: "TF_FORCE_GPU_ALLOW_GROWTH=true",
    Purpose.LIMIT: "set_logical_device_configuration with a memory_limit in MiB, in the program",
    Purpose.FRACTION: "set_logical_device_configuration with a memory_limit in MiB, in the program",
    Purpose.ALLOCATOR: "TF_GPU_ALLOCATOR=cuda_malloc_async",
    Purpose.VISIBLE: "CUDA_VISIBLE_DEVICES=-1",
}
_ASIDE = {
    "CUDA_DEVICE_ORDER": "read by CUDA when the devices are first listed",
    "LD_LIBRARY_PATH": "the loader looks for the CUDA libraries here first",
    "NVIDIA_VISIBLE_DEVICES": "read by NVIDIA's container toolkit when the container starts",
}


def settings(env: Mapping[str, str], cards: int | None = None) -> tuple[VariableReport, ...]:
    """Return the variables in ``env`` that affect GPU memory, in alphabetical order.

    Args:
        env: the environment of the program that is to run.
        cards: the number of GPUs that NVML lists, to check ``CUDA_VISIBLE_DEVICES``; None if it isn't known.
    """
    found = (_setting(name, value, env, cards) for name, value in sorted(env.items()))
    return tuple(variable for variable in found if variable is not None)


def hides_all(env: Mapping[str, str]) -> bool:
    """True if ``CUDA_VISIBLE_DEVICES`` hides every GPU."""
    value = env.get("CUDA_VISIBLE_DEVICES")
    return value is not None and (not value.strip() or value.strip().startswith("-"))


def _setting(name: str, value: str, env: Mapping[str, str], cards: int | None) -> VariableReport | None:
    if name == "CUDA_VISIBLE_DEVICES":
        return _visible(value, env, cards)
    if name in _ASIDE:
        return VariableReport(name, value, VariableVerdict.READ, _ASIDE[name]) if value else None
    if name == "KERAS_BACKEND" and value not in ("", "tensorflow"):
        return VariableReport(
            name, value, VariableVerdict.READ, "Keras 3 sets TF_FORCE_GPU_ALLOW_GROWTH=true while it is imported"
        )
    if is_made_up(name):
        if name in OTHERS:
            note = f"{OTHERS[name]} reads it, TensorFlow doesn't"
            return VariableReport(name, value, VariableVerdict.UNREAD, note)
        purpose = purpose_of(name)
        return VariableReport(
            name,
            value,
            VariableVerdict.UNREAD,
            "no release of TensorFlow reads it",
            _INSTEAD.get(purpose, "") if purpose else "",
        )
    moment = read_at(name)
    if moment is None:
        return None
    values = allowed(name)
    if values is not None and value not in values:
        known = _either(values)
        return VariableReport(
            name, value, VariableVerdict.IGNORED, f"this value has no effect; only {known} do", _nearest(name, value)
        )
    meaning = _MEANINGS.get((name, value))
    return VariableReport(name, value, VariableVerdict.READ, _MOMENTS[moment] + (f"; {meaning}" if meaning else ""))


def _either(values: tuple[str, ...]) -> str:
    return f"{', '.join(values[:-1])} and {values[-1]}"


def _nearest(name: str, value: str) -> str:
    """Return the setting that was probably intended, or ""."""
    if name == "TF_FORCE_GPU_ALLOW_GROWTH":
        meant = value.strip().lower()
        if meant in ("1", "true", "yes", "on"):
            return f"{name}=true"
        if meant in ("0", "false", "no", "off"):
            return f"{name}=false"
    return ""


def _visible(value: str, env: Mapping[str, str], cards: int | None) -> VariableReport:
    def setting(note: str, verdict: VariableVerdict = VariableVerdict.READ, do: str = "") -> VariableReport:
        return VariableReport("CUDA_VISIBLE_DEVICES", value, verdict, note, do)

    if hides_all(env):
        return setting("hides every GPU")
    names = [name.strip() for name in value.split(",")]
    if not all(name.isdecimal() for name in names):
        shown = [f"{name} becomes GPU {place}" for place, name in enumerate(names) if name]
        return setting("; ".join(shown))
    numbers = [int(name) for name in names]
    kept = numbers
    if cards is not None:
        outside = next((place for place, number in enumerate(numbers) if number >= cards), None)
        if outside is not None:
            kept = numbers[:outside]
            there = f"there is no GPU {numbers[outside]}, only {cards} in all; CUDA ignores it and every entry after it"
            left = f"; {_renumbered(kept)}" if kept else ": no GPU is left"
            return setting(
                there + left, VariableVerdict.IGNORED if not kept else VariableVerdict.READ, "name GPUs that exist"
            )
    note = _renumbered(kept)
    if (cards is None or cards > 1) and env.get("CUDA_DEVICE_ORDER") != "PCI_BUS_ID":
        note += "; counted in CUDA's order, the fastest first, unless CUDA_DEVICE_ORDER=PCI_BUS_ID"
    return setting(note)


def _renumbered(numbers: list[int]) -> str:
    return ", ".join(
        f"physical GPU {number} {'becomes' if place != number else 'is'} GPU {place}"
        for place, number in enumerate(numbers)
    )
