"""What becomes of environment variables and of the options of TF1 sessions."""

from __future__ import annotations

import pytest

from tests.plan.plans import devices, entry, planned
from tfmemlint.plans.model import PredictionKind

GROWTH = 'for gpu in tf.config.list_physical_devices("GPU"):\n    tf.config.experimental.set_memory_growth(gpu, True)\n'
SESSION = """\
config = tf.compat.v1.ConfigProto()
config.gpu_options.{} = {}
session = tf.compat.v1.Session(config=config)
session.run([])
"""


@pytest.mark.parametrize(
    ("name", "value", "before", "verdict"),
    [
        ("CUDA_VISIBLE_DEVICES", "'0'", "", PredictionKind.HAPPENS),
        ("CUDA_VISIBLE_DEVICES", "'0'", "tf.config.list_physical_devices()", PredictionKind.FAILS),
        ("TF_FORCE_GPU_ALLOW_GROWTH", "'true'", "tf.config.list_physical_devices()", PredictionKind.HAPPENS),
        ("TF_FORCE_GPU_ALLOW_GROWTH", "'true'", "tf.zeros(1)", PredictionKind.FAILS),
        ("TF_FORCE_GPU_ALLOW_GROWTH", "'1'", "", PredictionKind.FAILS),
        ("TF_GPU_ALLOCATOR", "'cuda_malloc_async'", "", PredictionKind.HAPPENS),
        ("TF_GPU_ALLOCATOR", "'jemalloc'", "", PredictionKind.FAILS),
        ("TF_GPU_ALLOCATOR", "chosen", "", PredictionKind.HAPPENS),
        ("TF_GPU_MEMORY_LIMIT", "'4096'", "", PredictionKind.FAILS),
        ("TF_GPU_MEMORY_LIMIT", "'4096'", "limit = os.environ.get('TF_GPU_MEMORY_LIMIT')", PredictionKind.UNKNOWN),
        ("TF_GPU_MEMORY_LIMIT", "'4096'", "print(os.environ.get('TF_GPU_MEMORY_LIMIT'))", PredictionKind.FAILS),
        ("XLA_PYTHON_CLIENT_PREALLOCATE", "'false'", "", PredictionKind.FAILS),
        ("XLA_PYTHON_CLIENT_PREALLOCATE", "'false'", "import jax", PredictionKind.UNKNOWN),
        ("CUDA_VISIBLE_DEVICES", "0", "", PredictionKind.FAILS),
    ],
)
def test_a_variable(name: str, value: str, before: str, verdict: PredictionKind) -> None:
    one = planned(f"{before}\nos.environ['{name}'] = {value}\nx = tf.zeros(1)\n".lstrip("\n"), 4 if before else 3)
    assert one.prediction.kind is verdict, one.prediction.words


def test_the_last_value_before_it_is_read_counts() -> None:
    code = "os.environ['CUDA_VISIBLE_DEVICES'] = '0'\nos.environ['CUDA_VISIBLE_DEVICES'] = '1'\nx = tf.zeros(1)\n"
    first = planned(code, 3)
    assert (first.prediction.kind, first.prediction.because) == (PredictionKind.REPLACED, 4)
    assert planned(code, 4).prediction.kind is PredictionKind.HAPPENS


def test_variables_beat_the_code() -> None:
    growth = planned("os.environ['TF_FORCE_GPU_ALLOW_GROWTH'] = 'false'\n" + GROWTH, 5)
    assert (growth.prediction.reason, growth.prediction.because) == ("overridden", 3)
    limit = planned(
        """
        os.environ["TF_GPU_ALLOCATOR"] = "cuda_malloc_async"
        gpu = tf.config.list_physical_devices("GPU")[0]
        tf.config.set_logical_device_configuration(gpu, [tf.config.LogicalDeviceConfiguration(memory_limit=512)])
        """,
        5,
    )
    assert (limit.prediction.reason, limit.prediction.because) == ("overridden", 3)


def test_all_variables_are_listed_with_whether_they_are_in_time() -> None:
    found = entry(
        """
        os.environ["TF_DEVICE_MIN_SYS_MEMORY_IN_MB"] = "4000"
        x = tf.zeros(1)
        os.environ["TF_GPU_HOST_MEM_LIMIT_IN_MB"] = "4000"
        """
    ).variables
    assert [(one.name, one.row, one.in_time) for one in found] == [
        ("TF_DEVICE_MIN_SYS_MEMORY_IN_MB", 3, True),
        ("TF_GPU_HOST_MEM_LIMIT_IN_MB", 5, False),
    ]


def test_the_options_of_the_first_session() -> None:
    one = planned(SESSION.format("allow_growth", True), 5)
    assert (one.prediction.kind, one.by) == (PredictionKind.HAPPENS, "session")
    device = devices(SESSION.format("allow_growth", True))["each GPU"]
    assert (device.memory.kind, device.memory.rows) == ("growth", (4,))


def test_a_session_behind_the_start_of_the_runtime_has_no_say() -> None:
    code = "x = tf.zeros(1)\n" + SESSION.format("allow_growth", True)
    one = planned(code, 6)
    assert (one.prediction.kind, one.prediction.reason, one.prediction.because) == (PredictionKind.FAILS, "lost", 3)
    assert devices(code)["each GPU"].memory.kind == "all"


def test_a_session_that_asks_for_what_is_so_already() -> None:
    one = planned(GROWTH + "x = tf.zeros(1)\n" + SESSION.format("allow_growth", True), 8)
    assert (one.prediction.kind, one.prediction.because) == (PredictionKind.HAPPENS, 5)


def test_a_share_of_the_memory_in_mib() -> None:
    code = SESSION.format("per_process_gpu_memory_fraction", 0.25)
    one = planned(code, 5, memory=16384)
    assert "That is 4096 MiB of 16384" in one.prediction.details


def test_options_that_nobody_gets_and_options_that_somebody_unknown_gets() -> None:
    unused = planned("options = tf.compat.v1.GPUOptions(allow_growth=True)\nx = tf.zeros(1)\n", 3)
    assert (unused.prediction.kind, unused.prediction.reason, unused.rules) == (
        PredictionKind.FAILS,
        "unused",
        ("TFM503",),
    )
    handed_on = planned(
        """
        config = tf.compat.v1.ConfigProto()
        config.gpu_options.allow_growth = True
        train(config)
        """,
        4,
    )
    assert (handed_on.prediction.kind, handed_on.by) == (PredictionKind.UNKNOWN, "handed-on")


def test_a_release_of_its_own_time() -> None:
    code = (
        "session = tf.Session(config=tf.ConfigProto(gpu_options=tf.GPUOptions(allow_growth=True)))\nsession.run([])\n"
    )
    assert planned(code, 3, target="1.15").prediction.kind is PredictionKind.HAPPENS
    assert planned(code, 3).rules == ("TFM501",)


@pytest.mark.parametrize("taking", ["del os.environ['{}']", "os.environ.pop('{}')"])
def test_what_is_taken_out_again_is_not_said_to_take_effect(taking: str) -> None:
    name = "TF_FORCE_GPU_ALLOW_GROWTH"
    one = planned(f"os.environ['{name}'] = 'false'\n{taking.format(name)}\nx = tf.zeros(1)\n", 3)
    assert one.prediction.kind is PredictionKind.UNKNOWN
