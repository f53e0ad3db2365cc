"""The environment variables, against what a running TensorFlow was seen to read."""

from __future__ import annotations

import pytest

from tfmemlint.knowledge.environment import Moment, allowed, is_made_up, purpose_of, read_at
from tfmemlint.model.intent import Purpose


@pytest.mark.parametrize(
    ("name", "moment"),
    [
        ("TF_CPP_MIN_LOG_LEVEL", Moment.IMPORT),
        ("TF_ENABLE_ONEDNN_OPTS", Moment.IMPORT),
        ("CUDA_VISIBLE_DEVICES", Moment.LISTING),
        ("TF_XLA_FLAGS", Moment.LISTING),
        ("TF_FORCE_GPU_ALLOW_GROWTH", Moment.DEVICES),
        ("TF_GPU_ALLOCATOR", Moment.DEVICES),
        ("TF_PER_DEVICE_MEMORY_LIMIT_MB", Moment.DEVICES),
        ("TF_DEVICE_MIN_SYS_MEMORY_IN_MB", Moment.DEVICES),
        ("TF_GPU_HOST_MEM_LIMIT_IN_MB", Moment.DEVICES),
        ("XLA_FLAGS", Moment.DEVICES),
        ("TF_CUDNN_WORKSPACE_LIMIT_IN_MB", Moment.CONVOLUTION),
        ("TF_CUDNN_USE_AUTOTUNE", Moment.CONVOLUTION),
    ],
)
def test_a_real_variable_is_read_at_its_moment_and_is_not_made_up(name: str, moment: Moment) -> None:
    assert read_at(name) is moment
    assert not is_made_up(name)


@pytest.mark.parametrize(
    ("name", "purpose"),
    [
        ("TF_GPU_MEMORY_LIMIT", Purpose.LIMIT),
        ("TF_MEMORY_LIMIT", Purpose.LIMIT),
        ("TF_GPU_VMEM", Purpose.LIMIT),
        ("TF_GPU_MEMORY_FRACTION", Purpose.FRACTION),
        ("TF_PER_PROCESS_GPU_MEMORY_FRACTION", Purpose.FRACTION),
        ("TF_METAL_DEVICE_MEMORY_FRACTION", Purpose.FRACTION),
        ("TF_GPU_ALLOW_GROWTH", Purpose.GROWTH),
        ("TF_ALLOW_GROWTH", Purpose.GROWTH),
        ("TF_FORCE_GPU_MEMORY_GROWTH", Purpose.GROWTH),
        ("XLA_PYTHON_CLIENT_PREALLOCATE", Purpose.GROWTH),
        ("XLA_PYTHON_CLIENT_MEM_FRACTION", Purpose.FRACTION),
        ("PYTORCH_CUDA_ALLOC_CONF", Purpose.ALLOCATOR),
    ],
)
def test_a_made_up_variable_has_a_purpose(name: str, purpose: Purpose) -> None:
    assert is_made_up(name)
    assert purpose_of(name) is purpose
    assert read_at(name) is None


@pytest.mark.parametrize(
    "name", ["PATH", "TF_CONFIG", "TF_KERAS", "TF_DETERMINISTIC_OPS", "MY_GPU_MEMORY_LIMIT", "TF_"]
)
def test_variables_about_other_things_are_left_alone(name: str) -> None:
    assert not is_made_up(name)
    assert read_at(name) is None


def test_growth_by_environment_takes_two_values_only() -> None:
    assert allowed("TF_FORCE_GPU_ALLOW_GROWTH") == ("true", "false")
    assert allowed("TF_GPU_ALLOCATOR") == ("cuda_malloc_async", "cuda_malloc", "memory_guard")
    assert allowed("CUDA_VISIBLE_DEVICES") is None
