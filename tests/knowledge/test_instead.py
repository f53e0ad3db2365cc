"""What to write in place of a name that TensorFlow does not have."""

from __future__ import annotations

import pytest

from tfmemlint.knowledge import names, purposes
from tfmemlint.knowledge.instead import INTENDED, NEAREST, SAME, of_api, releases_of
from tfmemlint.knowledge.releases import KNOWN, Target

NEWEST = Target.newest()


@pytest.mark.parametrize(
    ("name", "relation", "real"),
    [
        ("tf.config.set_memory_growth", SAME, "tf.config.experimental.set_memory_growth"),
        ("tf.random_normal", SAME, "tf.random.normal"),
        ("tf.Session", SAME, "tf.compat.v1.Session"),
        ("tf.config.set_memory_limit", INTENDED, "tf.config.set_logical_device_configuration"),
        ("tf.report_memory_usage", INTENDED, "tf.config.experimental.get_memory_info"),
        ("tf.config.list_gpus", INTENDED, "tf.config.list_physical_devices"),
        ("tf.config.list_physical_device", NEAREST, "tf.config.list_physical_devices"),
    ],
)
def test_what_is_there(name: str, relation: str, real: str) -> None:
    instead = of_api(name, NEWEST)
    assert instead is not None
    assert (instead.relation, instead.name) == (relation, real)
    assert instead.releases == releases_of(real)
    assert KNOWN[-1] in instead.releases


def test_where_there_is_nothing_there_is_no_answer() -> None:
    assert of_api("tf.config.experimental.clear_memory", NEWEST) is None
    assert of_api("tf.config.experimental.get_total_memory", NEWEST) is None


def test_a_release_gets_the_name_that_it_has() -> None:
    instead = of_api("tf.config.set_memory_limit", Target.parse("2.0"))
    assert instead is not None
    assert instead.name == "tf.config.experimental.set_virtual_device_configuration"


@pytest.mark.parametrize("release", ["2.0", "2.1", "2.4", "2.15", KNOWN[-1]])
def test_every_answer_exists_in_the_release(release: str) -> None:
    target = Target.parse(release)
    for name in purposes._listed():
        instead = of_api(name, target)
        assert instead is None or names.exists(instead.name, target), name
