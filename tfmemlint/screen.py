"""A search of the raw bytes for the few words without which a file can't matter. Most files end here."""

from __future__ import annotations

import re

_TENSORFLOW = rb"tensorflow|keras|\btf\.|CUDA_VISIBLE_DEVICES"
_MATTERS = (
    rb"memory_(?:growth|limit|info|usage|stats|fraction|total|used|optimi[sz]er)"
    rb"|gpu_memory|allow_growth|gpu_options|GPUOptions|ConfigProto|LogicalDevice|VirtualDevice"
    rb"|(?:logical|virtual|visible|physical|local)_device|VISIBLE_DEVICES|TF_GPU|TF_FORCE_GPU|TF_CUDNN"
    rb"|is_gpu_available|gpu_device_name|get_device_details|(?:set|clear)_session|\bSession\(|InteractiveSession"
    rb"|\btf\.config\b|\.config\.experimental|contrib\.memory|enable_eager_execution"
    rb"|\b(?:tf|tensorflow|K|backend|experimental|extended)\.[\w.]*(?:memory|gpu|Memory|GPU)"
    rb"|(?i:def \w*(?:memory|vram|usage)|class \w*memory)|TFM\d|tfmemlint:"
)
_HINTS = (
    b"memory", b"Memory", b"MEMORY", b"gpu", b"GPU", b"_growth", b"_device", b"LogicalDevice", b"VirtualDevice",
    b"ConfigProto", b"VISIBLE_DEVICES", b"TF_CUDNN", b"_session", b"Session", b"tf.config", b".config.experimental",
    b"enable_eager_execution", b"vram", b"VRAM", b"usage", b"Usage", b"TFM", b"tfmemlint:",
)  # fmt: skip
"""One of these is in all that `_MATTERS` finds: looking for them is ten times faster than looking for that."""

_tensorflow = re.compile(_TENSORFLOW).search
_matters = re.compile(_MATTERS).search


def matters(data: bytes) -> bool:
    """Whether a file can hold anything that a rule would report."""
    return any(hint in data for hint in _HINTS) and _tensorflow(data) is not None and _matters(data) is not None


def about_tensorflow(data: bytes) -> bool:
    """Whether a file mentions TensorFlow, or Keras."""
    return _tensorflow(data) is not None


_CONFIGURES = (
    b"memory_growth", b"_device_configuration", b"LogicalDevice", b"VirtualDevice", b"set_visible_devices",
    b"VISIBLE_DEVICES", b"TF_FORCE_GPU", b"TF_GPU_ALLOCATOR", b"TF_PER_DEVICE_MEM", b"threading.set_",
    b"set_memory_limit", b"set_gpu_memory",
)  # fmt: skip


def configures(data: bytes) -> bool:
    """Whether a file can configure GPUs by ``tf.config`` or the environment, so that it matters what has run before."""
    return any(word in data for word in _CONFIGURES)
