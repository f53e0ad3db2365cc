"""The table of names, against the first and last releases that are known from elsewhere."""

from __future__ import annotations

import subprocess
import sys

import pytest

from tfmemlint.knowledge import names
from tfmemlint.knowledge.releases import KNOWN, Target

NEWEST = Target.parse("2.21")


@pytest.mark.parametrize(
    ("name", "first", "last"),
    [
        ("tf.config", "1.14", "2.21"),
        ("tf.config.experimental.set_memory_growth", "1.14", "2.21"),
        ("tf.config.experimental.get_memory_growth", "1.14", "2.21"),
        ("tf.config.experimental.VirtualDeviceConfiguration", "1.14", "2.21"),
        ("tf.config.experimental.get_device_details", "2.3", "2.21"),
        ("tf.config.experimental.get_memory_info", "2.5", "2.21"),
        ("tf.config.experimental.reset_memory_stats", "2.6", "2.21"),
        ("tf.config.experimental.ClusterDeviceFilters", "2.2", "2.21"),
        ("tf.config.experimental.enable_op_determinism", "2.8", "2.21"),
        ("tf.config.experimental.enable_mlir_graph_optimization", "2.3", "2.11"),
        ("tf.config.list_physical_devices", "2.1", "2.21"),
        ("tf.config.list_logical_devices", "2.1", "2.21"),
        ("tf.config.set_visible_devices", "2.1", "2.21"),
        ("tf.config.LogicalDeviceConfiguration", "2.1", "2.21"),
        ("tf.config.run_functions_eagerly", "2.3", "2.21"),
        ("tf.config.experimental_list_devices", "1.14", "2.0"),
        ("tf.ConfigProto", "1.13", "1.15"),
        ("tf.GPUOptions", "1.13", "1.15"),
        ("tf.Session", "1.13", "1.15"),
        ("tf.compat.v1.ConfigProto", "1.13", "2.21"),
        ("tf.compat.v1.GPUOptions", "1.13", "2.21"),
        ("tf.compat.v1.Session", "1.13", "2.21"),
        ("tf.test.is_gpu_available", "1.13", "2.21"),
        ("tf.test.gpu_device_name", "1.13", "2.21"),
        ("tf.test.is_built_with_gpu_support", "1.15", "2.21"),
        ("tf.keras.utils.multi_gpu_model", "1.13", "2.3"),
        ("tf.compat.v1.keras.backend.set_session", "1.13", "2.15"),
        ("tf.compat.v1.keras.backend.get_session", "1.13", "2.15"),
        ("tf.contrib", "1.13", "1.15"),
    ],
)
def test_a_name_is_there_from_its_first_release_to_its_last(name: str, first: str, last: str) -> None:
    assert (names.since(name), names.until(name)) == (first, last)
    assert names.exists(name, Target.parse(first))
    assert names.exists(name, Target.parse(last))


@pytest.mark.parametrize(
    "name",
    [
        "tf.config.set_memory_growth",
        "tf.config.experimental.set_memory_limit",
        "tf.config.experimental.report_memory_usage",
        "tf.config.optimizer.get_experimental_optimizer",
        "tf.config.optimizer.MemoryOptimizerOptions",
        "tf.config.experimental.set_gpu_memory_limit",
        "tf.config.VirtualDeviceConfiguration",
        "tf.gpu.set_memory_limit",
    ],
)
def test_a_made_up_name_never_existed(name: str) -> None:
    assert not names.ever_existed(name)
    assert not names.exists(name, NEWEST)
    assert names.ranges(name) is None


def test_what_the_table_cannot_know_is_not_called_missing() -> None:
    assert names.exists("tf.python.framework.ops", NEWEST)
    assert names.exists("tf._something", NEWEST)
    assert names.exists("tf.contrib.memory_stats.BytesInUse", Target.parse("1.15"))
    assert not names.exists("tf.contrib.memory_stats.BytesInUse", NEWEST)
    assert names.missing_part("tf.data.Dataset.no_such_method", NEWEST) is None


def test_the_missing_part_is_the_shortest_one() -> None:
    assert names.missing_part("tf.config.gpu.set_per_process_memory_growth", NEWEST) == "tf.config.gpu"
    assert names.missing_part("tf.config.experimental.set_memory_growth", NEWEST) is None


@pytest.mark.parametrize(
    ("name", "release", "expected"),
    [
        ("tf.config.set_memory_growth", "2.21", "tf.config.experimental.set_memory_growth"),
        ("tf.config.experimental.set_memory_grwth", "2.21", "tf.config.experimental.set_memory_growth"),
        ("tf.config.list_physical_device", "2.21", "tf.config.list_physical_devices"),
        ("tf.config.list_physical_devices", "2.0", "tf.config.experimental.list_physical_devices"),
    ],
)
def test_the_nearest_name_is_a_real_one(name: str, release: str, expected: str) -> None:
    assert names.nearest(name, Target.parse(release)) == expected


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("tf.random_normal", "tf.random.normal"),
        ("tf.random_uniform", "tf.random.uniform"),
        ("tf.log", "tf.math.log"),
        ("tf.ConfigProto", "tf.compat.v1.ConfigProto"),
        ("tf.Session", "tf.compat.v1.Session"),
        ("tf.GPUOptions", "tf.compat.v1.GPUOptions"),
        ("tf.placeholder", "tf.compat.v1.placeholder"),
        ("tf.constant", None),
        ("tf.no_such_thing", None),
        ("tf.contrib.memory_stats.BytesInUse", None),
    ],
)
def test_a_tf1_name_is_sent_to_where_it_is_now(name: str, expected: str | None) -> None:
    assert names.replacement(name, NEWEST) == expected


def test_nothing_is_replaced_in_a_release_that_still_has_it() -> None:
    assert names.replacement("tf.random_normal", Target.parse("1.15")) is None


def test_experimental_names_have_their_stable_twin_only_where_both_exist() -> None:
    listing = "tf.config.experimental.list_physical_devices"
    assert names.stable_twin(listing, NEWEST) == "tf.config.list_physical_devices"
    assert names.stable_twin(listing, Target.parse("2.0")) is None
    virtual = "tf.config.experimental.set_virtual_device_configuration"
    assert names.stable_twin(virtual, NEWEST) == "tf.config.set_logical_device_configuration"
    assert names.stable_twin("tf.config.experimental.set_memory_growth", NEWEST) is None


def test_importing_the_names_does_not_import_difflib() -> None:
    code = "import sys; from tfmemlint.knowledge import effects, names, purposes; print('difflib' in sys.modules)"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "False"


@pytest.mark.parametrize("release", ["1.15", "2.4", "2.14", "2.15", "2.16", "2.21"])
def test_keras_is_a_part_of_every_release(release: str) -> None:
    target = Target.parse(release)
    for name in ("tf.keras", "tf.keras.layers", "tf.keras.backend.clear_session", "tf.compat.v1.keras.backend"):
        assert names.exists(name, target), name
    assert names.missing_part("tf.keras.layers.Dense.build", target) is None
    assert names.missing_part("tf.compat.v1.keras.backend.clear_session", target) is None


def test_the_session_of_keras_is_missing_with_keras_3() -> None:
    name = "tf.compat.v1.keras.backend.set_session"
    assert names.missing_part(name, Target.parse("2.15")) is None
    assert names.missing_part(name, Target.parse("2.16")) == name
    assert names.missing_part("tf.keras.backend.set_session", NEWEST) == "tf.keras.backend.set_session"


@pytest.mark.parametrize(
    ("name", "meant"),
    [
        ("tf.keras.backend.set_session", None),
        ("tf.keras.backend.get_session", None),
        ("tf.config.experimental.set_memory_limit", None),
        ("tf.config.list_cpus", None),
        ("tf.config.list_physical_device", "tf.config.list_physical_devices"),
        ("tf.config.get_physical_devices", "tf.config.list_physical_devices"),
        ("tf.config.LogicalDeviceConfig", "tf.config.LogicalDeviceConfiguration"),
        ("tf.config.threading.set_intra_op_parallelism", "tf.config.threading.set_intra_op_parallelism_threads"),
        ("tf.distribute.MirorredStrategy", "tf.distribute.MirroredStrategy"),
    ],
)
def test_a_name_of_other_words_is_not_taken_for_the_one_that_was_meant(name: str, meant: str | None) -> None:
    assert names.nearest(name, Target.newest()) == meant


def test_the_releases_with_all_parts_of_a_name_are_those_that_miss_none() -> None:
    listed = [
        f"{place}.{member}" for place in names.places()[::9] for member in names.members(place, Target.parse("1.15"))
    ]
    listed += [f"{name}.other" for name in listed[::5]] + [f"tf.contrib.{name}" for name in listed[::50]]
    listed += ["tf", "tf.nothing", "numpy.array", "tf.contrib.a.b", "tf.tf2.x", "tf.keras.ops.add.x", "tf._private.x"]
    for name in listed:
        having = [names.missing_part(name, Target.parse(release)) is None for release in KNOWN]
        assert names.releases_without_missing_part(name) == sum(1 << at for at, has in enumerate(having) if has), name
