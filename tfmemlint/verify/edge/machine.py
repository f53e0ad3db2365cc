"""The simulated machine: its GPUs, and those that CUDA shows to TensorFlow."""

from __future__ import annotations

import uuid
from collections.abc import Sequence
from dataclasses import dataclass, field

from tfmemlint.verify.child import environ

DEFAULT_MIB = 16384
USED_MIB = 300
"""The memory that a driver keeps for itself. It makes a confusion of free and total memory visible."""


@dataclass(frozen=True, slots=True)
class SimulatedGpu:
    """One GPU as NVML numbers it: by its address on the PCI bus."""

    index: int
    total_mib: int = DEFAULT_MIB

    @property
    def uuid(self) -> str:
        """Return a stable identifier in NVIDIA's form."""
        return f"GPU-{uuid.uuid5(uuid.NAMESPACE_OID, f'simulated card {self.index}')}"

    @property
    def bus(self) -> int:
        """Return the number of its PCI bus."""
        return self.index + 1


@dataclass(slots=True)
class SimulatedMachine:
    """The GPUs, and the choice that CUDA makes of them when the driver is first used."""

    cards: tuple[SimulatedGpu, ...]
    cuda_order: tuple[int, ...]
    """The GPUs as CUDA numbers them unless ``CUDA_DEVICE_ORDER=PCI_BUS_ID``: the fastest first."""
    _shown: tuple[SimulatedGpu, ...] | None = field(default=None)

    @classmethod
    def of(
        cls, gpus: int, memory_mib: Sequence[int] | None = None, cuda_order: Sequence[int] | None = None
    ) -> SimulatedMachine:
        """Return a machine of ``gpus`` GPUs of ``memory_mib`` MiB each (default: 16384).

        Raises:
            ValueError: the sizes or the order don't fit the number of GPUs.
        """
        sizes = list(memory_mib) if memory_mib is not None else [DEFAULT_MIB] * gpus
        order = tuple(cuda_order) if cuda_order is not None else tuple(range(gpus))
        if len(sizes) != gpus:
            raise ValueError(f"{gpus} GPUs but {len(sizes)} memory sizes")
        if sorted(order) != list(range(gpus)):
            raise ValueError(f"{gpus} GPUs but the order {list(order)}")
        return cls(tuple(SimulatedGpu(index, size) for index, size in enumerate(sizes)), order)

    @property
    def shown(self) -> tuple[SimulatedGpu, ...]:
        """Return the GPUs that TensorFlow can see, in its order.

        The environment is read once, on first use, as the driver does.
        """
        if self._shown is None:
            in_bus_order = environ.variable("CUDA_DEVICE_ORDER") == "PCI_BUS_ID"
            cards = self.cards if in_bus_order else tuple(self.cards[index] for index in self.cuda_order)
            self._shown = visible_cards(cards, environ.variable("CUDA_VISIBLE_DEVICES"))
        return self._shown


def visible_cards(cards: Sequence[SimulatedGpu], variable: str | None) -> tuple[SimulatedGpu, ...]:
    """Return the GPUs that ``CUDA_VISIBLE_DEVICES`` leaves: all if it is unset, and none from the first invalid entry
    on.

    A GPU that is named twice leaves none, as in the CUDA programming guide.
    """
    if variable is None:
        return tuple(cards)
    chosen: list[SimulatedGpu] = []
    for entry in (part.strip() for part in variable.split(",")):
        card = _card(cards, entry)
        if card is None:
            break
        if card in chosen:
            return ()
        chosen.append(card)
    return tuple(chosen)


def _card(cards: Sequence[SimulatedGpu], entry: str) -> SimulatedGpu | None:
    if entry.isascii() and entry.isdigit():
        return cards[int(entry)] if int(entry) < len(cards) else None
    if entry.startswith("GPU-"):
        matching = [card for card in cards if card.uuid.startswith(entry)]
        return matching[0] if len(matching) == 1 else None
    return None
