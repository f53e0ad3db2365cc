"""Read TensorFlow's `ConfigProto`: the logical GPUs that it asks for, and its reported form."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class LogicalGpu:
    """One logical GPU that TensorFlow's device factory would make."""

    number: int
    physical: int
    """The index in TensorFlow's list of physical GPUs."""
    limit_mib: float | None

    @property
    def name(self) -> str:
        """Return the full name of the device."""
        return f"/job:localhost/replica:0/task:0/device:GPU:{self.number}"


def visible(config: Any, gpus: int) -> list[int]:
    """Return the GPUs that a configuration uses, as indices among ``gpus`` physical ones.

    Raises:
        ValueError: the list isn't one of numbers; `refusal` says so beforehand.
    """
    listed = config.gpu_options.visible_device_list
    order = [int(entry) for entry in listed.split(",")] if listed else list(range(gpus))
    order = [index for index in order if index < gpus]
    if "GPU" not in config.device_count:
        return order
    count = config.device_count["GPU"]
    # With logical devices the count is that of logical ones, so it can only say "none" or cut an unsplit list.
    if count == 0 or not config.gpu_options.experimental.virtual_devices:
        return order[:count]
    return order


def limits(config: Any, gpus: int) -> list[list[float]]:
    """Return, for each visible GPU, the sizes of its logical devices in MiB; empty if it isn't split."""
    split = config.gpu_options.experimental.virtual_devices
    return [
        list(split[place].memory_limit_mb) if place < len(split) else [] for place in range(len(visible(config, gpus)))
    ]


def logical_gpus(config: Any, gpus: int) -> list[LogicalGpu]:
    """Return the logical GPUs that ``config`` makes on a machine with ``gpus`` physical ones."""
    made: list[LogicalGpu] = []
    for physical, sizes in zip(visible(config, gpus), limits(config, gpus), strict=True):
        whole: list[float | None] = [None]
        for size in sizes or whole:
            made.append(LogicalGpu(len(made), physical, size))
    return made


def refusal(config: Any, gpus: int) -> tuple[str, str] | None:
    """Return the error (name, message) with which the device factory refuses ``config``; None if it doesn't.

    The messages are those in TensorFlow's binary. Without a GPU the factory looks at none of this.
    """
    if gpus == 0:
        return None
    use = config.device_count.get("GPU", gpus)
    split = len(config.gpu_options.experimental.virtual_devices)
    wrong = _wrong_list(config.gpu_options.visible_device_list, gpus) if use > 0 else ""
    if wrong:
        return "InvalidArgumentError", wrong
    if split > use:
        message = f"Not enough GPUs to create virtual devices. num_gpus_to_use: {use} #virtual_devices: {split}"
        return "UnknownError", message
    if split and config.gpu_options.per_process_gpu_memory_fraction > 0:
        message = "It's invalid to set per_process_gpu_memory_fraction when virtual_devices is set."
        return "InvalidArgumentError", message
    return None


def _wrong_list(text: str, gpus: int) -> str:
    """Return the error in a ``visible_device_list``, ``''`` if there is none."""
    seen: set[int] = set()
    for entry in text.split(",") if text else ():
        if not re.fullmatch(r"\s*[+-]?\d+\s*", entry):
            return f"Could not parse entry in 'visible_device_list': '{entry}'. visible_device_list = {text}"
        index = int(entry)
        if not 0 <= index < gpus:
            return f"'visible_device_list' listed an invalid Device id '{index}' but visible device count is {gpus}"
        if index in seen:
            return f"visible_device_list contained a duplicate entry: {text}"
        seen.add(index)
    return ""


def without_gpus(config: Any) -> Any:
    """Return a copy that asks for no GPU, as the real runtime must not touch one."""
    clean = type(config)()
    clean.CopyFrom(config)
    clean.ClearField("gpu_options")
    clean.device_count["GPU"] = 0
    return clean


def report(config: Any, gpus: int, said: Iterable[bool | None] = ()) -> dict[str, Any]:
    """Return the reported form of ``config``; ``said`` is what the program set for the visible GPUs.

    The message can't distinguish ``allow_growth=False`` from no setting, so ``said`` is needed.
    """
    growth = True if config.gpu_options.allow_growth else None
    if growth is None and not config.gpu_options.experimental.virtual_devices and False in list(said):
        growth = False
    return {
        "allow_growth": growth,
        "visible": visible(config, gpus),
        "limits": limits(config, gpus),
        "per_process_gpu_memory_fraction": config.gpu_options.per_process_gpu_memory_fraction,
        "forced": False,
    }
