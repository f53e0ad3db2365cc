"""Real functions under a namespace that never had them, with their real names.

Source: the table of names; `tests/knowledge` checks that no release has a key and that the newest has every value.
"""

from __future__ import annotations

from collections.abc import Mapping

REAL_PLACES: Mapping[str, str] = {
    "tf.config.set_memory_growth": "tf.config.experimental.set_memory_growth",
    "tf.config.get_memory_growth": "tf.config.experimental.get_memory_growth",
    "tf.config.get_memory_info": "tf.config.experimental.get_memory_info",
    "tf.config.get_memory_usage": "tf.config.experimental.get_memory_usage",
    "tf.config.reset_memory_stats": "tf.config.experimental.reset_memory_stats",
    "tf.config.set_virtual_device_configuration": "tf.config.set_logical_device_configuration",
    "tf.config.get_virtual_device_configuration": "tf.config.get_logical_device_configuration",
    "tf.config.VirtualDeviceConfiguration": "tf.config.LogicalDeviceConfiguration",
    "tf.config.experimental.set_logical_device_configuration": "tf.config.set_logical_device_configuration",
    "tf.config.experimental.get_logical_device_configuration": "tf.config.get_logical_device_configuration",
    "tf.config.experimental.LogicalDeviceConfiguration": "tf.config.LogicalDeviceConfiguration",
}
"""By canonical made-up name; the arguments are the same."""
