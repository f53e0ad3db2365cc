"""Put simulated GPUs under the TensorFlow of a forked process."""

from __future__ import annotations

import os
import sys
from typing import Any

from tfmemlint.verify.edge import nvml
from tfmemlint.verify.edge.machine import SimulatedMachine
from tfmemlint.verify.edge.runtime import Simulation, install


def prepare(request: dict[str, Any]) -> Simulation:
    """Put the machine of ``request`` under this process's TensorFlow, and set its environment."""
    machine = SimulatedMachine.of(request["gpus"], request["memory_mib"], request["cuda_order"])
    simulation = install(machine)  # first, while CUDA_VISIBLE_DEVICES still hides every real GPU
    os.environ.pop("CUDA_VISIBLE_DEVICES", None)
    os.environ.update(request["env"])
    sys.modules["pynvml"] = nvml.module(machine)
    return simulation
