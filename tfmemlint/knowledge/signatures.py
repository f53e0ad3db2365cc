"""The parameters of TensorFlow's device and memory functions, by name and in order.

Source: ``inspect.signature`` on TensorFlow 2.21; `tests/knowledge` compares them with the installed release. Older
releases have the same parameters, except ``experimental_device_ordinal`` (2.4 and 2.9 lack it) and
``experimental_priority``.
"""

from __future__ import annotations

from collections.abc import Mapping

_TYPE = ("device_type",)
_DEVICE = ("device",)
_LIMIT = ("memory_limit", "experimental_priority", "experimental_device_ordinal")

SIGNATURES: Mapping[str, tuple[str, ...]] = {
    "tf.config.LogicalDeviceConfiguration": _LIMIT,
    "tf.config.experimental.VirtualDeviceConfiguration": _LIMIT,
    "tf.config.experimental.get_device_details": _DEVICE,
    "tf.config.experimental.get_memory_growth": _DEVICE,
    "tf.config.experimental.get_memory_info": _DEVICE,
    "tf.config.experimental.get_memory_usage": _DEVICE,
    "tf.config.experimental.get_virtual_device_configuration": _DEVICE,
    "tf.config.experimental.get_visible_devices": _TYPE,
    "tf.config.experimental.list_logical_devices": _TYPE,
    "tf.config.experimental.list_physical_devices": _TYPE,
    "tf.config.experimental.reset_memory_stats": _DEVICE,
    "tf.config.experimental.set_memory_growth": ("device", "enable"),
    "tf.config.experimental.set_virtual_device_configuration": ("device", "logical_devices"),
    "tf.config.experimental.set_visible_devices": ("devices", "device_type"),
    "tf.config.get_logical_device_configuration": _DEVICE,
    "tf.config.get_visible_devices": _TYPE,
    "tf.config.list_logical_devices": _TYPE,
    "tf.config.list_physical_devices": _TYPE,
    "tf.config.set_logical_device_configuration": ("device", "logical_devices"),
    "tf.config.set_visible_devices": ("devices", "device_type"),
}
"""Parameters by the function's canonical name."""
