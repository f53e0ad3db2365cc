"""A search of the raw bytes for the few words without which a file can't matter. Most files end here."""

from __future__ import annotations

import re

_TENSORFLOW = rb"tensorflow|keras|\btf\.|CUDA_VISIBLE_DEVICES"
_MATTERS = (
    rb"memory_(?:growth|limit|info|usage|stats|fraction|total|used|optimi[sz]er)"
    rb"|gpu_memory|allow_growth|gpu_options|GPUOptions|ConfigProto|LogicalDevice|VirtualDevice"
    rb"|(?:logical|virtual|visible|physical|local)_device|VISIBLE_DEVICES|TF_GPU|TF_FORCE_GPU|TF_CUDNN"
    rb"|is_gpu_available|gpu_device_name|get_device_details|(?:set|clear)_session|\bSession\(|InteractiveSession"
    rb"|\btf\.config\b|\.config\.experimental|contrib\.memory|enable_eager_execution|set_int(?:ra|er)_op_"
    rb"|\b(?:tf|tensorflow|K|backend|experimental|extended)\.[\w.]*(?:memory|gpu|Memory|GPU|vram|growth)"
    rb"|optimizer\.set_(?:jit|experimental_options)|(?i:def \w*(?:memory|vram|usage)|class \w*memory)|TFM\d|tfmemlint:"
)
_VARIABLES = (
    rb"(?:TF|CUDA)_\w*(?:GROW|GROT|MEM|FRACTION|ALLOC|DEVI[CS]|GPU)|GPU_ALLO[CW]|XLA_PYTHON_CLIENT|nvmlDeviceGetHandle"
)
"""Environment variables about GPUs, however they are spelled, and NVML: looked for only where `_OF_VARIABLES` are."""
_OF_VARIABLES = (b"TF_", b"CUDA_", b"XLA_PYTHON", b"GPU_ALLO", b"nvmlDevice")
_HINTS = (
    b"memory", b"Memory", b"MEMORY", b"gpu", b"GPU", b"_growth", b"_device", b"LogicalDevice", b"VirtualDevice",
    b"ConfigProto", b"VISIBLE_DEVICES", b"_session", b"Session", b"tf.config", b".config.experimental",
    *_OF_VARIABLES,
    b"enable_eager_execution", b"vram", b"VRAM", b"usage", b"Usage", b"TFM", b"tfmemlint:", b"set_int", b"growth",
    b"set_jit", b"set_experimental_options",
)  # fmt: skip
"""One of these is in all that `_MATTERS` finds: looking for them is ten times faster than looking for that."""

_tensorflow = re.compile(_TENSORFLOW).search
_matters = re.compile(_MATTERS).search
_variables = re.compile(_VARIABLES).search


def matters(data: bytes) -> bool:
    """Whether a file can hold anything that a rule would report."""
    if not any(hint in data for hint in _HINTS) or _tensorflow(data) is None:
        return False
    return _matters(data) is not None or (any(one in data for one in _OF_VARIABLES) and _variables(data) is not None)


def about_tensorflow(data: bytes) -> bool:
    """Whether a file mentions TensorFlow, or Keras."""
    return _tensorflow(data) is not None


_CONFIGURES = (
    b"memory_growth", b"_device_configuration", b"LogicalDevice", b"VirtualDevice", b"set_visible_devices",
    b"VISIBLE_DEVICES", b"TF_FORCE_GPU", b"TF_GPU_ALLOCATOR", b"TF_PER_DEVICE_MEM", b"set_intra_op_", b"set_inter_op_",
    b"set_memory_limit", b"set_gpu_memory",
)  # fmt: skip


def configures(data: bytes) -> bool:
    """Whether a file can configure GPUs by ``tf.config`` or the environment, so that it matters what has run before."""
    return any(word in data for word in _CONFIGURES)
