"""On which grounds a fix can be verified here: real GPUs, a simulated driver, or GPUs simulated at the edge."""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from dataclasses import dataclass
from types import ModuleType

from tfmemlint.doctor import missing_gpu
from tfmemlint.doctor.host import Host
from tfmemlint.doctor.nvml_query import NvmlReport
from tfmemlint.doctor.tensorflow import ProbedPython
from tfmemlint.doctor.trouble import Trouble

_LITTLE_MIB = 1024
_OLDEST_FOR_EDGE = (2, 4)
_OLDEST_PYTHON = (3, 10)

WHAT = {
    "gpu": "real GPUs",
    "driver": "TensorFlow's own GPU code over a simulated driver",
    "edge": "TensorFlow's own checks over simulated GPUs",
}
"""The grounds, the best first."""


@dataclass(frozen=True, slots=True)
class GroundStatus:
    """A way to verify.

    Attributes:
        name: ``gpu``, ``driver`` or ``edge``. what: the same in words.
        missing: what stands in its way; empty if it is possible.
        note: what to bear in mind where it is possible; "" for nothing.
    """

    name: str
    what: str
    missing: tuple[Trouble, ...] = ()
    note: str = ""

    @property
    def possible(self) -> bool:
        """True if nothing stands in its way."""
        return not self.missing


def grounds(
    python: ProbedPython, machine: NvmlReport, around: Host, env: Mapping[str, str]
) -> tuple[GroundStatus, ...]:
    """Return all grounds, the best first.

    Args:
        python: the interpreter, and its TensorFlow. machine, around: the hardware and the driver.
        env: the environment in which TensorFlow listed its devices.
    """
    running = _for_running(python)
    listed = python.tensorflow is not None and bool(python.tensorflow.gpus)
    missing = {
        "gpu": running if listed else missing_gpu.troubles(python, machine, around, env) + running,
        "driver": _for_driver(python) + running,
        "edge": _for_edge(python) + running,
    }
    notes = {"gpu": _busy(python, machine)} if listed else {}
    return tuple(GroundStatus(name, what, missing[name], notes.get(name, "")) for name, what in WHAT.items())


def _busy(python: ProbedPython, machine: NvmlReport) -> str:
    """Whether the GPUs that TensorFlow lists have hardly any memory left."""
    by_uuid = {card.uuid: card for card in machine.cards if card.uuid}
    known = [by_uuid[gpu.uuid] for gpu in python.tensorflow.gpus if gpu.uuid in by_uuid] if python.tensorflow else []
    free = [card.free_mib for card in known or machine.cards if card.free_mib is not None]
    if free and max(free) < _LITTLE_MIB:
        return f"only {max(free)} MiB are free: what is verified may run out of memory for want of it"
    return ""


def _for_running(python: ProbedPython) -> tuple[Trouble, ...]:
    """What every ground needs of the interpreter in which programs are run."""
    found = []
    if python.version < _OLDEST_PYTHON:
        version = ".".join(map(str, python.version))
        found.append(Trouble(f"Python {version} is too old: programs are run by Python 3.10 or newer"))
    if not python.fork:
        found.append(Trouble("this system has no os.fork", "use Linux, or WSL2 on Windows"))
    return tuple(found)


def _for_driver(python: ProbedPython) -> tuple[Trouble, ...]:
    tensorflow = python.tensorflow
    if tensorflow is None:
        return (python.trouble or Trouble("TensorFlow can't be imported"),)
    if python.platform != "linux":
        return (Trouble("the simulated driver needs Linux"),)
    if not tensorflow.cuda_build:
        return (missing_gpu.not_for_cuda(python, tensorflow, libraries=False),)
    try:
        driver: ModuleType = importlib.import_module("tfmemlint.verify.driver")
        said: str = driver.missing(tensorflow.version, tensorflow.folder)
    except (ImportError, AttributeError):
        return (Trouble("this tfmemlint comes without a simulated driver"),)
    what, _, do = said.partition("; ")  # what is wrong, then what helps
    return (Trouble(what, do),) if said else ()


def _for_edge(python: ProbedPython) -> tuple[Trouble, ...]:
    tensorflow = python.tensorflow
    if tensorflow is None:
        return (python.trouble or Trouble("TensorFlow can't be imported"),)
    if tensorflow.release < _OLDEST_FOR_EDGE:
        return (Trouble(f"TensorFlow {tensorflow.version} is too old: 2.4 is the oldest that was tried"),)
    return ()
