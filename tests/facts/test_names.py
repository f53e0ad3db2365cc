"""One name for one thing."""

from __future__ import annotations

import pytest

from tfmemlint.facts.names import called_name, canonical, is_tensorflow


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("tensorflow", "tf"),
        ("tensorflow.config.list_physical_devices", "tf.config.list_physical_devices"),
        ("tensorflow.compat.v2.config.x", "tf.config.x"),
        ("tensorflow.compat.v2", "tf"),
        ("tensorflow.compat.v1.Session", "tf.compat.v1.Session"),
        ("tensorflow._api.v2.config", "tf.config"),
        ("tf.compat.v2.config", "tf.config"),
        ("nvidia_smi.nvmlInit", "pynvml.nvmlInit"),
    ],
)
def test_aliases_have_one_name(name: str, expected: str) -> None:
    assert canonical(name) == expected


@pytest.mark.parametrize(
    "name", ["", "tensorflow_addons.x", "tensorflowx", "os.environ", "tf", "tf.config", "my.tensorflow"]
)
def test_other_names_stay(name: str) -> None:
    assert canonical(name) == name


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("tf.compat.v1.config.list_physical_devices", "tf.config.list_physical_devices"),
        ("tf.compat.v1.test.is_gpu_available", "tf.test.is_gpu_available"),
        ("tf.compat.v1.distribute.MirroredStrategy", "tf.distribute.MirroredStrategy"),
        ("tf.compat.v1.Session", "tf.compat.v1.Session"),
        ("tf.compat.v1.configuration", "tf.compat.v1.configuration"),
        ("tf.config.x", "tf.config.x"),
    ],
)
def test_a_call_is_judged_by_the_name_of_the_function_that_it_is(name: str, expected: str) -> None:
    assert called_name(name) == expected


@pytest.mark.parametrize(
    ("name", "expected"),
    [("tf", True), ("tf.config", True), ("tfx", False), ("tfx.config", False), ("os.tf", False), ("", False)],
)
def test_tensorflow_s_own_names(name: str, expected: bool) -> None:
    assert is_tensorflow(name) is expected
