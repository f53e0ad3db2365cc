"""Ask NVML, the driver's own interface, for the GPUs of this machine.

NVML sees every GPU, whatever ``CUDA_VISIBLE_DEVICES`` says, and takes no memory of any. Much of it may be refused: in
containers, on MIG devices, on notebook GPUs, by old drivers. A refused value is None, and the others are returned.
"""

from __future__ import annotations

import importlib
import threading
from dataclasses import dataclass
from typing import Any

from tfmemlint.doctor.trouble import Trouble, one_line

MIB = 1024 * 1024
SECONDS = 20.0
"""The time limit for NVML, in seconds, as it never answers with a wedged driver; a bound without a deeper reason."""


@dataclass(frozen=True, slots=True)
class Process:
    """A process that uses a GPU.

    Attributes:
        pid: its number; inside a container, its number on the host.
        name: its program; "" if NVML doesn't say.
        used_mib: the GPU memory that it holds, in MiB; None if NVML doesn't say, as on Windows.
    """

    pid: int
    name: str = ""
    used_mib: int | None = None


@dataclass(frozen=True, slots=True)
class MigSlice:
    """A MIG device: a part of a GPU that CUDA treats as a GPU of its own.

    Attributes:
        name: such as ``NVIDIA A100-SXM4-40GB MIG 1g.5gb``. uuid: such as ``MIG-...``.
        total_mib: its memory in MiB; None if NVML doesn't say.
    """

    name: str
    uuid: str
    total_mib: int | None = None


@dataclass(frozen=True, slots=True)
class NvmlGpu:
    """A physical GPU, as NVML reports it.

    Attributes:
        index: NVML's number, which is ``nvidia-smi``'s; not always CUDA's or TensorFlow's.
        name: the model; "" if NVML doesn't say, as for all other texts below.
        uuid: such as ``GPU-...``; the same for NVML and for CUDA. bus_id: the address on the PCI bus.
        total_mib, used_mib, free_mib: its memory in MiB, rounded down; None if NVML doesn't say.
        processes: the processes that use it; None if NVML doesn't say, empty if there are none.
        mig: True if MIG is on; None if the GPU has no MIG, or NVML doesn't say.
        slices: its MIG devices.
        problem: what is wrong with the GPU as a whole, or was refused for lack of permission; else "".
    """

    index: int
    name: str = ""
    uuid: str = ""
    bus_id: str = ""
    total_mib: int | None = None
    used_mib: int | None = None
    free_mib: int | None = None
    processes: tuple[Process, ...] | None = None
    mig: bool | None = None
    slices: tuple[MigSlice, ...] = ()
    problem: str = ""


@dataclass(frozen=True, slots=True)
class NvmlReport:
    """The answers of NVML. Names of attributes are keys of ``doctor --json``.

    Attributes:
        driver: the driver's version, such as ``550.54.15``; "" if unknown.
        cuda: the newest CUDA that the driver supports, such as ``12.4``; "" if unknown.
        cards: the GPUs, in NVML's order.
        trouble: why NVML has no answers; None if it has.
    """

    driver: str = ""
    cuda: str = ""
    cards: tuple[NvmlGpu, ...] = ()
    trouble: Trouble | None = None


def read(nvml: Any = None, *, seconds: float = SECONDS) -> NvmlReport:
    """Ask NVML. It never raises: errors are the result's ``trouble``, or a GPU's ``problem``.

    Args:
        nvml: the binding to use, with the functions of ``pynvml``; by default ``pynvml`` is imported.
        seconds: the time limit.
    """
    answers: list[NvmlReport] = []

    def ask() -> None:
        try:
            answers.append(_read(nvml))
        except Exception as error:
            answers.append(NvmlReport(trouble=Trouble(f"NVML failed: {_said(error)}")))

    # It runs in a thread, as no signal interrupts a call that waits for the driver.
    thread = threading.Thread(target=ask, daemon=True)
    thread.start()
    thread.join(seconds)
    if answers:
        return answers[0]
    hangs = Trouble(
        f"NVML gave no answer within {seconds:g} s",
        "check whether `nvidia-smi` hangs as well; if so, restart the machine",
    )
    return NvmlReport(trouble=hangs)


NO_BINDING = Trouble("pynvml, the binding of NVML, can't be imported", "pip install nvidia-ml-py")
NO_LIBRARY = Trouble("there is no NVML library, which is part of the NVIDIA driver")
_AT_START = {
    "LibraryNotFound": NO_LIBRARY,
    "DriverNotLoaded": Trouble(
        "the NVIDIA driver is installed but not loaded",
        "load it (`sudo modprobe nvidia`), or restart the machine; `dmesg` says why it doesn't load",
    ),
    "NoPermission": Trouble(
        "NVML is not allowed to talk to the driver", "let this user read and write /dev/nvidiactl and /dev/nvidia0"
    ),
    "LibRmVersionMismatch": Trouble(
        "the NVIDIA driver that is loaded has another version than its libraries",
        "restart the machine: the driver was updated while it ran",
    ),
}


def _read(nvml: Any) -> NvmlReport:
    if nvml is None:
        try:
            nvml = importlib.import_module("pynvml")
        except ImportError:
            return NvmlReport(trouble=NO_BINDING)
    try:
        nvml.nvmlInit()
    except Exception as error:
        return NvmlReport(trouble=_AT_START.get(_kind(error), Trouble(f"NVML doesn't start: {_said(error)}")))
    try:
        asked = _NvmlCalls(nvml)
        driver, cuda = asked.text("nvmlSystemGetDriverVersion"), asked.ask("nvmlSystemGetCudaDriverVersion")
        count = asked.ask("nvmlDeviceGetCount")
        if count is None:
            return NvmlReport(driver, _cuda(cuda), trouble=Trouble(f"NVML doesn't count the GPUs: {asked.last}"))
        return NvmlReport(driver, _cuda(cuda), tuple(_card(nvml, index) for index in range(count)))
    finally:
        _NvmlCalls(nvml).ask("nvmlShutdown")


class _NvmlCalls:
    """Calls of NVML that may be refused."""

    def __init__(self, nvml: Any) -> None:
        self.nvml = nvml
        self.last = ""
        self.forbidden = False

    def ask(self, function: str, *arguments: object) -> Any:
        """Return NVML's answer; None if it is refused for any reason: old drivers and bindings lack functions."""
        try:
            return getattr(self.nvml, function)(*arguments)
        except Exception as error:
            self.last = _said(error)
            self.forbidden |= _kind(error) == "NoPermission"
            return None

    def text(self, function: str, *arguments: object) -> str:
        """Return a name, as `ask`; "" if it is refused. Older bindings return bytes."""
        return _text(self.ask(function, *arguments))


def _card(nvml: Any, index: int) -> NvmlGpu:
    asked = _NvmlCalls(nvml)
    handle = asked.ask("nvmlDeviceGetHandleByIndex", index)
    if handle is None:
        return NvmlGpu(index, problem=f"NVML gives no access to it: {asked.last}")
    memory = asked.ask("nvmlDeviceGetMemoryInfo", handle)
    bus_id = getattr(asked.ask("nvmlDeviceGetPciInfo", handle), "busId", "")
    modes = asked.ask("nvmlDeviceGetMigMode", handle)  # the mode now, and the mode after a reset
    name, uuid = asked.text("nvmlDeviceGetName", handle), asked.text("nvmlDeviceGetUUID", handle)
    processes = _processes(asked, handle)
    return NvmlGpu(
        index,
        name,
        uuid,
        _text(bus_id),
        total_mib=_mib(getattr(memory, "total", None)),
        used_mib=_mib(getattr(memory, "used", None)),
        free_mib=_mib(getattr(memory, "free", None)),
        processes=processes,
        mig=bool(modes[0]) if modes else None,
        slices=_slices(asked, handle) if modes and modes[0] else (),
        problem="NVML refuses some values for lack of permission" if asked.forbidden else "",
    )


def _processes(asked: _NvmlCalls, handle: Any) -> tuple[Process, ...] | None:
    lists = [asked.ask(f"nvmlDeviceGet{kind}RunningProcesses", handle) for kind in ("Compute", "Graphics")]
    if all(listed is None for listed in lists):
        return None
    found: dict[int, Process] = {}
    for process in (entry for entries in lists for entry in entries or ()):
        used = _mib(getattr(process, "usedGpuMemory", None))
        before = found.get(process.pid)
        if before is None:
            found[process.pid] = Process(process.pid, asked.text("nvmlSystemGetProcessName", process.pid), used)
        elif used is not None and used > (before.used_mib or 0):  # NVML lists a process twice if it computes and draws
            found[process.pid] = Process(process.pid, before.name, used)
    return tuple(sorted(found.values(), key=lambda process: (-(process.used_mib or 0), process.pid)))


def _slices(asked: _NvmlCalls, handle: Any) -> tuple[MigSlice, ...]:
    found = []
    for number in range(asked.ask("nvmlDeviceGetMaxMigDeviceCount", handle) or 0):
        part = asked.ask("nvmlDeviceGetMigDeviceHandleByIndex", handle, number)
        if part is not None:  # of the seven indices, those without a MIG device are "not found"
            memory = asked.ask("nvmlDeviceGetMemoryInfo", part)
            name, uuid = asked.text("nvmlDeviceGetName", part), asked.text("nvmlDeviceGetUUID", part)
            found.append(MigSlice(name, uuid, _mib(getattr(memory, "total", None))))
    return tuple(found)


def _text(answer: Any) -> str:
    return answer.decode("utf-8", "replace") if isinstance(answer, bytes) else str(answer or "")


def _mib(size: int | None) -> int | None:
    return None if size is None else int(size) // MIB


def _cuda(number: int | None) -> str:
    """Return the version of CUDA for NVML's number: 12040 is CUDA 12.4."""
    return f"{number // 1000}.{number % 1000 // 10}" if number else ""


def _kind(error: Exception) -> str:
    return type(error).__name__.removeprefix("NVMLError_")


def _said(error: Exception) -> str:
    return one_line(error) or type(error).__name__
