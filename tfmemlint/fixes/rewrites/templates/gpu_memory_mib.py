# mypy: ignore-errors
# What stands from the definition on is put into the user's file; tfmemlint itself never runs it.
import os

import pynvml


def gpu_memory_mib(gpu):
    """Total memory in MiB of one of tf.config.list_physical_devices("GPU").

    NVML tells it (package nvidia-ml-py).
    """
    number = int(gpu.name.rsplit(":", 1)[-1])
    visible = os.environ.get("CUDA_VISIBLE_DEVICES")
    entry = str(number) if visible is None else visible.split(",")[number].strip()
    pynvml.nvmlInit()
    try:
        if entry.startswith("MIG-"):
            part = pynvml.nvmlDeviceGetHandleByUUID(entry)
            return pynvml.nvmlDeviceGetMemoryInfo(part).total / 2**20
        count = pynvml.nvmlDeviceGetCount()
        handles = [pynvml.nvmlDeviceGetHandleByIndex(i) for i in range(count)]
        sizes = [pynvml.nvmlDeviceGetMemoryInfo(one).total / 2**20 for one in handles]
        if entry.startswith("GPU-"):
            # A UUID may be shortened, as long as it is the only one that starts so.
            names = [pynvml.nvmlDeviceGetUUID(one) for one in handles]
            return next(sizes[i] for i in range(count) if names[i].startswith(entry))
    finally:
        pynvml.nvmlShutdown()
    order = os.environ.get("CUDA_DEVICE_ORDER")
    if len(set(sizes)) > 1 and order != "PCI_BUS_ID":
        # NVML counts in the order of the bus, CUDA by default from the fastest GPU on.
        raise RuntimeError("GPUs differ in memory: set CUDA_DEVICE_ORDER=PCI_BUS_ID")
    return sizes[int(entry)]
