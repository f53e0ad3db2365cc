"""What the authors of made-up names wanted, against the list of names seen in public code."""

from __future__ import annotations

import pytest

from tfmemlint.knowledge import purposes
from tfmemlint.knowledge.purposes import purpose_of
from tfmemlint.model.intent import Purpose


@pytest.mark.parametrize(
    "name",
    [
        # Real ones, whatever the words in them.
        "tf.config.experimental.set_memory_growth",
        "tf.config.experimental.get_memory_growth",
        "tf.config.experimental.get_memory_info",
        "tf.config.experimental.get_memory_usage",
        "tf.config.experimental.reset_memory_stats",
        "tf.config.set_logical_device_configuration",
        "tf.config.experimental.set_virtual_device_configuration",
        "tf.config.LogicalDeviceConfiguration",
        "tf.config.list_physical_devices",
        "tf.keras.backend.clear_session",
        "tf.test.is_gpu_available",
        "tf.GPUOptions",
        "tf.contrib.memory_stats.BytesInUse",
        "tf.python.framework.memory_limit",
        # Not of TensorFlow, or of a place where the words mean something else.
        "torch.cuda.memory_allocated",
        "numba.cuda.get_memory_info",
        "project.set_visible_devices",
        "set_memory_limit",
        "tf.data.set_memory_limit",
        "tf.nn.memory_fraction",
        "tf.keras.layers.MemoryLimit",
        "tf.Session.memory_growth",
        # The words don't say it.
        "tf.config.foo",
        "tf.config.experimental.set_gpu",
        "tf.config.experimental.memory",
        "tf.test.is_gpu_enabled",
        "tf.config.free",
        "tf.config.reset",
        "tf.keras.backend.clear",
        "tf.config.set_limit",
        "tf.distribute.get_gpu_strategy",
    ],
)
def test_no_purpose_is_read_into_a_name_that_is_real_or_says_nothing(name: str) -> None:
    assert purpose_of(name) is None


@pytest.mark.parametrize(
    ("name", "purpose", "device", "amount"),
    [
        ("tf.config.set_memory_growth", Purpose.GROWTH, 0, 1),
        ("tf.config.experimental.enable_memory_growth", Purpose.GROWTH, 0, 1),
        ("tf.config.experimental.set_gpu_growth", Purpose.GROWTH, 0, 1),
        ("tf.config.experimental.set_gpu_growth_enabled", Purpose.GROWTH, 0, 1),
        ("tf.config.experimental.set_per_process_memory_growth", Purpose.GROWTH, None, 0),
        ("tf.config.allow_growth", Purpose.GROWTH, None, 0),
        ("tf.config.gpu.set_per_process_memory_growth", Purpose.GROWTH, None, 0),
        ("tf.config.gpu_options.allow_growth", Purpose.GROWTH, None, 0),
        ("tf.config.experimental.set_memory_limit", Purpose.LIMIT, 0, 1),
        ("tf.config.set_memory_limit", Purpose.LIMIT, 0, 1),
        ("tf.config.set_virtual_device_configuration", Purpose.LIMIT, 0, 1),
        ("tf.config.VirtualDeviceConfiguration", Purpose.LIMIT, None, 0),
        ("tf.config.experimental.set_logical_device_configuration", Purpose.LIMIT, 0, 1),
        ("tf.config.experimental.LogicalDeviceConfiguration", Purpose.LIMIT, None, 0),
        ("tf.config.experimental.set_virtual_device_memory", Purpose.LIMIT, 0, 1),
        ("tf.config.experimental.set_gpu_memory_limit", Purpose.LIMIT, 0, 1),
        ("tf.config.experimental.set_per_process_memory_fraction", Purpose.FRACTION, None, 0),
        ("tf.config.experimental.set_gpu_memory_fraction", Purpose.FRACTION, 0, 1),
        ("tf.config.gpu.set_per_process_memory_fraction", Purpose.FRACTION, None, 0),
        ("tf.config.experimental.set_gpu_sharing", Purpose.FRACTION, 0, 1),
        ("tf.config.experimental.clear_memory", Purpose.RELEASE, None, None),
        ("tf.config.experimental.clear_memory_cache", Purpose.RELEASE, None, None),
        ("tf.keras.backend.clear_memory", Purpose.RELEASE, None, None),
        ("tf.config.optimizer.get_experimental_optimizer", Purpose.OTHER, None, None),
        ("tf.config.optimizer.MemoryOptimizerOptions", Purpose.OTHER, None, None),
        ("tf.distribute.MirroredStrategy().extended.list_physical_devices", Purpose.DEVICES, None, None),
        ("tf.config.list_gpus", Purpose.DEVICES, None, None),
        ("tf.config.experimental.list_gpus", Purpose.DEVICES, None, None),
        ("tf.config.experimental.set_gpu_power_mode", Purpose.OTHER, 0, 1),
    ],
)
def test_the_inventions_seen_in_public_code_are_listed(
    name: str, purpose: Purpose, device: int | None, amount: int | None
) -> None:
    found = purpose_of(name)
    assert found is not None
    assert (found.purpose, found.device, found.amount, found.listed) == (purpose, device, amount, True)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("tf.config.experimental.get_gpu_memory_usage", "current"),
        ("tf.config.experimental.report_memory_usage", "current"),
        ("tf.compat.v1.report_memory_usage", "current"),
        ("tf.config.experimental.get_peak_gpu_memory", "peak"),
        ("tf.config.experimental.get_total_gpu_memory", "total"),
        ("tf.config.experimental.get_gpu_memory_free", "free"),
        ("tf.memory.get_memory_info", "current"),
    ],
)
def test_a_report_says_which_number_was_wanted(name: str, value: str) -> None:
    found = purpose_of(name)
    assert found is not None
    assert (found.purpose, found.value) == (Purpose.REPORT, value)


@pytest.mark.parametrize(
    ("name", "purpose"),
    [
        ("tf.config.set_gpu_vram_cap", Purpose.LIMIT),
        ("tf.config.experimental.setGpuMemoryLimit", Purpose.LIMIT),
        ("tf.config.experimental.limit_gpu_memory", Purpose.LIMIT),
        ("tf.gpu.memory.set_growth", Purpose.GROWTH),
        ("tf.config.experimental.enable_gpu_memory_growth", Purpose.GROWTH),
        ("tf.config.experimental.gpu_memory_fraction", Purpose.FRACTION),
        ("tf.config.experimental.set_memory_percentage", Purpose.FRACTION),
        ("tf.memory.clear", Purpose.RELEASE),
        ("tf.config.experimental.free_gpu_memory", Purpose.RELEASE),
        ("tf.config.get_available_gpus", Purpose.DEVICES),
    ],
)
def test_what_is_not_listed_is_told_by_its_words(name: str, purpose: Purpose) -> None:
    found = purpose_of(name)
    assert found is not None
    assert (found.purpose, found.listed) == (purpose, False)


def test_the_unit_of_an_amount_is_told() -> None:
    limit = purpose_of("tf.config.experimental.set_memory_limit")
    share = purpose_of("tf.config.experimental.set_gpu_memory_fraction")
    growth = purpose_of("tf.config.set_memory_growth")
    assert limit is not None and limit.unit == "auto"
    assert share is not None and share.unit == "fraction"
    assert growth is not None and growth.unit == ""


def test_arguments_passed_by_keyword_are_recognised() -> None:
    limit = purpose_of("tf.config.experimental.set_memory_limit")
    assert limit is not None
    assert "device" in limit.device_keywords
    assert "memory_limit" in limit.amount_keywords


def test_made_up_keys_ask_for_a_report_and_real_keys_are_not_among_them() -> None:
    assert purposes.KEYS["memory_used"] == purposes.KEYS["used"] == "current"
    assert purposes.KEYS["max"] == "peak"
    assert purposes.KEYS["memory_total"] == purposes.KEYS["total"] == purposes.KEYS["limit"] == "total"
    assert purposes.KEYS["free"] == "free"
    for real in purposes.REAL_KEYS.values():
        assert not set(real) & set(purposes.KEYS)


def test_made_up_keywords_have_a_unit_and_real_ones_are_not_among_them() -> None:
    assert purposes.KEYWORDS["memory_fraction"] == "fraction"
    assert purposes.KEYWORDS["memory_limit_mb"] == "mib"
    assert not {"memory_limit", "experimental_priority", "experimental_device_ordinal"} & set(purposes.KEYWORDS)


def test_an_assignment_to_a_module_attribute_has_a_purpose() -> None:
    found = purposes.assigned("tf.config.experimental.enable_memory_growth")
    assert found is not None and found.purpose is Purpose.GROWTH
    assert purposes.assigned("tf.config.experimental.title") is None
    assert purposes.assigned("tf.keras.layers.Layer.memory_limit") is None
