"""Find the grounds on which a fix can be verified: real GPUs, a simulated driver, or GPUs simulated at the edge."""

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

_BUSY_BELOW_MIB = 1024
"""A GPU with less free memory gets a note; a bound without a deeper reason."""
_FIRST_EDGE_RELEASE = (2, 4)
"""The oldest TensorFlow release that was tried on the edge ground."""
_FIRST_PYTHON = (3, 10)
"""The oldest Python that tfmemlint supports."""

WHAT = {
    "gpu": "real GPUs",
    "driver": "TensorFlow's own GPU code over a simulated driver",
    "edge": "TensorFlow's own checks over simulated GPUs",
}
"""The grounds, the best first."""


@dataclass(frozen=True, slots=True)
class GroundStatus:
    """A way to verify, and what it lacks.

    Attributes:
        name: ``gpu``, ``driver`` or ``edge``. what: the same in words.
        missing: the problems that rule it out; empty if it is possible.
        note: a caveat if it is possible; "" for none.
    """

    name: str
    what: str
    missing: tuple[Trouble, ...] = ()
    note: str = ""

    @property
    def possible(self) -> bool:
        """True if nothing rules it out."""
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
    """Return a note if the GPUs that TensorFlow lists have hardly any free memory, else ""."""
    by_uuid = {card.uuid: card for card in machine.cards if card.uuid}
    known = [by_uuid[gpu.uuid] for gpu in python.tensorflow.gpus if gpu.uuid in by_uuid] if python.tensorflow else []
    free = [card.free_mib for card in known or machine.cards if card.free_mib is not None]
    if free and max(free) < _BUSY_BELOW_MIB:
        return f"only {max(free)} MiB are free: programs may run out of memory"
    return ""


def _for_running(python: ProbedPython) -> tuple[Trouble, ...]:
    """Return what every ground lacks in the interpreter that runs the programs."""
    found = []
    if python.version < _FIRST_PYTHON:
        version = ".".join(map(str, python.version))
        found.append(Trouble(f"Python {version} is too old: running programs needs Python 3.10 or newer"))
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
    what, _, do = said.partition("; ")  # the problem, then the advice
    return (Trouble(what, do),) if said else ()


def _for_edge(python: ProbedPython) -> tuple[Trouble, ...]:
    tensorflow = python.tensorflow
    if tensorflow is None:
        return (python.trouble or Trouble("TensorFlow can't be imported"),)
    if tensorflow.release < _FIRST_EDGE_RELEASE:
        return (Trouble(f"TensorFlow {tensorflow.version} is too old: 2.4 is the oldest that was tried"),)
    return ()
