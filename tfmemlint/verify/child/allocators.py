"""The process-wide allocators. Whatever makes them first decides, and nothing can change them afterwards."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from tfmemlint.verify.child.environ import variable
from tfmemlint.verify.child.protos import LogicalGpu, logical_gpus


@dataclass(slots=True)
class Allocators:
    """One allocator per logical GPU, kept from the first creation of devices to the end of the process."""

    made_by: str = ""
    forced: bool = False
    _growth: bool | None = None
    _fraction: float = 0.0
    _made: dict[int, LogicalGpu] = field(default_factory=dict)

    def create(self, by: str, config: Any, gpus: int, *, said: bool | None = None, forced: bool = False) -> None:
        """Make the missing allocators for ``config``.

        ``by`` is the function that asked, ``said`` the growth that was set, None if none was.
        """
        if forced and self._made:
            return  # not the program's doing
        wanted = logical_gpus(config, gpus)
        if not self._made and wanted:
            self.made_by = by
            self.forced = forced
            self._growth = environment_growth(True if config.gpu_options.allow_growth else said)
            self._fraction = config.gpu_options.per_process_gpu_memory_fraction
        for device in wanted:
            self._made.setdefault(device.number, device)

    def conflict(self, config: Any, gpus: int) -> str:
        """Return TensorFlow's message if ``config`` gives a number to another GPU than the one that has it; "" if
        not.
        """
        for device in logical_gpus(config, gpus):
            there = self._made.get(device.number)
            if there is not None and there.physical != device.physical:
                where = f"{device.physical} now, and {there.physical} previously"
                return (
                    f"TensorFlow device (GPU:{device.number}) is being mapped to multiple devices ({where}), which is "
                    "not supported. This may be the result of providing different GPU configurations "
                    "(ConfigProto.gpu_options, for example different visible_device_list) when creating multiple "
                    "Sessions in the same process."
                )
        return ""

    def report(self) -> dict[str, Any] | None:
        """Return the configuration in force; None if no allocator was made."""
        if not self._made:
            return None
        used = sorted({device.physical for device in self._made.values()})
        return {
            "allow_growth": self._growth,
            "visible": used,
            "limits": [
                [d.limit_mib for d in self._made.values() if d.physical == gpu and d.limit_mib is not None]
                for gpu in used
            ],
            "per_process_gpu_memory_fraction": self._fraction,
            "forced": self.forced,
        }


def environment_growth(configured: bool | None) -> bool | None:
    """Return the growth in force. ``TF_FORCE_GPU_ALLOW_GROWTH`` wins, but only if it is exactly ``true`` or
    ``false``.
    """
    return {"true": True, "false": False}.get(variable("TF_FORCE_GPU_ALLOW_GROWTH") or "", configured)
