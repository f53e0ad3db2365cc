"""Read what the simulated driver recorded: the memory that was taken of each GPU, and the requests that it refused."""

from __future__ import annotations

import contextlib
import os
from dataclasses import dataclass, field
from pathlib import Path


@dataclass(slots=True)
class GpuUsage:
    """One GPU as the program's process used it. All sizes are bytes."""

    index: int
    """Its number as CUDA gave it to the process, after ``CUDA_VISIBLE_DEVICES``."""
    card: int
    """NVML's number of it."""
    total: int
    others: int
    """The memory that processes outside the simulation use."""
    context: bool = False
    """True if a CUDA context was made on it."""
    regions: list[int] = field(default_factory=list)
    """The sizes that ``cuMemAlloc`` was asked for, in order, including those that were freed later."""
    managed: list[int] = field(default_factory=list)
    """Unified memory, which may be in the host's memory and which no GPU refuses."""
    pooled: list[int] = field(default_factory=list)
    """Requests to the stream-ordered allocator (``TF_GPU_ALLOCATOR=cuda_malloc_async``)."""
    refused: list[int] = field(default_factory=list)
    """Requests that the GPU had no room for."""
    current: int = 0
    """The memory that the process held at its end, as the GPU counts it (large regions in pages of 2 MiB)."""
    peak: int = 0

    @property
    def free(self) -> int:
        """Return the memory that another process would have found free when this one ended, in bytes."""
        return max(0, self.total - self.others - self.current)


@dataclass(slots=True)
class Usage:
    """The use that one process made of the simulated GPUs."""

    pid: int = 0
    """The process; 0 where none started CUDA or NVML."""
    gpus: list[GpuUsage] = field(default_factory=list)
    """The GPUs that CUDA showed to it."""
    unsimulated: list[str] = field(default_factory=list)
    """Functions that were called, aren't simulated, and answered with an error; each once."""
    processes: tuple[int, ...] = ()
    """All processes in the log, in the order of their first line."""


def read_log(path: str | os.PathLike[str], pid: int | None = None) -> Usage:
    """Return the use that a process made, from its log.

    Args:
        path: the file that ``environment(log=...)`` named; a missing file is an empty log.
        pid: the process; by default the first to which CUDA showed a GPU, which is the program itself, whatever
            processes it started later.
    """
    try:
        text = Path(path).read_text(encoding="utf-8", errors="replace")
    except FileNotFoundError:
        return Usage()
    lines = [fields for fields in (line.split() for line in text.splitlines()) if len(fields) > 1]
    pids = tuple(dict.fromkeys(int(fields[0]) for fields in lines))
    if pid is None:
        pid = next((int(fields[0]) for fields in lines if fields[1] == "gpu"), pids[0] if pids else 0)
    usage = Usage(pid=pid, processes=pids)
    for fields in lines:
        if int(fields[0]) == pid:
            # The last line of a process that was killed may be incomplete.
            with contextlib.suppress(ValueError, IndexError):
                _apply(usage, fields[1], fields[2:])
    return usage


_LISTS = {"device": "regions", "mapped": "regions", "managed": "managed", "pool": "pooled"}


def _apply(usage: Usage, word: str, fields: list[str]) -> None:
    if word == "unsimulated":
        usage.unsimulated.append(fields[0])
        return
    if word == "kernel":
        return
    if word == "gpu":
        index, card, total, others = map(int, fields)
        usage.gpus.append(GpuUsage(index, card, total, others))
        return
    gpu = next((gpu for gpu in usage.gpus if gpu.index == int(fields[0])), None)
    if gpu is None:  # the host's memory
        return
    if word == "context":
        gpu.context = True
    elif word == "take" and fields[1] in _LISTS:
        getattr(gpu, _LISTS[fields[1]]).append(int(fields[2]))
    elif word == "refuse":
        gpu.refused.append(int(fields[2]))
    if word in ("context", "take", "give", "held"):
        gpu.current = int(fields[-1])
        gpu.peak = max(gpu.peak, gpu.current)
