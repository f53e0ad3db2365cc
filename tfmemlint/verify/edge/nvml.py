"""A stand-in for ``pynvml`` that answers for the simulated GPUs, and refuses what NVML refuses.

NVML knows every GPU of the machine in the order of the PCI bus, whatever ``CUDA_VISIBLE_DEVICES`` says.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from types import ModuleType, SimpleNamespace

from tfmemlint.verify.edge.machine import USED_MIB, SimulatedGpu, SimulatedMachine

MIB = 1024 * 1024
_ERRORS = {
    1: ("Uninitialized", "Uninitialized"),
    2: ("InvalidArgument", "Invalid Argument"),
    6: ("NotFound", "Not Found"),
    12: ("LibraryNotFound", "NVML Shared Library Not Found"),
}


class NVMLError(Exception):
    """An error of NVML; ``value`` is its error code."""

    def __init__(self, value: int) -> None:
        super().__init__(value)
        self.value = value

    def __str__(self) -> str:
        return _ERRORS[self.value][1]


_CLASSES: dict[int, type[NVMLError]] = {
    code: type(f"NVMLError_{name}", (NVMLError,), {}) for code, (name, _) in _ERRORS.items()
}


def _error(code: int) -> NVMLError:
    return _CLASSES[code](code)


def module(machine: SimulatedMachine) -> ModuleType:
    """Return the module to be put into ``sys.modules['pynvml']``; a machine without GPUs has no NVML library."""
    made = ModuleType("pynvml", "NVML for simulated GPUs.")
    users = 0

    def ready() -> None:
        if users < 1:
            raise _error(1)

    def card_of(handle: object) -> SimulatedGpu:
        ready()
        if not isinstance(handle, _Handle):
            raise _error(2)
        return handle.card

    def nvml_init() -> None:
        nonlocal users
        if not machine.cards:
            raise _error(12)
        users += 1

    def nvml_shutdown() -> None:
        nonlocal users
        ready()
        users -= 1

    def count() -> int:
        ready()
        return len(machine.cards)

    def by_index(index: int) -> _Handle:
        number = ctypes.c_uint(index).value  # a TypeError for what isn't an integer, as the real binding has it
        ready()
        if number >= len(machine.cards):
            raise _error(2)
        return _Handle(machine.cards[number])

    def by_uuid(uuid: str | bytes) -> _Handle:
        ready()
        text = uuid.decode() if isinstance(uuid, bytes) else uuid
        for card in machine.cards:
            if card.uuid == text:
                return _Handle(card)
        raise _error(6)

    def by_bus_id(bus_id: str | bytes) -> _Handle:
        ready()
        text = bus_id.decode() if isinstance(bus_id, bytes) else bus_id
        for card in machine.cards:
            if _bus_id(card).endswith(text[-12:].upper()):
                return _Handle(card)
        raise _error(6)

    def memory(handle: object) -> SimpleNamespace:
        total = card_of(handle).total_mib * MIB
        used = USED_MIB * MIB
        return SimpleNamespace(total=total, free=total - used, used=used)

    def pci(handle: object) -> SimpleNamespace:
        card = card_of(handle)
        bus_id = _bus_id(card)
        return SimpleNamespace(busId=bus_id, busIdLegacy=bus_id[4:], domain=0, bus=card.bus, device=0)

    functions: dict[str, Callable[..., object]] = {
        "nvmlInit": nvml_init,
        "nvmlShutdown": nvml_shutdown,
        "nvmlDeviceGetCount": count,
        "nvmlDeviceGetHandleByIndex": by_index,
        "nvmlDeviceGetHandleByUUID": by_uuid,
        "nvmlDeviceGetHandleByPciBusId": by_bus_id,
        "nvmlDeviceGetMemoryInfo": memory,
        "nvmlDeviceGetUUID": lambda handle: card_of(handle).uuid,
        "nvmlDeviceGetIndex": lambda handle: card_of(handle).index,
        "nvmlDeviceGetName": lambda handle: f"Simulated GPU {card_of(handle).index}",
        "nvmlDeviceGetPciInfo": pci,
    }
    for name, function in functions.items():
        setattr(made, name, function)
    made.NVMLError = NVMLError  # type: ignore[attr-defined]
    for code, (name, _) in _ERRORS.items():
        setattr(made, f"NVMLError_{name}", _CLASSES[code])
    for name, code in (("UNINITIALIZED", 1), ("INVALID_ARGUMENT", 2), ("NOT_FOUND", 6), ("LIBRARY_NOT_FOUND", 12)):
        setattr(made, f"NVML_ERROR_{name}", code)
    return made


class _Handle:
    """An opaque device handle."""

    def __init__(self, card: SimulatedGpu) -> None:
        self.card = card


def _bus_id(card: SimulatedGpu) -> str:
    return f"00000000:{card.bus:02X}:00.0"
