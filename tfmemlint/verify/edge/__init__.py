"""Programs run on the installed TensorFlow with simulated GPUs.

Only the border between TensorFlow's Python and its C++ is replaced, so every check that a program meets is
TensorFlow's own. What the C++ allocator alone decides (how much memory is really taken) isn't shown here.
"""

from tfmemlint.verify.edge.result import EdgeError, Result
from tfmemlint.verify.edge.server import Edge, shared

__all__ = ["Edge", "EdgeError", "Result", "shared"]
