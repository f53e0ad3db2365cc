"""The ``edge`` ground: the installed TensorFlow with simulated GPUs.

Only the border between TensorFlow's Python and its C++ is replaced, so every check that a program meets is TensorFlow's
own. Anything that only the C++ allocator decides, such as the memory that is really taken, isn't shown here.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

from tfmemlint.verify.ground import Ground
from tfmemlint.verify.result import GroundError, Result

__all__ = ["Edge", "GroundError", "Result", "shared"]


class Edge(Ground):
    """Runs programs on TensorFlow with simulated physical GPUs at its Python edge."""

    kind = "edge"

    def server_environment(self) -> dict[str, str]:
        """Hide every real GPU, and let the CPU have its statistics of memory, which oneDNN keeps, on every processor.

        TensorFlow 2.21 turns oneDNN on by itself on Intel's newer processors only.
        """
        return {"CUDA_VISIBLE_DEVICES": "", "TF_ENABLE_ONEDNN_OPTS": "1"}

    def complete(self, request: dict[str, Any]) -> None:
        """Check the request here, as the forked process could only crash on a wrong one."""
        from tfmemlint.verify.edge.machine import SimulatedMachine

        SimulatedMachine.of(request["gpus"], request["memory_mib"], request["cuda_order"])


@lru_cache(maxsize=1)
def shared() -> Edge:
    """Return the one `Edge` of the process. Its server starts with the first program and ends with the process."""
    return Edge()
