"""Ask an interpreter for its TensorFlow and the GPUs that it lists, in a child process with a time limit."""

from __future__ import annotations

import os
import shlex
import signal
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from tfmemlint.doctor import cuda_libraries, interpreter_probe
from tfmemlint.doctor.interpreter_probe import InterpreterError
from tfmemlint.doctor.trouble import Trouble, one_line

__all__ = ["SECONDS", "CudaLibrary", "InterpreterError", "ListedGpu", "ProbedPython", "TensorFlowBuild", "probe"]

SECONDS = 120.0
"""The time limit for importing TensorFlow and listing devices, in seconds; a bound without a deeper reason."""


@dataclass(frozen=True, slots=True)
class ListedGpu:
    """A physical GPU in TensorFlow's list.

    Attributes:
        name: as in a program, such as ``GPU:0``. model: the driver's name for it; "" if TensorFlow doesn't say.
        capability: its compute capability, such as (9, 0); () if TensorFlow doesn't say.
        uuid: as NVML has it; for a MIG device, that of its physical GPU; "" if unknown.
    """

    name: str
    model: str = ""
    capability: tuple[int, ...] = ()
    uuid: str = ""


@dataclass(frozen=True, slots=True)
class CudaLibrary:
    """A library that TensorFlow needs for GPUs.

    Attributes:
        name: such as ``libcudnn.so.9``. opened: True if it can be opened.
        problem: the loader's error, or "".
        by_tensorflow: True if TensorFlow itself tried; False if the child tried in its place.
    """

    name: str
    opened: bool
    problem: str = ""
    by_tensorflow: bool = False


@dataclass(frozen=True, slots=True)
class TensorFlowBuild:
    """An installed TensorFlow.

    Attributes:
        version: such as ``2.21.0``. folder: the folder of its package.
        distribution: the package that pip installed, such as ``tensorflow-cpu``; "" if unknown.
        and_cuda: True if that package has the extra ``and-cuda``, which brings the CUDA libraries.
        cuda_build, rocm_build: what it is built for; neither for a CPU build.
        cuda, cudnn: the versions that it is built with, such as ``12.5.1`` and ``9``; "" for a CPU build, or if
            unknown.
        capabilities: the compute capabilities that it is built for, such as ``sm_80``.
        gpus: its physical GPUs, in its order.
        libraries: what it needs for GPUs; empty for a CPU build, and for builds whose needs aren't known.
        said: messages about GPUs in its log, such as why there is none.
    """

    version: str
    folder: str
    distribution: str = ""
    and_cuda: bool = False
    cuda_build: bool = False
    rocm_build: bool = False
    cuda: str = ""
    cudnn: str = ""
    capabilities: tuple[str, ...] = ()
    gpus: tuple[ListedGpu, ...] = ()
    libraries: tuple[CudaLibrary, ...] = ()
    said: tuple[str, ...] = ()

    @property
    def release(self) -> tuple[int, ...]:
        """Return the version's first two numbers, such as (2, 21)."""
        return tuple(int(part) for part in self.version.split(".")[:2] if part.isdigit())


@dataclass(frozen=True, slots=True)
class ProbedPython:
    """A Python interpreter, and its TensorFlow.

    Attributes:
        path: the interpreter, as given. version: such as (3, 12, 1).
        platform, machine: as in ``sys.platform`` and ``platform.machine()``. fork: True if it has ``os.fork``.
        tensorflow: its TensorFlow; None if none can be imported.
        trouble: why there is none, or why its devices could not be listed; None if there was no problem.
    """

    path: str
    version: tuple[int, ...]
    platform: str
    machine: str
    fork: bool
    tensorflow: TensorFlowBuild | None = None
    trouble: Trouble | None = None

    @property
    def command(self) -> str:
        """Return the interpreter as it is written in a shell."""
        return shlex.quote(self.path)


def probe(python: str | None = None, *, seconds: float = SECONDS, env: Mapping[str, str] | None = None) -> ProbedPython:
    """Ask an interpreter about itself and its TensorFlow. It takes no GPU memory, as no device is started.

    Args:
        python: the interpreter, as a path or a command; by default the one that runs this.
        seconds: the time limit.
        env: its environment; by default this process's.

    Raises:
        InterpreterError: there is no such interpreter, or it is not a Python that can be run.
    """
    answer = interpreter_probe.ask(python, seconds, os.environ if env is None else env)
    path, facts = answer.path, answer.facts
    about = facts["python"]
    made = ProbedPython(path, tuple(about["version"]), about["platform"], about["machine"], about["fork"])
    tensorflow = _tensorflow(facts, answer.log) if "tensorflow" in facts else None
    trouble = _trouble(made, answer, seconds)
    return ProbedPython(path, made.version, made.platform, made.machine, made.fork, tensorflow, trouble)


def _tensorflow(facts: dict[str, dict[str, Any]], log: str) -> TensorFlowBuild:
    about = facts["tensorflow"]
    build = about["build"]
    listed = facts.get("devices", {}).get("gpus", [])
    uuids = facts.get("uuids", {}).get("uuids", [])
    if len(uuids) != len(listed):  # TensorFlow leaves out small GPUs: then the UUIDs can't be assigned
        uuids = [""] * len(listed)
    gpus = tuple(
        ListedGpu(gpu["name"], gpu["model"], tuple(gpu["capability"]), uuid)
        for gpu, uuid in zip(listed, uuids, strict=True)
    )
    return TensorFlowBuild(
        about["version"],
        about["folder"],
        about["distribution"],
        about["and_cuda"],
        bool(build.get("is_cuda_build")),
        bool(build.get("is_rocm_build")),
        str(build.get("cuda_version", "")),
        str(build.get("cudnn_version", "")),
        tuple(map(str, build.get("cuda_compute_capabilities", ()))),
        gpus,
        _libraries(facts, log) if build.get("is_cuda_build") else (),
        cuda_libraries.complaints(log),
    )


def _libraries(facts: dict[str, dict[str, Any]], log: str) -> tuple[CudaLibrary, ...]:
    """Return the libraries that TensorFlow tried to open, and those that the child tried because TensorFlow gave up
    before.
    """
    found = {
        library["name"]: CudaLibrary(library["name"], library["opened"], one_line(library["problem"]))
        for library in facts.get("libraries", {}).get("opened", [])
    }
    for name, problem in cuda_libraries.tried(log).items():
        found[name] = CudaLibrary(name, not problem, one_line(problem), by_tensorflow=True)
    return tuple(found.values())


def _trouble(python: ProbedPython, answer: interpreter_probe.Answer, seconds: float) -> Trouble | None:
    facts, status = answer.facts, answer.status
    doing = "listing its devices" if "tensorflow" in facts else "being imported"
    if status is None:
        return Trouble(f"TensorFlow did not finish {doing} within {seconds:g} s", "raise --timeout")
    if "failed" in facts:
        failed = facts["failed"]
        if failed["absent"]:
            return Trouble(
                f"TensorFlow is not installed for {python.path}", f"{python.command} -m pip install tensorflow"
            )
        what = f"TensorFlow failed while {doing}: {failed['error']}: {one_line(failed['message'])}"
        return Trouble(what.rstrip(": "), _by_hand(python))
    if status == 0:
        return None
    said = one_line(answer.last_words)
    what = f"TensorFlow crashed while {doing} ({answer.death})" + (f": {said}" if said else "")
    if status == -getattr(signal, "SIGILL", 0):
        return Trouble(what, "this processor lacks instructions that this build uses; install a build for it")
    return Trouble(what, _by_hand(python))


def _by_hand(python: ProbedPython) -> str:
    return f"`{python.command} -c 'import tensorflow'` shows the whole error"
