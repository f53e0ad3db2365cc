"""What becomes of environment variables and of the options of TF1 sessions."""

from __future__ import annotations

import pytest

from tests.plan.plans import asked, devices, entry
from tfmemlint.plan.model import Prediction

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
        ("CUDA_VISIBLE_DEVICES", "'0'", "", Prediction.HAPPENS),
        ("CUDA_VISIBLE_DEVICES", "'0'", "tf.config.list_physical_devices()", Prediction.FAILS),
        ("TF_FORCE_GPU_ALLOW_GROWTH", "'true'", "tf.config.list_physical_devices()", Prediction.HAPPENS),
        ("TF_FORCE_GPU_ALLOW_GROWTH", "'true'", "tf.zeros(1)", Prediction.FAILS),
        ("TF_FORCE_GPU_ALLOW_GROWTH", "'1'", "", Prediction.FAILS),
        ("TF_GPU_ALLOCATOR", "'cuda_malloc_async'", "", Prediction.HAPPENS),
        ("TF_GPU_ALLOCATOR", "'jemalloc'", "", Prediction.FAILS),
        ("TF_GPU_ALLOCATOR", "chosen", "", Prediction.HAPPENS),
        ("TF_GPU_MEMORY_LIMIT", "'4096'", "", Prediction.FAILS),
        ("TF_GPU_MEMORY_LIMIT", "'4096'", "print(os.environ.get('TF_GPU_MEMORY_LIMIT'))", Prediction.UNKNOWN),
        ("XLA_PYTHON_CLIENT_PREALLOCATE", "'false'", "", Prediction.FAILS),
        ("XLA_PYTHON_CLIENT_PREALLOCATE", "'false'", "import jax", Prediction.UNKNOWN),
        ("CUDA_VISIBLE_DEVICES", "0", "", Prediction.FAILS),
    ],
)
def test_a_variable(name: str, value: str, before: str, verdict: Prediction) -> None:
    one = asked(f"{before}\nos.environ['{name}'] = {value}\nx = tf.zeros(1)\n".lstrip("\n"), 4 if before else 3)
    assert one.fate.verdict is verdict, one.fate.words


def test_the_last_value_before_it_is_read_counts() -> None:
    code = "os.environ['CUDA_VISIBLE_DEVICES'] = '0'\nos.environ['CUDA_VISIBLE_DEVICES'] = '1'\nx = tf.zeros(1)\n"
    first = asked(code, 3)
    assert (first.fate.verdict, first.fate.because) == (Prediction.REPLACED, 4)
    assert asked(code, 4).fate.verdict is Prediction.HAPPENS


def test_variables_beat_the_code() -> None:
    growth = asked("os.environ['TF_FORCE_GPU_ALLOW_GROWTH'] = 'false'\n" + GROWTH, 5)
    assert (growth.fate.reason, growth.fate.because) == ("overridden", 3)
    limit = asked(
        """
        os.environ["TF_GPU_ALLOCATOR"] = "cuda_malloc_async"
        gpu = tf.config.list_physical_devices("GPU")[0]
        tf.config.set_logical_device_configuration(gpu, [tf.config.LogicalDeviceConfiguration(memory_limit=512)])
        """,
        5,
    )
    assert (limit.fate.reason, limit.fate.because) == ("overridden", 3)


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
    one = asked(SESSION.format("allow_growth", True), 5)
    assert (one.fate.verdict, one.by) == (Prediction.HAPPENS, "session")
    device = devices(SESSION.format("allow_growth", True))["each GPU"]
    assert (device.memory.kind, device.memory.rows) == ("growth", (4,))


def test_a_session_behind_the_start_of_the_runtime_has_no_say() -> None:
    code = "x = tf.zeros(1)\n" + SESSION.format("allow_growth", True)
    one = asked(code, 6)
    assert (one.fate.verdict, one.fate.reason, one.fate.because) == (Prediction.FAILS, "lost", 3)
    assert devices(code)["each GPU"].memory.kind == "all"


def test_a_session_that_asks_for_what_is_so_already() -> None:
    one = asked(GROWTH + "x = tf.zeros(1)\n" + SESSION.format("allow_growth", True), 8)
    assert (one.fate.verdict, one.fate.because) == (Prediction.HAPPENS, 5)


def test_a_share_of_the_memory_in_mib() -> None:
    code = SESSION.format("per_process_gpu_memory_fraction", 0.25)
    one = asked(code, 5, memory=16384)
    assert "That is 4096 MiB of 16384" in one.fate.details


def test_options_that_nobody_gets_and_options_that_somebody_unknown_gets() -> None:
    unused = asked("options = tf.compat.v1.GPUOptions(allow_growth=True)\nx = tf.zeros(1)\n", 3)
    assert (unused.fate.verdict, unused.fate.reason, unused.rules) == (Prediction.FAILS, "unused", ("TFM503",))
    handed_on = asked(
        """
        config = tf.compat.v1.ConfigProto()
        config.gpu_options.allow_growth = True
        train(config)
        """,
        4,
    )
    assert (handed_on.fate.verdict, handed_on.by) == (Prediction.UNKNOWN, "handed-on")


def test_a_release_of_its_own_time() -> None:
    code = (
        "session = tf.Session(config=tf.ConfigProto(gpu_options=tf.GPUOptions(allow_growth=True)))\nsession.run([])\n"
    )
    assert asked(code, 3, target="1.15").fate.verdict is Prediction.HAPPENS
    assert asked(code, 3).rules == ("TFM501",)


@pytest.mark.parametrize("taking", ["del os.environ['{}']", "os.environ.pop('{}')"])
def test_what_is_taken_out_again_is_not_said_to_take_effect(taking: str) -> None:
    name = "TF_FORCE_GPU_ALLOW_GROWTH"
    one = asked(f"os.environ['{name}'] = 'false'\n{taking.format(name)}\nx = tf.zeros(1)\n", 3)
    assert one.fate.verdict is Prediction.UNKNOWN
