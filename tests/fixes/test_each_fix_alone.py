"""What one fix writes by itself: where several passes come to the same text, only the first shows which was chosen."""

from __future__ import annotations

import pytest

from tfmemlint import check

HEAD = "import tensorflow as tf\n"


@pytest.mark.parametrize(
    ("devices", "written"),
    [
        ("tf.config.list_physical_devices('GPU')", "'GPU:0' if gpus else 'CPU:0'"),
        ("tf.config.list_logical_devices('GPU')", "gpus[0].name"),
    ],
)
def test_a_logical_device_is_named_and_a_physical_one_is_replaced(devices: str, written: str) -> None:
    text = f"{HEAD}gpus = {devices}\nprint(tf.config.experimental.get_memory_info(gpus[0]))\n"
    (finding,) = check(text).findings
    assert finding.code == "TFM601"
    assert finding.fix is not None
    assert [edit.content for edit in finding.fix.edits] == [
        f"print(tf.config.experimental.get_memory_info({written}))\n"
    ]
