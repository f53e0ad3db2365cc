"""Collect everything that the doctor reports."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from tfmemlint.doctor import host, nvml_query, sandbox, tensorflow
from tfmemlint.doctor.environment import VariableReport, settings
from tfmemlint.doctor.ground_status import GroundStatus, grounds
from tfmemlint.doctor.host import Host
from tfmemlint.doctor.nvml_query import NvmlReport
from tfmemlint.doctor.sandbox import SandboxStatus
from tfmemlint.doctor.tensorflow import ProbedPython


@dataclass(frozen=True, slots=True)
class Diagnosis:
    """The facts about a machine, and the grounds that they allow.

    Attributes:
        python: the interpreter, and its TensorFlow. machine: the GPUs by NVML. around: the rest of the machine.
        settings: the environment variables that affect GPU memory. grounds: the ways to verify, the best first.
        sandbox: what holds back the programs that are run; None if it isn't known.
    """

    python: ProbedPython
    machine: NvmlReport
    around: Host
    settings: tuple[VariableReport, ...]
    grounds: tuple[GroundStatus, ...]
    sandbox: SandboxStatus | None = None

    @property
    def best(self) -> GroundStatus | None:
        """Return the best ground that is possible; None if none is."""
        return next((ground for ground in self.grounds if ground.possible), None)

    @property
    def better(self) -> GroundStatus | None:
        """Return the next better ground than the best possible one; None if there is none."""
        place = self.grounds.index(self.best) if self.best is not None else len(self.grounds)
        return self.grounds[place - 1] if place else None


def diagnose(
    python: str | None = None,
    *,
    seconds: float = tensorflow.SECONDS,
    nvml: Any = None,
    env: Mapping[str, str] | None = None,
    root: str = "/",
) -> Diagnosis:
    """Examine this machine.

    Args:
        python: the interpreter whose TensorFlow is examined; by default the one that runs this.
        seconds: the time limit for importing its TensorFlow and listing its devices.
        nvml: the binding of NVML; by default ``pynvml``.
        env: the environment; by default this process's. root: the root folder of the system.

    Raises:
        InterpreterError: the interpreter can't be run.
    """
    environment = dict(os.environ if env is None else env)
    found = tensorflow.probe(python or sys.executable, seconds=seconds, env=environment)
    cards = nvml_query.read(nvml)
    around = host.look(root)
    # With MIG, CUDA counts MIG devices, not physical GPUs.
    counted = None if cards.trouble or any(card.mig for card in cards.cards) else len(cards.cards)
    return Diagnosis(
        found,
        cards,
        around,
        settings(environment, counted or None),
        grounds(found, cards, around, environment),
        sandbox.look(),
    )
