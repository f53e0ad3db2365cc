"""The libraries without which TensorFlow's GPU build registers no GPU.

Source: the log of ``dso_loader`` of the GPU wheels of 2.12 to 2.16 and 2.18 to 2.21 while they listed the devices of a
simulated driver, with and without each library. TensorRT's libraries are tried as well, and are not needed.
"""

from __future__ import annotations

import re

NEEDED: tuple[tuple[str, str, tuple[int, int], tuple[int, int] | None], ...] = (
    ("11", "libcuda.so.1", (2, 12), None),
    ("11", "libcudart.so.11.0", (2, 12), None),
    ("11", "libcublas.so.11", (2, 12), None),
    ("11", "libcublasLt.so.11", (2, 12), None),
    ("11", "libcufft.so.10", (2, 12), None),
    ("11", "libcurand.so.10", (2, 12), (2, 13)),
    ("11", "libcusolver.so.11", (2, 12), None),
    ("11", "libcusparse.so.11", (2, 12), None),
    ("11", "libcudnn.so.{cudnn}", (2, 12), None),
    ("12", "libcuda.so.1", (2, 15), None),
    ("12", "libcudart.so.12", (2, 15), None),
    ("12", "libcublas.so.12", (2, 15), None),
    ("12", "libcublasLt.so.12", (2, 15), None),
    ("12", "libcufft.so.11", (2, 15), None),
    ("12", "libcusolver.so.11", (2, 15), None),
    ("12", "libcusparse.so.12", (2, 15), None),
    ("12", "libcudnn.so.{cudnn}", (2, 15), None),
    ("12", "libnvidia-ml.so.1", (2, 21), None),
)
"""The major version of CUDA that TensorFlow is built with, the library, and the first and the last release that needs
it. ``{cudnn}`` is the major version of cuDNN."""

OF_THE_DRIVER = ("libcuda.so.1", "libnvidia-ml.so.1")
"""These come with the NVIDIA driver, the others from CUDA, from cuDNN, or with ``tensorflow[and-cuda]``."""

_OPENED = re.compile(r"Successfully opened dynamic library (\S+)")
_NOT_OPENED = re.compile(r"Could not load dynamic library '([^']+)'; dlerror: (.*?)(?:; LD_LIBRARY_PATH: .*)?$", re.M)
_ABOUT_GPUS = re.compile(
    r"cuInit|dlopen|libcuda reported|kernel reported|version mismatch|(?:visible|gpu) device", re.I
)
_PREFIX = re.compile(r"^.*?\.cc:\d+\] ")


def tried(log: str) -> dict[str, str]:
    """Return the libraries that TensorFlow tried to open, by its own log, with the loader's error; "" if it was
    opened.
    """
    stems = {name.split(".so")[0] for _, name, _, _ in NEEDED}
    found = dict.fromkeys(_OPENED.findall(log), "")
    found.update(_NOT_OPENED.findall(log))
    return {name: problem.strip() for name, problem in found.items() if name.split(".so")[0] in stems}


def complaints(log: str, most: int = 4) -> tuple[str, ...]:
    """Return at most ``most`` messages of TensorFlow's log that say why there is no GPU, without time and place."""
    found = [
        _PREFIX.sub("", line).strip()
        for line in log.splitlines()
        if ".cc:" in line and "dso_loader" not in line and _ABOUT_GPUS.search(line)
    ]
    return tuple(dict.fromkeys(found))[:most]
