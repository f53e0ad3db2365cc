"""Look for NVIDIA GPUs without their driver, and for the kind of system that this process runs on."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Host:
    """The machine around the driver.

    Attributes:
        nvidia_on_bus: the number of NVIDIA GPUs on the PCI bus; None if the bus isn't visible.
        container: True in a container. wsl: True on Linux under Windows, with a GPU passed through.
    """

    nvidia_on_bus: int | None = None
    container: bool = False
    wsl: bool = False


def look(root: str | Path = "/") -> Host:
    """Read the files of the running system. It never raises.

    Args:
        root: the folder that holds ``sys``, ``dev`` and ``run``.
    """
    base = Path(root)
    return Host(
        _on_bus(base / "sys/bus/pci/devices"),
        any((base / name).exists() for name in (".dockerenv", "run/.containerenv")),
        (base / "dev/dxg").exists(),
    )


def _on_bus(devices: Path) -> int | None:
    try:
        found = list(devices.iterdir())
    except OSError:
        return None
    return sum(_read(device / "vendor") == "0x10de" and _read(device / "class").startswith("0x03") for device in found)


def _read(path: Path) -> str:
    try:
        return path.read_text(encoding="ascii", errors="replace").strip().lower()
    except OSError:
        return ""
