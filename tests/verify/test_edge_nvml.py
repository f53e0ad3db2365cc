"""The stand-in for NVML answers for the simulated cards, and refuses what NVML refuses."""

from __future__ import annotations

import pytest

from tfmemlint.verify.edge import Edge

START = "import pynvml\nfrom pynvml import *\n"


def test_nvml_knows_every_card_whatever_tensorflow_may_see(edge: Edge) -> None:
    code = """\
nvmlInit()
for index in range(nvmlDeviceGetCount()):
    handle = nvmlDeviceGetHandleByIndex(index)
    memory = nvmlDeviceGetMemoryInfo(handle)
    assert memory.free + memory.used == memory.total
    same = nvmlDeviceGetHandleByUUID(nvmlDeviceGetUUID(handle))
    print(memory.total // 1024**2, nvmlDeviceGetPciInfo(same).busId, nvmlDeviceGetName(same))
nvmlShutdown()
"""
    result = edge.run(START + code, gpus=2, memory_mib=[8192, 40960], env={"CUDA_VISIBLE_DEVICES": "1"})
    assert result.stdout == "8192 00000000:01:00.0 Simulated GPU 0\n40960 00000000:02:00.0 Simulated GPU 1\n"


def test_tensorflow_finds_a_card_by_the_uuid_that_nvml_gives(edge: Edge) -> None:
    code = """\
import os
nvmlInit()
os.environ["CUDA_VISIBLE_DEVICES"] = nvmlDeviceGetUUID(nvmlDeviceGetHandleByIndex(1))
import tensorflow as tf
[gpu] = tf.config.list_physical_devices("GPU")
print(tf.config.experimental.get_device_details(gpu)["device_name"])
"""
    assert edge.run(START + code, gpus=3).stdout == "Simulated GPU 1\n"


def test_a_card_has_sixteen_gibibytes_unless_said_otherwise(edge: Edge) -> None:
    code = "nvmlInit(); print(nvmlDeviceGetMemoryInfo(nvmlDeviceGetHandleByIndex(0)).total)"
    assert edge.run(START + code).stdout == f"{16384 * 1024**2}\n"


@pytest.mark.parametrize(
    ("code", "gpus", "error"),
    [
        ("nvmlDeviceGetCount()", 1, "NVMLError_Uninitialized: Uninitialized"),
        ("nvmlShutdown()", 1, "NVMLError_Uninitialized: Uninitialized"),
        ("nvmlInit(); nvmlShutdown(); nvmlDeviceGetCount()", 1, "NVMLError_Uninitialized: Uninitialized"),
        ("nvmlInit(); nvmlDeviceGetHandleByIndex(1)", 1, "NVMLError_InvalidArgument: Invalid Argument"),
        ("nvmlInit(); nvmlDeviceGetHandleByIndex(-1)", 1, "NVMLError_InvalidArgument: Invalid Argument"),
        ("nvmlInit(); nvmlDeviceGetHandleByIndex('0')", 1, "TypeError: "),
        ("nvmlInit(); nvmlDeviceGetHandleByUUID('GPU-none')", 1, "NVMLError_NotFound: Not Found"),
        ("nvmlInit(); nvmlDeviceGetMemoryInfo(0)", 1, "NVMLError_InvalidArgument: Invalid Argument"),
        ("nvmlInit()", 0, "NVMLError_LibraryNotFound: NVML Shared Library Not Found"),
    ],
)
def test_nvml_refuses(edge: Edge, code: str, gpus: int, error: str) -> None:
    assert edge.run(START + code, gpus=gpus).error.startswith(error)


def test_every_error_of_nvml_is_caught_by_its_base_class(edge: Edge) -> None:
    code = (
        "try:\n    nvmlInit()\nexcept pynvml.NVMLError as error:\n    print(error.value, NVML_ERROR_LIBRARY_NOT_FOUND)"
    )
    assert edge.run(START + code, gpus=0).stdout == "12 12\n"
