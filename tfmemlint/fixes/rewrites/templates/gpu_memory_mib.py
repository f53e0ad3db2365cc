# mypy: ignore-errors
# What stands from the definition on is put into the user's file; tfmemlint itself never runs it.
import os

import pynvml


# CUDA_VISIBLE_DEVICES has indices, or UUIDs of GPUs and of MIG instances. NVML counts in the order of the bus, CUDA by
# default from the fastest GPU on: an index means the same GPU for both only if it is told to, or if all GPUs are alike.
def gpu_memory_mib(gpu):
    """Needs the package nvidia-ml-py: the total memory of a GPU in MiB, from NVML."""
    shown, number = os.environ.get("CUDA_VISIBLE_DEVICES"), gpu.name.rsplit(":", 1)[-1]
    entry = shown.split(",")[int(number)].strip() if shown else number
    pynvml.nvmlInit()
    handles = map(pynvml.nvmlDeviceGetHandleByIndex, range(pynvml.nvmlDeviceGetCount()))
    if not entry.isdigit():
        entry, handles = 0, [pynvml.nvmlDeviceGetHandleByUUID(entry)]
    sizes = [pynvml.nvmlDeviceGetMemoryInfo(handle).total / 2**20 for handle in handles]
    if len(set(sizes)) > 1 and os.environ.get("CUDA_DEVICE_ORDER") != "PCI_BUS_ID":
        raise RuntimeError("GPUs differ in memory: set CUDA_DEVICE_ORDER=PCI_BUS_ID")
    return sizes[int(entry)]
