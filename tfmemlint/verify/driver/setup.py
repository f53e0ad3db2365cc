"""Check that the simulated driver is available, and describe a machine to it by environment variables."""

from __future__ import annotations

import ast
import importlib.util
import os
import platform
import re
import sys
from collections.abc import Sequence
from pathlib import Path

from tfmemlint.verify.driver.build import NO_COMPILER, TOOLKIT, DriverError, compiler, minor_of, variant_of
from tfmemlint.verify.edge.machine import DEFAULT_MIB, USED_MIB, SimulatedGpu

MAX_GPUS = 32
_MACHINES = ("x86_64", "aarch64")
_TOOLKIT_BY_FLAG = (2, 16)
"""The release since which XLA takes the programs of the CUDA toolkit from the folder that it is told. Before, it took
those in ``PATH`` (seen on 2.12 and 2.15).
"""


def missing(tensorflow: str, folder: str | os.PathLike[str] | None = None) -> str:
    """Return why TensorFlow can't run on the simulated driver here, as one sentence; ``''`` if it can.

    Args:
        tensorflow: the installed release, such as ``2.21.0``.
        folder: TensorFlow's package folder (the one with its ``__init__.py``); by default it is looked up among the
            installed packages. TensorFlow isn't imported.
    """
    if not sys.platform.startswith("linux") or platform.machine() not in _MACHINES:
        return (
            "the simulated driver needs Linux on x86-64 or aarch64, "
            f"and this is {platform.system()} on {platform.machine()}"
        )
    try:
        variant_of(tensorflow)
    except DriverError as error:
        return str(error)
    package = Path(folder) if folder is not None else _package_folder()
    if package is None or not package.is_dir():
        return "TensorFlow is not installed"
    if not _has_cuda(package):
        return (
            f"TensorFlow {tensorflow} in {package} is built without CUDA; "
            f"the simulated driver needs the GPU build ({_gpu_build(tensorflow)})"
        )
    return "" if compiler() is not None else NO_COMPILER


def _gpu_build(tensorflow: str) -> str:
    """Return how to get the GPU build of a release."""
    if platform.machine() != "x86_64":
        return "the official wheels for this processor have no GPU code"
    return f"`pip install tensorflow=={tensorflow}` on Linux x86-64 brings it, `tensorflow-cpu` does not"


def _package_folder() -> Path | None:
    spec = importlib.util.find_spec("tensorflow")
    places = list(spec.submodule_search_locations or ()) if spec is not None else []
    return Path(places[0]) if places else None


def _has_cuda(package: Path) -> bool:
    """True if TensorFlow was built for CUDA, by the file in which it says so itself."""
    try:
        tree = ast.parse((package / "python" / "platform" / "build_info.py").read_text(encoding="utf-8"))
    except (OSError, SyntaxError, UnicodeDecodeError):
        return False
    for node in ast.walk(tree):
        # collections.OrderedDict([('is_cuda_build', True), ...])
        if isinstance(node, ast.Tuple) and len(node.elts) == 2:
            name, value = node.elts
            if isinstance(name, ast.Constant) and name.value == "is_cuda_build" and isinstance(value, ast.Constant):
                return value.value is True
    return False


def environment(
    *,
    gpus: int = 1,
    memory_mib: Sequence[int] | None = None,
    used_mib: int | Sequence[int] = USED_MIB,
    capability: str = "9.0",
    cuda_order: Sequence[int] | None = None,
    log: str | os.PathLike[str] | None = None,
    state: str | os.PathLike[str] | None = None,
    context_mib: int = 0,
    tensorflow: str | None = None,
    xla_flags: str = "",
    libraries: str | os.PathLike[str] | None = None,
    path: str = "",
) -> dict[str, str]:
    """Return the variables that describe a machine. They must be set before the process starts CUDA or NVML.

    Args:
        gpus: the number of GPUs, 0 to 32.
        memory_mib: the total memory of each in MiB; 16384 by default.
        used_mib: the memory of each that processes outside the simulation use, in MiB: one number, or one for each.
        capability: the compute capability of the GPUs, such as ``"9.0"``.
        cuda_order: the GPUs (as NVML numbers them) in CUDA's default order, the fastest first; effective unless the
            program's environment has ``CUDA_DEVICE_ORDER=PCI_BUS_ID``.
        log: the file to which all events are appended; read it with `read_log`.
        state: a file that all processes of the machine share, so that they share the GPUs' memory and see each
            other's use through NVML. Without it every process has a machine of its own.
        context_mib: the memory of a GPU that a CUDA context takes, in MiB. A real one takes some hundreds, depending on
            the GPU and the driver. 0 leaves it out, so that free memory is that of a machine before its first context.
        tensorflow: the release that is run, such as ``2.21.0``; adds the flags that keep XLA from timing kernels and
            from recording CUDA graphs, neither of which is simulated, to ``XLA_FLAGS``.
        xla_flags: the program's own ``XLA_FLAGS``, which stay.
        libraries: the folder of the stand-ins; lets XLA find their CUDA toolkit, which needs none on this machine.
        path: the program's own ``PATH``, in which XLA before TensorFlow 2.16 looks first; this process's if empty.

    Raises:
        ValueError: the numbers don't fit the number of GPUs, or aren't possible.
    """
    sizes = list(memory_mib) if memory_mib is not None else [DEFAULT_MIB] * gpus
    used = list(used_mib) if isinstance(used_mib, Sequence) else [used_mib] * gpus
    order = list(cuda_order) if cuda_order is not None else list(range(gpus))
    if not 0 <= gpus <= MAX_GPUS:
        raise ValueError(f"{gpus} GPUs; 0 to {MAX_GPUS} can be simulated")
    if len(sizes) != gpus or len(used) != gpus:
        raise ValueError(f"{gpus} GPUs but {len(sizes)} memory sizes and {len(used)} sizes of memory in use")
    if sorted(order) != list(range(gpus)):
        raise ValueError(f"{gpus} GPUs but the order {order}")
    for total, taken in zip(sizes, used, strict=True):
        if total <= 0 or not 0 <= taken <= total:
            raise ValueError(f"a GPU of {total} MiB of which {taken} MiB are in use")
    if context_mib < 0:
        raise ValueError(f"a CUDA context of {context_mib} MiB")
    if not re.fullmatch(r"\d{1,2}\.\d", capability):
        raise ValueError(f"the compute capability {capability!r}; expected one such as '9.0'")
    variables = {
        "TFMEMLINT_SIM_GPUS": str(gpus),
        "TFMEMLINT_SIM_MEMORY_MIB": _list(sizes),
        "TFMEMLINT_SIM_USED_MIB": _list(used),
        "TFMEMLINT_SIM_CAPABILITY": _list([capability] * gpus),
        "TFMEMLINT_SIM_CUDA_ORDER": _list(order),
        "TFMEMLINT_SIM_UUIDS": _list([card_uuid(index) for index in range(gpus)]),
        "TFMEMLINT_SIM_CONTEXT_MIB": str(context_mib),
        "TFMEMLINT_SIM_LOG": "" if log is None else os.fspath(Path(log).absolute()),
        "TFMEMLINT_SIM_STATE": "" if state is None else os.fspath(Path(state).absolute()),
    }
    if tensorflow is not None:
        toolkit = [] if libraries is None else [f"--xla_gpu_cuda_data_dir={Path(libraries) / TOOLKIT}"]
        variables["XLA_FLAGS"] = " ".join([*xla_flags.split(), *_xla_flags(tensorflow), *toolkit])
        if libraries is not None and (minor_of(tensorflow) or _TOOLKIT_BY_FLAG) < _TOOLKIT_BY_FLAG:
            programs = os.fspath(Path(libraries).absolute() / TOOLKIT / "bin")
            variables["PATH"] = os.pathsep.join([programs, path or os.environ.get("PATH", os.defpath)])
    return variables


def _list(values: Sequence[object]) -> str:
    return ",".join(map(str, values))


def card_uuid(index: int) -> str:
    """Return the stable identifier of a GPU, in NVIDIA's form."""
    return SimulatedGpu(index).uuid


def _xla_flags(tensorflow: str) -> list[str]:
    """Return flags that the release knows: XLA ends the process on an unknown one."""
    minor = minor_of(tensorflow)
    if minor is None:
        return []
    flags = ["--xla_gpu_autotune_level=0"]
    if minor >= (2, 16):
        flags.append("--xla_gpu_enable_command_buffer=")
    elif minor >= (2, 14):
        flags.append("--xla_gpu_graph_level=0")
    elif minor == (2, 13):
        flags.append("--xla_gpu_cuda_graph_level=0")
    return flags


def server_environment(libraries: str | os.PathLike[str]) -> dict[str, str]:
    """Return the variables that a process needs at its start to import TensorFlow on the stand-ins.

    They make no GPU visible. `environment` does, in that process or in one that it forks.

    Args:
        libraries: the folder that `libraries` built.
    """
    before = os.environ.get("LD_LIBRARY_PATH")
    folder = os.fspath(libraries)
    return {"LD_LIBRARY_PATH": f"{folder}:{before}" if before else folder}
