"""The environment variables about GPU memory that TensorFlow reads, when it reads them, and the ones that people made
up.

Source: the calls of ``getenv`` of a running TensorFlow were logged, and the strings of its libraries searched, with the
same result on 2.12, 2.15 and 2.21. What was found in neither and in no Python file is made up.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum

from tfmemlint.model.intent import Wish

LOGGED = ("2.12", "2.15", "2.21")
"""The releases in which TensorFlow was watched reading its variables."""


class Moment(Enum):
    """When TensorFlow reads a variable; setting it later has no effect."""

    IMPORT = "import"
    """While ``import tensorflow`` runs."""
    LISTING = "listing"
    """At the first ``list_physical_devices``, or whatever else initialises the driver first."""
    DEVICES = "devices"
    """When the devices are made: the start of the eager context, the first session, ``device_lib``."""
    CONVOLUTION = "convolution"
    """At the first convolution."""
    SHORTAGE = "shortage"
    """When memory has run out."""


@dataclass(frozen=True, slots=True)
class Variable:
    """A variable that TensorFlow reads.

    Attributes:
        moment: when it is read.
        values: all the values that have an effect; None where any may.
    """

    moment: Moment
    values: tuple[str, ...] | None = None


VARIABLES: Mapping[str, Variable] = {
    "TF_CPP_MIN_LOG_LEVEL": Variable(Moment.IMPORT),
    "TF_CPP_MAX_VLOG_LEVEL": Variable(Moment.IMPORT),
    "TF_CPP_MIN_VLOG_LEVEL": Variable(Moment.IMPORT),
    "TF_CPP_VMODULE": Variable(Moment.IMPORT),
    "TF_ENABLE_ONEDNN_OPTS": Variable(Moment.IMPORT),
    "TF_ENABLED_DEVICE_TYPES": Variable(Moment.IMPORT),
    "TF_USE_MODULAR_FILESYSTEM": Variable(Moment.IMPORT),
    "TF_CUFFT_WORKSPACE_LIMIT_IN_MB": Variable(Moment.IMPORT),
    "CUDA_VISIBLE_DEVICES": Variable(Moment.LISTING),
    "TF_MIN_GPU_MULTIPROCESSOR_COUNT": Variable(Moment.LISTING),
    "TF_XLA_FLAGS": Variable(Moment.LISTING),
    "TF_FORCE_GPU_ALLOW_GROWTH": Variable(Moment.DEVICES, ("true", "false")),
    "TF_GPU_ALLOCATOR": Variable(Moment.DEVICES, ("cuda_malloc_async", "cuda_malloc", "memory_guard")),
    "TF_DEVICE_MIN_SYS_MEMORY_IN_MB": Variable(Moment.DEVICES),
    "TF_PER_DEVICE_MEMORY_LIMIT_MB": Variable(Moment.DEVICES),
    "TF_GPU_HOST_MEM_LIMIT_IN_MB": Variable(Moment.DEVICES),
    "TF_ENABLE_GPU_GARBAGE_COLLECTION": Variable(Moment.DEVICES),
    "TF_GPU_THREAD_MODE": Variable(Moment.DEVICES),
    "TF_CUDA_MALLOC_ASYNC_SUPPORTED_PREALLOC": Variable(Moment.DEVICES),
    "TF_DETERMINISTIC_ALLOCATOR": Variable(Moment.DEVICES),
    "TF_CPU_ALLOCATOR_USE_BFC": Variable(Moment.DEVICES),
    "TF_CUDA_PLATFORM_GPU_DEVICE_SCHEDULE": Variable(Moment.DEVICES),
    "XLA_FLAGS": Variable(Moment.DEVICES),
    "TF_CUDNN_WORKSPACE_LIMIT_IN_MB": Variable(Moment.CONVOLUTION),
    "TF_CUDNN_USE_AUTOTUNE": Variable(Moment.CONVOLUTION),
    "TF_CUDNN_DETERMINISTIC": Variable(Moment.CONVOLUTION),
    "TF_CUDNN_USE_FRONTEND": Variable(Moment.CONVOLUTION),
    "TF_BFC_MEMORY_DUMP": Variable(Moment.SHORTAGE),
}
"""The variables that were seen being read. ``TF_CUDNN_USE_FRONTEND`` was seen being read by 2.15 and older only (2.5 to
2.19 name it); the two about cudaMallocAsync and determinism of the allocator by ``TF_GPU_ALLOCATOR=cuda_malloc_async``
only. Which variables a release names at all is in `knowledge.named`, what a value comes to in `knowledge.variables`."""

MADE_UP: Mapping[str, Wish] = {
    "TF_GPU_MEMORY_LIMIT": Wish.LIMIT,
    "TF_MEMORY_LIMIT": Wish.LIMIT,
    "TF_GPU_VMEM": Wish.LIMIT,
    "TF_GPU_VMEM_LIMIT": Wish.LIMIT,
    "TF_GPU_MEM_LIMIT": Wish.LIMIT,
    "TF_MEMORY_ALLOCATION": Wish.FRACTION,
    "TF_GPU_MEMORY_FRACTION": Wish.FRACTION,
    "TF_GPU_MEM_FRACTION": Wish.FRACTION,
    "TF_MEMORY_FRACTION": Wish.FRACTION,
    "TF_PER_PROCESS_GPU_MEMORY_FRACTION": Wish.FRACTION,
    "GPU_MEM_FRACTION": Wish.FRACTION,
    "XLA_PYTHON_CLIENT_MEM_FRACTION": Wish.FRACTION,
    "TF_ALLOW_GROWTH": Wish.GROWTH,
    "TF_GPU_ALLOW_GROWTH": Wish.GROWTH,
    "TF_MEMORY_GROWTH": Wish.GROWTH,
    "TF_GPU_MEMORY_GROWTH": Wish.GROWTH,
    "TF_SET_MEMORY_GROWTH": Wish.GROWTH,
    "TF_GPU_MEMORY_ALLOW_GROWTH": Wish.GROWTH,
    "TF_CUDA_ALLOW_GROWTH": Wish.GROWTH,
    "XLA_PYTHON_CLIENT_PREALLOCATE": Wish.GROWTH,
    "XLA_PYTHON_CLIENT_ALLOCATOR": Wish.ALLOCATOR,
    "TF_ENABLE_CUDA_MALLOC_ASYNC": Wish.ALLOCATOR,
    "PYTORCH_CUDA_ALLOC_CONF": Wish.ALLOCATOR,
    "TF_CUDA_HOST_MEM_LIMIT_IN_MB": Wish.OTHER,
    "TF_DISABLE_GPU": Wish.VISIBLE,
}
"""Variables that TensorFlow never reads, and what was wanted of them. ``XLA_PYTHON_CLIENT_*`` are JAX's,
``PYTORCH_CUDA_ALLOC_CONF`` is PyTorch's, ``TF_MEMORY_ALLOCATION`` is NVTabular's: real there, without effect here."""

OTHERS: Mapping[str, str] = {
    "XLA_PYTHON_CLIENT_PREALLOCATE": "JAX",
    "XLA_PYTHON_CLIENT_MEM_FRACTION": "JAX",
    "XLA_PYTHON_CLIENT_ALLOCATOR": "JAX",
    "PYTORCH_CUDA_ALLOC_CONF": "PyTorch",
    "TF_MEMORY_ALLOCATION": "NVTabular",
}
"""Whose a made-up variable really is."""

_GROWTH = re.compile(r"TF_(?:\w+_)?(?:ALLOW|MEMORY|MEM|GPU|ENABLE|SET|FORCE)_GROWTH(?:_\w+)?")
_FRACTION = re.compile(r"TF_(?:\w+_)?(?:GPU|MEMORY|MEM|VMEM)_(?:\w+_)?(?:FRACTION|PERCENT|PERCENTAGE|RATIO)")
_LIMIT = re.compile(
    r"TF_(?:GPU|CUDA|MAX_GPU)_(?:MEMORY|MEM|VMEM|VRAM|MAX_MEMORY|MAX_MEM)_(?:LIMIT|MAX|CAP|SIZE)(?:_(?:IN_)?(?:MI?B|GI?B|BYTES))?"
    r"|TF_GPU_VMEM\w*"
)


def read_at(name: str) -> Moment | None:
    """When TensorFlow reads ``name``; None for a variable about which nothing is known."""
    found = VARIABLES.get(name)
    if found is None and name.startswith("TF_CPP_"):
        return Moment.IMPORT
    return found.moment if found else None


def allowed(name: str) -> tuple[str, ...] | None:
    """All the values of ``name`` that have an effect; None where any may, or nothing is known."""
    found = VARIABLES.get(name)
    return found.values if found else None


def wish_of(name: str) -> Wish | None:
    """What was wanted of a variable that TensorFlow never reads: by the list, else by the words in it; None for any
    other."""
    if name in VARIABLES:
        return None
    if name in MADE_UP:
        return MADE_UP[name]
    for pattern, wish in ((_GROWTH, Wish.GROWTH), (_FRACTION, Wish.FRACTION), (_LIMIT, Wish.LIMIT)):
        if pattern.fullmatch(name):
            return wish
    return None


def is_made_up(name: str) -> bool:
    """Whether ``name`` is about GPU memory and nothing in TensorFlow reads it."""
    return wish_of(name) is not None
