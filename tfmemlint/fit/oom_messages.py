"""Parse TensorFlow's messages for exhausted GPU memory."""

from __future__ import annotations

import re
from dataclasses import dataclass

_OF_GPU = re.compile(
    r"by allocator (GPU_\d+\w*|gpu_\w+)|Out of memory while trying to allocate|RESOURCE_EXHAUSTED"
    r"|failed to allocate memory"
)
_TENSOR = re.compile(r"shape(\[[\d,]*\]) and type (\w+)")
_BYTES = re.compile(r"Out of memory while trying to allocate (\d+) bytes")
_NODE = re.compile(r"\{\{node ([^{}]+)\}\}|\[Op:(\w+)\]")
_FRAME = re.compile(r"\{\{function_node [^{}]*\}\}\s*|\s*\[Op:\w+\] name:\s*$")
_DEVICE = re.compile(r"device:(GPU:\d+)")

_IN_CUDNN = re.compile(r"Failed to call (?:Do|Then)Rnn(?:Forward|Backward)")
"""TensorFlow's error if cuDNN's recurrent layers get no memory; only its log has the reason (measured on 2.12, 2.15 and
2.21).
"""


@dataclass(frozen=True, slots=True)
class RefusedAllocation:
    """An allocation that failed.

    Attributes:
        device: such as ``GPU:0``, or "". operation: the operation that asked, or "". what: the tensor or the size.
    """

    device: str
    operation: str
    what: str


def is_out_of_memory(message: str) -> bool:
    """True if an error's text is about a GPU's memory."""
    return _OF_GPU.search(message) is not None


def refused_in_cudnn(message: str, logged: str) -> str:
    """Return the line of TensorFlow's log that says what got no memory; "" if an error isn't about cuDNN's memory."""
    if not _IN_CUDNN.search(message):
        return ""
    return next((line for line in logged.splitlines() if "OOM" in line and is_out_of_memory(line)), "")


def refused(message: str) -> RefusedAllocation:
    """Return the allocation that failed, from an error's text."""
    tensor, size, device = _TENSOR.search(message), _BYTES.search(message), _DEVICE.search(message)
    # The call of a function is named after the operation in it that failed.
    names = [match[1] or match[2] for match in _NODE.finditer(message)]
    told = [name for name in names if not name.endswith("PartitionedCall") and not name.startswith("__inference_")]
    operation = told[0] if told else ""
    what = f"{tensor[2]} {tensor[1]}" if tensor else f"{int(size[1]) / 2**20:,.1f} MiB" if size else ""
    return RefusedAllocation(device[1] if device else "", operation, what)


def memory_line(message: str) -> str:
    """Return the line of an error's text that is about memory."""
    lines = [line.strip() for line in message.splitlines() if line.strip()]
    line = next((line for line in lines if is_out_of_memory(line)), lines[0] if lines else "")
    return _FRAME.sub("", line)[:500].strip()
