"""The memory of GPUs by their names: what the driver leaves of it to programs.

A GPU has less memory than its name says: the driver keeps some for itself, and error correction takes some on a few.
Each figure is what CUDA gives as the total memory of the device, which TensorFlow and PyTorch print; it is lower than
what ``nvidia-smi`` shows. Where public logs differ, by the driver's version, the lowest one is here.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

GIB = 1024


@dataclass(frozen=True, slots=True)
class GpuModel:
    """A GPU: its name, the memory that CUDA gives as its total in MiB, and the source of that."""

    name: str
    memory_mib: int
    source: str


GPU_MODELS = (
    GpuModel("P100-16", int(15.89 * GIB), "TensorFlow's log in mlcommons/training#100: 15.89GiB"),
    GpuModel("V100-16", int(15.78 * GIB), "PyTorch's message in kchengiva/Shift-GCN#34: 15.78 GiB"),
    GpuModel("V100-32", int(31.74 * GIB), "PyTorch's message in liucongg/ChatGLM-Finetuning#73: 31.74 GiB"),
    GpuModel(
        "T4",
        int(14.56 * GIB),
        "PyTorch's message in Zheng-Chong/CatVTON#133: 14.56 GiB; TensorFlow's log in "
        "NVIDIA/DALI#1813, of an older driver: 14.75GiB",
    ),
    GpuModel(
        "A10",
        int(21.99 * GIB),
        "PyTorch's message in zai-org/CogVLM#236: 21.99 GiB; nvidia-smi in modal-labs/modal-client#2797: 23028MiB",
    ),
    GpuModel("A100-40", 40339, "deviceQuery in bottlerocket-os/bottlerocket#3873: 42298834944 bytes"),
    GpuModel("A100-80", int(79.21 * GIB), "TensorFlow's log in NVIDIA/DeepLearningExamples#1262: 79.21GiB"),
    GpuModel(
        "H100",
        int(79.11 * GIB),
        "PyTorch's message in vllm-project/vllm#27508: 79.11 GiB; nvidia-smi in modal-labs/modal-client#2797: 81559MiB",
    ),
    GpuModel("L4", 22491, "deviceQuery in bottlerocket-os/bottlerocket-kernel-kit#139: 23583784960 bytes"),
    GpuModel("L40S", int(44.53 * GIB), "PyTorch's message in Wan-Video/Wan2.1#205: 44.53 GiB"),
    GpuModel("RTX4090", int(23.61 * GIB), "PyTorch's message in pinokiofactory/flux-webui#11: 23.61 GiB"),
    GpuModel("RTX5090", 32117, "deviceQuery in aikitoria/open-gpu-kernel-modules#1: 33677180928 bytes"),
)
_IGNORED = re.compile(r"nvidia|tesla|geforce|[\s_-]+|gi?b$", re.IGNORECASE)
_NUMBER_FIRST = re.compile(r"\s*[\d.]")


def gpu_model(name: str) -> GpuModel | None:
    """Return a GPU by its name, in any spelling; None if the text is an amount of memory.

    Raises:
        ValueError: the GPU is unknown, or comes with several sizes of memory.
    """
    if _NUMBER_FIRST.match(name):
        return None
    wanted = _plain(name)
    found = [known for known in GPU_MODELS if _plain(known.name) == wanted]
    if found:
        return found[0]
    sizes = [known.name for known in GPU_MODELS if wanted and _plain(known.name.rpartition("-")[0]) == wanted]
    if sizes:
        raise ValueError(f"--gpu-memory: {' or '.join(sizes)}?")
    known_names = ", ".join(known.name for known in GPU_MODELS)
    raise ValueError(f"--gpu-memory: {name!r} is not an amount such as 16GiB, nor one of {known_names}")


def _plain(name: str) -> str:
    return _IGNORED.sub("", name).lower()
