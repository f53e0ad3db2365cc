"""The parameters of TensorFlow's functions, and the places of those that are looked for elsewhere."""

from __future__ import annotations

import inspect
from typing import Any

import pytest

from tfmemlint.knowledge import names
from tfmemlint.knowledge.misplaced import REAL_PLACES
from tfmemlint.knowledge.releases import Target
from tfmemlint.knowledge.signatures import names as names_of_functions
from tfmemlint.knowledge.signatures import parameters

pytestmark = pytest.mark.slow


@pytest.mark.parametrize("name", names_of_functions())
def test_parameters_are_those_of_the_installed_release(name: str) -> None:
    tensorflow: Any = pytest.importorskip("tensorflow")
    found: Any = tensorflow
    for part in name.split(".")[1:]:
        found = getattr(found, part, None)
    if found is None:
        pytest.skip(f"the installed TensorFlow has no {name}")
    own = found.__init__ if found.__new__ is object.__new__ else found.__new__
    signature = inspect.signature(own if inspect.isclass(found) else found)
    given = [parameter for parameter in signature.parameters if parameter not in ("self", "cls", "_cls")]
    assert tuple(given) == parameters(name, Target.parse(tensorflow.__version__))


@pytest.mark.parametrize(
    ("name", "release", "expected"),
    [
        ("tf.config.LogicalDeviceConfiguration", "2.2", ("memory_limit",)),
        ("tf.config.LogicalDeviceConfiguration", "2.9", ("memory_limit", "experimental_priority")),
        ("tf.config.LogicalDeviceConfiguration", "1.15", None),
        ("tf.config.experimental.set_virtual_device_configuration", "2.0", ("device", "virtual_devices")),
        ("tf.distribute.TPUStrategy", "2.7", ("tpu_cluster_resolver", "experimental_device_assignment")),
        ("tf.Session", "2.21", None),
    ],
)
def test_parameters_are_those_of_the_release(name: str, release: str, expected: tuple[str, ...] | None) -> None:
    assert parameters(name, Target.parse(release)) == expected


@pytest.mark.parametrize(("name", "real"), REAL_PLACES.items())
def test_no_release_has_the_one_and_the_newest_has_the_other(name: str, real: str) -> None:
    assert not names.ever_existed(name)
    assert names.exists(real, Target.newest())
