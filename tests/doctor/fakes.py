"""Stand-ins: an NVML that answers as told, and interpreters with a TensorFlow that does as told."""

from __future__ import annotations

import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from tfmemlint.doctor.host import Host
from tfmemlint.doctor.nvml_query import NvmlGpu, NvmlReport
from tfmemlint.doctor.tensorflow import CudaLibrary, ListedGpu, ProbedPython, TensorFlowBuild
from tfmemlint.doctor.trouble import Trouble

GIB = 1024**3


class NVMLError(Exception):
    """What pynvml raises."""


def error(name: str) -> NVMLError:
    """An error of pynvml's class for it, such as ``NVMLError_NoPermission``."""
    made: NVMLError = type(f"NVMLError_{name}", (NVMLError,), {})(name)
    return made


def raises(name: str) -> Any:
    """A function that NVML refuses."""

    def refuse(*_: object) -> None:
        raise error(name)

    return refuse


def nvml(**changed: Any) -> SimpleNamespace:
    """``pynvml`` on a machine with one idle card; ``changed`` are other functions, by their names."""
    functions = {
        "nvmlInit": lambda: None,
        "nvmlShutdown": lambda: None,
        "nvmlSystemGetDriverVersion": lambda: "550.54.15",
        "nvmlSystemGetCudaDriverVersion": lambda: 12040,
        "nvmlDeviceGetCount": lambda: 1,
        "nvmlDeviceGetHandleByIndex": lambda index: f"card{index}",
        "nvmlDeviceGetName": lambda handle: "NVIDIA H100",
        "nvmlDeviceGetUUID": lambda handle: "GPU-01010101-0101-0101-0101-010101010101",
        "nvmlDeviceGetPciInfo": lambda handle: SimpleNamespace(busId="00000000:01:00.0"),
        "nvmlDeviceGetMemoryInfo": lambda handle: SimpleNamespace(total=80 * GIB, used=GIB, free=79 * GIB),
        "nvmlDeviceGetMigMode": raises("NotSupported"),
        "nvmlDeviceGetComputeRunningProcesses": lambda handle: [],
        "nvmlDeviceGetGraphicsRunningProcesses": lambda handle: [],
        "nvmlSystemGetProcessName": lambda pid: f"program{pid}",
    }
    return SimpleNamespace(**{**functions, **changed})


def python(folder: Path, tensorflow: str | None = None, *, before: str = "") -> str:
    """An interpreter, as a script, with no packages but a ``tensorflow`` with this text.

    Args:
        folder: where to put it. tensorflow: the text of its ``__init__.py``; None for no TensorFlow.
        before: shell commands to run first.
    """
    packages = folder / "packages"
    packages.mkdir()
    if tensorflow is not None:
        (packages / "tensorflow").mkdir()
        (packages / "tensorflow" / "__init__.py").write_text(tensorflow, encoding="utf-8")
    script = folder / "python"
    script.write_text(f'#!/bin/sh\n{before}\nPYTHONPATH={packages} exec {sys.executable} -S "$@"\n', encoding="utf-8")
    script.chmod(0o755)
    return str(script)


def package(build: dict[str, object], gpus: int = 0, *, version: str = "2.21.0", log: str = "") -> str:
    """The text of a TensorFlow that is built so, and lists ``gpus`` GPUs while it logs ``log``."""
    return f"""\
import os, sys
from types import SimpleNamespace as Of
__version__ = {version!r}
def listed(kind):
    print("A line on standard output")
    sys.stderr.write({log!r})
    return [Of(name="/physical_device:GPU:%d" % number, device_type="GPU") for number in range({gpus})]
details = lambda device: {{"device_name": "NVIDIA H100", "compute_capability": (9, 0)}}
config = Of(list_physical_devices=listed, experimental=Of(get_device_details=details))
sysconfig = Of(get_build_info=lambda: {build!r})
"""


CPU_BUILD: dict[str, object] = {"is_cuda_build": False, "is_rocm_build": False}
GPU_BUILD: dict[str, object] = {
    "is_cuda_build": True,
    "is_rocm_build": False,
    "cuda_version": "12.5.1",
    "cudnn_version": "9",
    "cuda_compute_capabilities": ["sm_80", "compute_90"],
}

NO_SURROUNDINGS = Host(nvidia_on_bus=0)
HAS_CARD = Host(nvidia_on_bus=1)
ONE_CARD = NvmlReport(
    "550.54.15", "12.4", (NvmlGpu(0, "NVIDIA H100", "GPU-1", total_mib=81920, used_mib=20, free_mib=81900),)
)


def gpu_build(
    *gpus: ListedGpu, version: str = "2.21.0", missing: tuple[CudaLibrary, ...] = (), cuda: str = "12.5.1"
) -> TensorFlowBuild:
    """A GPU build that lists these GPUs, and lacks these libraries."""
    libraries = (CudaLibrary("libcuda.so.1", True), *missing)
    return TensorFlowBuild(
        version, "/site/tensorflow", "tensorflow", True, True, False, cuda, "9", gpus=gpus, libraries=libraries
    )


def interpreter(
    tensorflow: TensorFlowBuild | None,
    trouble: Trouble | None = None,
    *,
    path: str = "/usr/bin/python3",
    version: tuple[int, ...] = (3, 12, 1),
    platform: str = "linux",
    fork: bool = True,
) -> ProbedPython:
    """An interpreter with this TensorFlow."""
    return ProbedPython(path, version, platform, "x86_64", fork, tensorflow, trouble)
