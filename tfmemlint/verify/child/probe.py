"""Measure the memory that is really taken after a program has configured it, on a real GPU or a simulated driver.

Each logical GPU is used a little, then up to its limit, then beyond it. In between, NVML is asked for the memory of
this process. If NVML hides process ids (as in containers), the use of the whole device is compared with that before.
"""

from __future__ import annotations

import contextlib
import ctypes
import importlib.util
import math
import os
import re
import sys
import threading
from collections.abc import Mapping
from typing import Any

from tfmemlint.verify.child.recording import module

MIB = 1024 * 1024
SMALL_MIB = 64
LARGE_MIB = 256
"""The steps in which memory is taken if there is no limit, in MiB: little compared with any GPU."""
PARTS = 8
"""The parts in which a limit is used up, less one, as the allocator keeps some memory for alignment."""
PARTS_WHEN_GROWING = 32
"""The same for a GPU whose memory grows. The allocator then takes regions of 2, 4, 8, ... MiB, and the end of a region
that is too small for a part is lost to it: parts that are powers of two fill all but the last region."""


class Meter:
    """NVML's view of the GPUs, from before the program ran."""

    def __init__(self, pynvml: str) -> None:
        """Ask NVML for the present use. ``pynvml`` is the file of the module, for a Python that doesn't have it."""
        self.blind = ""
        self._nvml: Any = None
        self._before: dict[str, float] = {}
        self.view = ""
        try:
            self._nvml = _pynvml(pynvml)
            self._nvml.nvmlInit()
            for index in range(self._nvml.nvmlDeviceGetCount()):
                handle = self._nvml.nvmlDeviceGetHandleByIndex(index)
                bus = _normal(self._nvml.nvmlDeviceGetPciInfo(handle).busId)
                with contextlib.suppress(Exception):
                    self._before[bus] = self._nvml.nvmlDeviceGetMemoryInfo(handle).used / MIB
        except Exception as error:
            self.blind = f"NVML can't be asked: {error}"

    def used_mib(self, physical: int) -> float | None:
        """Return the memory of a physical GPU (TensorFlow's number) that this process holds, in MiB; None if NVML
        doesn't say.
        """
        try:
            handle, bus = self._handle(physical)
            for process in self._nvml.nvmlDeviceGetComputeRunningProcesses(handle):
                if process.pid == os.getpid() and process.usedGpuMemory is not None:
                    self.view = "process"
                    return float(process.usedGpuMemory / MIB)
            used = float(self._nvml.nvmlDeviceGetMemoryInfo(handle).used / MIB)
            self.view = "device"
            return used - self._before.get(bus, 0.0)
        except Exception as error:
            self.blind = self.blind or f"NVML can't be asked: {error}"
            return None

    def total_mib(self, physical: int) -> float | None:
        """Return the memory of a GPU in MiB."""
        with contextlib.suppress(Exception):
            return float(self._nvml.nvmlDeviceGetMemoryInfo(self._handle(physical)[0]).total / MIB)
        return None

    def free_mib(self, physical: int) -> float | None:
        """Return the memory that another process would find free, in MiB."""
        with contextlib.suppress(Exception):
            return float(self._nvml.nvmlDeviceGetMemoryInfo(self._handle(physical)[0]).free / MIB)
        return None

    def _handle(self, physical: int) -> tuple[Any, str]:
        """Return NVML's handle of a GPU, and its bus address.

        TensorFlow's numbers are CUDA's, NVML's are those of the bus. Both know the bus address.
        """
        text = ctypes.create_string_buffer(32)
        code = ctypes.CDLL("libcuda.so.1").cuDeviceGetPCIBusId(text, len(text), physical)
        if code != 0:
            raise OSError(f"cuDeviceGetPCIBusId says {code}")
        bus = text.value.decode()
        return self._nvml.nvmlDeviceGetHandleByPciBusId(bus.encode()), _normal(bus)


def probe(meter: Meter, config: dict[str, Any] | None) -> dict[str, Any]:
    """Measure what each logical GPU really gets; ``config`` is the reported configuration in force."""
    try:
        context = module("tensorflow.python.eager.context")
        found = []
        with context.eager_mode():
            names = [device.name for device in context.context().list_logical_devices("GPU")]
            for name, (physical, limit) in zip(names, logical(config), strict=False):
                known = _share(config, meter.total_mib(physical)) if limit is None else limit
                found.append(_probe_device(name, physical, known, meter, grows=_grows(config)))
        _go_beyond(found)
        return {"devices": found, "view": meter.view, "blind": meter.blind}
    except Exception as error:
        return {"error": f"{type(error).__name__}: {str(error)[:300]}"}


def logical(config: Mapping[str, Any] | None) -> list[tuple[int, float | None]]:
    """Return the physical GPU and the limit in MiB of each logical one."""
    found: list[tuple[int, float | None]] = []
    if config is not None:
        for physical, sizes in zip(config["visible"], config["limits"], strict=True):
            found += [(physical, size) for size in sizes] or [(physical, None)]
    return found


def _grows(config: Mapping[str, Any] | None) -> bool:
    """Return True if memory is taken as it is needed."""
    forced = os.environ.get("TF_FORCE_GPU_ALLOW_GROWTH")
    asked = config is not None and config["allow_growth"] is True
    return asked if forced not in ("true", "false") else forced == "true"


def _share(config: dict[str, Any] | None, total_mib: float | None) -> float | None:
    """Return the limit that ``per_process_gpu_memory_fraction`` makes, in MiB: a share of the physical GPU.

    A fraction above 1 asks for unified memory and is not a limit.
    """
    fraction = config["per_process_gpu_memory_fraction"] if config is not None else 0.0
    return fraction * total_mib if total_mib is not None and 0 < fraction <= 1 else None


def _probe_device(name: str, physical: int, limit: float | None, meter: Meter, *, grows: bool) -> dict[str, Any]:
    short = name.replace("/device:", "")
    told: dict[str, Any] = {"name": short, "physical": physical, "limit_mib": limit, "blind": meter.blind}
    told.update(total_mib=meter.total_mib(physical), before_mib=meter.used_mib(physical))
    told.update(held_mib=_held(name), refused_mib=0.0, refusal="", beyond_mib=0.0, trouble="")
    kept: list[Any] = []
    error = _take(name, 1 / 1024, kept)
    told.update(first_mib=meter.used_mib(physical), free_mib=meter.free_mib(physical))
    if error:
        return {**told, "granted_mib": 0.0, "after_mib": told["first_mib"], "trouble": error}
    total = told["total_mib"] or math.inf
    if limit is not None and 1 <= limit <= total:
        part = max(limit / PARTS, 0.25)
        granted, error = _fill(name, _pieces(limit, grows=grows), kept)
        # The node in the message is of this allocation, and not of the program.
        why = re.sub(r"\{\{.*?\}\}\s*", "", error)
        told["trouble"] = f"only {granted:g} of {limit:g} MiB could be allocated: {why}" if error else ""
        told["beyond_mib"] = limit + part
    else:
        granted, error = _fill(name, [SMALL_MIB, LARGE_MIB], kept)
        told["trouble"] = error
        if limit is not None and not error:
            told["trouble"] = f"{limit:g} MiB is not enforced as a limit: {told['first_mib'] or 0:.0f} MiB were taken"
    told.update(granted_mib=granted, after_mib=meter.used_mib(physical))
    return told


def _pieces(limit: float, *, grows: bool) -> list[float]:
    """Return the sizes of the pieces in which most of ``limit`` is allocated, in MiB."""
    if not grows:
        return [max(limit / PARTS, 0.25)] * (PARTS - 1)
    piece = max(2.0 ** math.floor(math.log2(limit / PARTS_WHEN_GROWING)), 0.25)
    return [piece] * math.floor(limit * (PARTS - 1) / PARTS / piece)


def _go_beyond(devices: list[dict[str, Any]]) -> None:
    """Ask each device for more than its limit, all at the same time.

    TensorFlow's allocator waits ten seconds for memory to be freed before it refuses (measured on 2.21).
    """

    def ask(device: dict[str, Any]) -> None:
        with module("tensorflow.python.eager.context").eager_mode():
            device["refusal"] = _take(f"/device:{device['name']}", device["beyond_mib"], [])
            device["refused_mib"] = device["beyond_mib"] if device["refusal"] else 0.0

    asking = [threading.Thread(target=ask, args=(device,)) for device in devices if device["beyond_mib"]]
    for thread in asking:
        thread.start()
    for thread in asking:
        thread.join()


def _fill(name: str, parts: list[float], kept: list[Any]) -> tuple[float, str]:
    granted = 0.0
    for part in parts:
        error = _take(name, part, kept)
        if error:
            return granted, error
        granted += part
    return granted, ""


def _take(name: str, mib: float, kept: list[Any]) -> str:
    """Allocate ``mib`` MiB on a device, and return ``Type: message`` if TensorFlow refuses."""
    tensorflow = module("tensorflow")
    try:
        with tensorflow.device(name):
            kept.append(tensorflow.zeros([int(mib * MIB / 4)], tensorflow.float32))
    except Exception as error:
        return f"{type(error).__name__}: {str(error).splitlines()[0][:300]}"
    return ""


def _held(name: str) -> float:
    """Return the peak of the program's own use of a device, in MiB."""
    with contextlib.suppress(Exception):
        info = module("tensorflow.python.eager.context").context().get_memory_info(name)
        return float(info["peak"] / MIB)
    return 0.0


def _normal(bus: Any) -> str:
    """Return a bus address in one spelling. The domain has four or eight digits, and letters of either case."""
    text = bus.decode() if isinstance(bus, bytes) else str(bus)
    domain, _, rest = text.strip("\0").lower().partition(":")
    return f"{int(domain, 16):x}:{rest}"


def _pynvml(path: str) -> Any:
    if not path:
        return importlib.import_module("pynvml")
    spec = importlib.util.spec_from_file_location("pynvml", path)
    if spec is None or spec.loader is None:
        raise ImportError(f"{path} can't be loaded")
    loaded = importlib.util.module_from_spec(spec)
    sys.modules.setdefault("pynvml", loaded)
    spec.loader.exec_module(loaded)
    return loaded
