"""Environment variables about GPU memory: those that TensorFlow reads, when it reads them, and made-up ones.

Source: the calls of ``getenv`` in a running TensorFlow were logged, and the strings of its libraries searched, with the
same result on 2.12, 2.15 and 2.21. A variable that appears in neither, nor in any Python file, is made up.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum

from tfmemlint.model.intent import Purpose
from tfmemlint.model.patterns import late_pattern
from tfmemlint.model.records import dataclass

LOGGED = ("2.12", "2.15", "2.21")
"""The releases whose calls of ``getenv`` were logged."""


class Moment(Enum):
    """The moment at which TensorFlow reads a variable; setting it later has no effect."""

    IMPORT = "import"
    """While ``import tensorflow`` runs."""
    LISTING = "listing"
    """At the first ``list_physical_devices``, or the first other call that initialises the driver."""
    DEVICES = "devices"
    """When the devices are created: at the start of the eager context, the first session, or ``device_lib``."""
    CONVOLUTION = "convolution"
    """At the first convolution."""
    SHORTAGE = "shortage"
    """When memory runs out."""


ABOUT_GPUS = frozenset({Moment.LISTING, Moment.DEVICES, Moment.CONVOLUTION, Moment.SHORTAGE})
"""The moments of variables that are about GPUs."""


@dataclass(frozen=True, slots=True)
class Variable:
    """A variable that TensorFlow reads.

    Attributes:
        moment: when TensorFlow reads it.
        values: the values that have an effect; None if any value may have one.
        of_each_session: every session makes devices of its own and reads it for them. Measured on 2.21: a session
            that is made after another one raises for a value that it does not know.
    """

    moment: Moment
    values: tuple[str, ...] | None = None
    of_each_session: bool = False


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
    "TF_GPU_THREAD_MODE": Variable(Moment.DEVICES, of_each_session=True),
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
"""The variables that TensorFlow was observed to read. ``TF_CUDNN_USE_FRONTEND`` was read by 2.15 and older only (2.5 to
2.19 name it); the two about cudaMallocAsync and the deterministic allocator only with
``TF_GPU_ALLOCATOR=cuda_malloc_async``. `knowledge.named` lists the variables that each release names;
`knowledge.variables` judges values."""

MADE_UP: Mapping[str, Purpose] = {
    "TF_GPU_MEMORY_LIMIT": Purpose.LIMIT,
    "TF_MEMORY_LIMIT": Purpose.LIMIT,
    "TF_GPU_VMEM": Purpose.LIMIT,
    "TF_GPU_VMEM_LIMIT": Purpose.LIMIT,
    "TF_GPU_MEM_LIMIT": Purpose.LIMIT,
    "TF_MEMORY_ALLOCATION": Purpose.FRACTION,
    "TF_GPU_MEMORY_FRACTION": Purpose.FRACTION,
    "TF_GPU_MEM_FRACTION": Purpose.FRACTION,
    "TF_MEMORY_FRACTION": Purpose.FRACTION,
    "TF_PER_PROCESS_GPU_MEMORY_FRACTION": Purpose.FRACTION,
    "GPU_MEM_FRACTION": Purpose.FRACTION,
    "XLA_PYTHON_CLIENT_MEM_FRACTION": Purpose.FRACTION,
    "TF_ALLOW_GROWTH": Purpose.GROWTH,
    "TF_GPU_ALLOW_GROWTH": Purpose.GROWTH,
    "TF_MEMORY_GROWTH": Purpose.GROWTH,
    "TF_GPU_MEMORY_GROWTH": Purpose.GROWTH,
    "TF_SET_MEMORY_GROWTH": Purpose.GROWTH,
    "TF_GPU_MEMORY_ALLOW_GROWTH": Purpose.GROWTH,
    "TF_CUDA_ALLOW_GROWTH": Purpose.GROWTH,
    "XLA_PYTHON_CLIENT_PREALLOCATE": Purpose.GROWTH,
    "XLA_PYTHON_CLIENT_ALLOCATOR": Purpose.ALLOCATOR,
    "TF_ENABLE_CUDA_MALLOC_ASYNC": Purpose.ALLOCATOR,
    "PYTORCH_CUDA_ALLOC_CONF": Purpose.ALLOCATOR,
    "TF_CUDA_HOST_MEM_LIMIT_IN_MB": Purpose.OTHER,
    "TF_DISABLE_GPU": Purpose.VISIBLE,
    "TF_METAL_DEVICE_MEMORY_FRACTION": Purpose.FRACTION,
}
"""Variables that TensorFlow never reads, each with the purpose that its author had. ``XLA_PYTHON_CLIENT_*`` belong to
JAX, ``PYTORCH_CUDA_ALLOC_CONF`` to PyTorch, ``TF_MEMORY_ALLOCATION`` to NVTabular: they work there, and have no effect
on TensorFlow. ``TF_METAL_DEVICE_MEMORY_FRACTION`` is not Apple's either: of the variables in TensorFlow's manner, the
library of the wheels tensorflow-metal 0.1.2, 0.4, 0.6, 0.8, 1.0, 1.1 and 1.2 names ``TF_MPS_DISABLE_ALLOCATION_CACHE``,
``TF_MTL_ENABLE_LAYER_PRINT``, ``MPS_DEVICE_CACHE_SIZE``, ``MPS_ENABLE_GEMM_PLUGIN`` and ``MPS_MAX_COMMIT_COUNT``, from
0.8 on also ``TF_VERBOSE`` and four ``TF_CPP_*``, 0.8 ``TF_METAL_REMAPPER``, later ones ``TURN_OFF_REMAPPER``."""

OTHERS: Mapping[str, str] = {
    "XLA_PYTHON_CLIENT_PREALLOCATE": "JAX",
    "XLA_PYTHON_CLIENT_MEM_FRACTION": "JAX",
    "XLA_PYTHON_CLIENT_ALLOCATOR": "JAX",
    "PYTORCH_CUDA_ALLOC_CONF": "PyTorch",
    "TF_MEMORY_ALLOCATION": "NVTabular",
}
"""The library to which a made-up variable belongs."""

_GROWTH = late_pattern(r"TF_(?:\w{1,60}_)?(?:ALLOW|MEMORY|MEM|GPU|ENABLE|SET|FORCE)_GROWTH(?:_\w+)?")
_FRACTION = late_pattern(
    r"TF_(?:\w{1,40}_)?(?:GPU|MEMORY|MEM|VMEM)_(?:\w{1,40}_)?(?:FRACTION|PERCENT|PERCENTAGE|RATIO)"
)
_LIMIT = late_pattern(
    r"TF_(?:GPU|CUDA|MAX_GPU)_(?:MEMORY|MEM|VMEM|VRAM|MAX_MEMORY|MAX_MEM)_(?:LIMIT|MAX|CAP|SIZE)(?:_(?:IN_)?(?:MI?B|GI?B|BYTES))?"
    r"|TF_GPU_VMEM\w*"
)

ALLOCATORS_MEASURED_FROM = {"cuda_malloc_async": (2, 12), "cuda_malloc": (2, 14)}
"""The first release on which each value of ``TF_GPU_ALLOCATOR`` was measured: from there on it is known what becomes of
limits and reports. TensorFlow before 2.14 does not start with ``cuda_malloc``."""


def read_at(name: str) -> Moment | None:
    """Return the moment at which TensorFlow reads ``name``; None if nothing is known about the variable."""
    found = VARIABLES.get(name)
    if found is None and name.startswith("TF_CPP_"):
        return Moment.IMPORT
    return found.moment if found else None


def allowed(name: str) -> tuple[str, ...] | None:
    """Return the values of ``name`` that have an effect; None if any may have one, or nothing is known."""
    found = VARIABLES.get(name)
    return found.values if found else None


def purpose_of(name: str) -> Purpose | None:
    """Return the purpose of a variable that TensorFlow never reads, from the list or from the words in its name; None
    for any other variable."""
    if name in VARIABLES:
        return None
    if name in MADE_UP:
        return MADE_UP[name]
    for pattern, purpose in ((_GROWTH, Purpose.GROWTH), (_FRACTION, Purpose.FRACTION), (_LIMIT, Purpose.LIMIT)):
        if pattern.fullmatch(name):
            return purpose
    return None


def is_made_up(name: str) -> bool:
    """Return True if ``name`` is about GPU memory and nothing in TensorFlow reads it."""
    return purpose_of(name) is not None
