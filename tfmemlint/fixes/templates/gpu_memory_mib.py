# mypy: ignore-errors
# What stands from the definition on is put into the user's file; tfmemlint itself never runs it.
import os

import pynvml


def gpu_memory_mib(gpu):
    """Total memory in MiB of one of tf.config.list_physical_devices("GPU"), asked of NVML (package nvidia-ml-py)."""
    number = int(gpu.name.rsplit(":", 1)[-1])
    visible = os.environ.get("CUDA_VISIBLE_DEVICES")
    entry = str(number) if visible is None else visible.split(",")[number].strip()
    pynvml.nvmlInit()
    try:
        if entry.startswith("MIG-"):
            return pynvml.nvmlDeviceGetMemoryInfo(pynvml.nvmlDeviceGetHandleByUUID(entry)).total / 2**20
        handles = [pynvml.nvmlDeviceGetHandleByIndex(i) for i in range(pynvml.nvmlDeviceGetCount())]
        sizes = [pynvml.nvmlDeviceGetMemoryInfo(handle).total / 2**20 for handle in handles]
        if entry.startswith("GPU-"):
            # A UUID may be shortened, as long as it is the only one that starts so.
            return next(sizes[i] for i, one in enumerate(handles) if pynvml.nvmlDeviceGetUUID(one).startswith(entry))
    finally:
        pynvml.nvmlShutdown()
    if len(set(sizes)) > 1 and os.environ.get("CUDA_DEVICE_ORDER") != "PCI_BUS_ID":
        # NVML counts in the order of the bus, CUDA by default from the fastest GPU on.
        raise RuntimeError("the GPUs differ in memory: set CUDA_DEVICE_ORDER=PCI_BUS_ID to tell which is which")
    return sizes[int(entry)]
