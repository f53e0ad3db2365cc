"""The three grounds, and the choice of the best that this machine has."""

from __future__ import annotations

import importlib.util
import json
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tfmemlint.verify import driver
from tfmemlint.verify.edge import Edge
from tfmemlint.verify.ground import Ground
from tfmemlint.verify.result import GroundError

MAX_GPUS = 8
"""The number of GPUs up to which a machine is simulated by default; a bound without a deeper reason."""
KINDS = ("gpu", "driver", "edge")
"""The grounds, the best first."""

_DISTRIBUTIONS = ("tensorflow", "tensorflow-cpu", "tensorflow-gpu", "tf-nightly", "tensorflow-intel")
_WHERE = f"""
import importlib.metadata, importlib.util, json
version = ""
for name in {_DISTRIBUTIONS!r}:
    try:
        version = importlib.metadata.version(name)
        break
    except importlib.metadata.PackageNotFoundError:
        pass
spec = importlib.util.find_spec("tensorflow")
print(json.dumps([version, spec.submodule_search_locations[0] if spec and spec.submodule_search_locations else ""]))
"""


@dataclass(frozen=True, slots=True)
class Installed:
    """The TensorFlow of an interpreter, found without importing it: its version and its folder."""

    version: str
    folder: str


FIRST_REGION_MIB = 2.0
"""The first region that TensorFlow's allocator takes under memory growth, in MiB (measured on 2.12 to 2.21)."""
_CALIBRATION = """
import tensorflow as tf
for gpu in tf.config.list_physical_devices("GPU"):
    tf.config.experimental.set_memory_growth(gpu, True)
"""


class AllocatingGround(Ground):
    """A ground that really allocates memory."""

    _overhead: tuple[float, ...] | None = None

    def overhead_mib(self) -> tuple[float, ...]:
        """Measure the overhead with memory growth, in a process that uses next to nothing, less the first region."""
        if self._overhead is None:
            result = self.run(_CALIBRATION, gpus=MAX_GPUS)
            devices = (result.probe or {}).get("devices", [])
            held = {device["physical"]: device["first_mib"] for device in devices if device["first_mib"] is not None}
            number = max(held, default=-1) + 1
            self._overhead = tuple(max(held.get(gpu, 0.0) - FIRST_REGION_MIB, 0.0) for gpu in range(number))
        return self._overhead

    def complete(self, request: dict[str, Any]) -> None:
        """Request a probe of the memory after the program, with this Python's NVML module: the other one may have
        none.
        """
        request["probe"] = {"pynvml": _pynvml_file()}


class GpuGround(AllocatingGround):
    """Runs programs on the machine's real GPUs, and measures what they take."""

    kind = "gpu"

    def at_once(self) -> int:
        """Return 1: programs that run at the same time would take each other's memory."""
        return 1

    def ensure_seen(self) -> None:
        """Make sure that TensorFlow uses the GPUs that NVML knows.

        Raises:
            GroundError: it doesn't; the message says what to do.
        """
        if self.overhead_mib():
            return
        if not self.about()["cuda"]:
            raise GroundError("no real GPU: this TensorFlow is built without CUDA; `pip install tensorflow[and-cuda]`")
        if os.environ.get("CUDA_VISIBLE_DEVICES") in ("", "-1"):
            raise GroundError("no real GPU: CUDA_VISIBLE_DEVICES hides all of them")
        what = "a library of CUDA may be missing"
        raise GroundError(f"no real GPU: NVML knows one, but TensorFlow doesn't list it; {what}")

    def server_environment(self) -> dict[str, str]:
        """Keep the caller's choice of GPUs."""
        kept = ("CUDA_VISIBLE_DEVICES", "CUDA_DEVICE_ORDER")
        return {name: os.environ[name] for name in kept if name in os.environ}


class DriverGround(AllocatingGround):
    """Runs programs on TensorFlow's real GPU build, over a simulated CUDA driver in this machine's own memory."""

    kind = "driver"

    def __init__(self, python: str | None = None) -> None:
        """Build the simulated driver if it isn't built yet.

        Raises:
            GroundError: this TensorFlow, or this machine, does not support it.
        """
        super().__init__(python)
        found = installed(self.python)
        reason = driver.missing(found.version, found.folder)
        if reason:
            raise GroundError(f"no simulated driver: {reason}")
        try:
            self._libraries = driver.libraries(found.version)
            self._tensorflow = found.version
        except driver.DriverError as error:
            raise GroundError(f"no simulated driver: {error}") from None

    def server_environment(self) -> dict[str, str]:
        """Return the variables by which this one process and its children, and no others, find the stand-ins."""
        return driver.server_environment(self._libraries)

    def at_once(self) -> int:
        """Return more than the number of processors, as a program that exceeds a limit waits for ten seconds."""
        return 4 * (os.cpu_count() or 1)

    def complete(self, request: dict[str, Any]) -> None:
        """Describe the simulated machine by variables, and add the program's own."""
        super().complete(request)
        given = dict(request["env"])
        machine = driver.environment(
            gpus=request["gpus"],
            memory_mib=request["memory_mib"],
            cuda_order=request["cuda_order"],
            tensorflow=self._tensorflow,
            xla_flags=given.pop("XLA_FLAGS", ""),
            libraries=self._libraries,
            path=given.get("PATH", ""),
        )
        # The path of the machine ends with the program's own.
        request["env"] = {**machine, **given, **{name: machine[name] for name in ("PATH",) if name in machine}}


def choose(kind: str, python: str | None = None) -> tuple[Ground, str]:
    """Return a ground of ``kind`` (``auto`` for the best available), and why there is no better one ("" if there is
    none).

    Raises:
        GroundError: it is not available; the message says what is missing.
    """
    if kind == "edge":
        return Edge(python), ""
    if kind == "gpu":
        reason = no_gpu()
        if reason:
            raise GroundError(f"no real GPU: {reason}")
        gpu = GpuGround(python)
        try:
            gpu.ensure_seen()
        except BaseException:
            gpu.close()
            raise
        return gpu, ""
    if kind == "driver":
        return DriverGround(python), ""
    reasons: list[str] = []
    for other in KINDS[:-1]:
        try:
            return choose(other, python)[0], "; ".join(reasons)
        except GroundError as error:
            reasons.append(str(error).splitlines()[0])
    return Edge(python), "; ".join(reasons)


def no_gpu() -> str:
    """Return why no real GPU is available, by NVML; "" if one is."""
    try:
        import pynvml  # type: ignore[import-untyped]
    except ImportError:
        return "nvidia-ml-py is not installed"
    try:
        pynvml.nvmlInit()
        try:
            return "" if pynvml.nvmlDeviceGetCount() else "NVML knows no GPU"
        finally:
            pynvml.nvmlShutdown()
    except pynvml.NVMLError as error:
        return f"NVML says {error}"


def installed(python: str) -> Installed:
    """Return the TensorFlow of an interpreter.

    Raises:
        GroundError: the interpreter can't be run, or has no TensorFlow.
    """
    try:
        done = subprocess.run([python, "-c", _WHERE], capture_output=True, text=True, timeout=60, cwd=Path("/"))
        version, folder = json.loads(done.stdout)
    except OSError as error:
        raise GroundError(f"{python} can't be started: {error.strerror or error}") from None
    except (ValueError, subprocess.TimeoutExpired):
        raise GroundError(f"{python} doesn't say which TensorFlow it has") from None
    if not folder:
        whose = "" if python == sys.executable else f" for {python}"
        raise GroundError(f"TensorFlow is not installed{whose}; `pip install tensorflow` brings it")
    return Installed(version, folder)


def _pynvml_file() -> str:
    spec = importlib.util.find_spec("pynvml")
    return spec.origin if spec is not None and spec.origin else ""
