"""What is in store for each GPU, and what starts the runtime."""

from __future__ import annotations

from tests.plan.plans import devices, entry, plan

GROWTH = 'for gpu in tf.config.list_physical_devices("GPU"):\n    tf.config.experimental.set_memory_growth(gpu, True)\n'


def test_nothing_said_is_everything_taken() -> None:
    found = entry("x = tf.constant(1)\n")
    assert [(device.name, device.memory.kind) for device in found.devices] == [("each GPU", "all")]
    assert found.start is not None
    assert (found.start.what, found.start.place.span.row, found.start.place.text) == ("runtime", 3, "tf.constant")


def test_a_file_that_starts_nothing_and_asks_for_nothing_is_left_out() -> None:
    assert plan("print(tf.__version__)\n").entries == ()


def test_growth_names_its_line() -> None:
    device = devices(GROWTH)["each GPU"]
    assert (device.memory.kind, device.memory.growth, device.memory.rows) == ("growth", True, (4,))


def test_each_gpu_by_itself() -> None:
    code = """
    gpus = tf.config.list_physical_devices("GPU")
    config = tf.config.LogicalDeviceConfiguration
    tf.config.set_logical_device_configuration(gpus[0], [config(memory_limit=1024), config(memory_limit=2048)])
    tf.config.set_logical_device_configuration(gpus[1], [config(memory_limit=512)])
    """
    found = devices(code)
    assert list(found) == ["GPU 0", "GPU 1", "other GPUs"]
    assert found["GPU 0"].memory.mib == (1024, 2048)
    assert found["GPU 0"].memory.words == "2 logical devices of 1024 + 2048 MiB"
    assert found["GPU 1"].memory.words == "limited to 512 MiB"
    assert found["other GPUs"].memory.kind == "all"
    assert list(devices(code, gpus=2)) == ["GPU 0", "GPU 1"]


def test_visible_and_hidden() -> None:
    found = devices('tf.config.set_visible_devices(tf.config.list_physical_devices("GPU")[1], "GPU")\n', gpus=2)
    assert [(device.visible, device.visible_row) for device in found.values()] == [(False, 3), (True, 3)]
    hidden = devices("os.environ['CUDA_VISIBLE_DEVICES'] = '-1'\nx = tf.constant(1)\n")["each GPU"]
    assert (hidden.visible, hidden.memory.kind) == (False, "none")
    one = devices("os.environ['CUDA_VISIBLE_DEVICES'] = '2'\nx = tf.constant(1)\n", gpus=4)
    assert list(one) == ["GPU 0"]


def test_the_last_gpu_is_no_gpu_of_a_negative_number() -> None:
    code = """
    def last():
        tf.config.set_visible_devices(tf.config.list_physical_devices("GPU")[-1], "GPU")
    """
    assert list(devices(code, name="last")) == ["the last GPU", "other GPUs"]
    assert entry(code, "last").intents[0].words == "only the last GPU visible"


def test_growth_on_one_gpu_keeps_the_runtime_from_starting_with_more() -> None:
    found = devices('tf.config.experimental.set_memory_growth(tf.config.list_physical_devices("GPU")[0], True)\n')
    assert found["GPU 0"].memory.kind == "growth"
    assert "with two or more GPUs the runtime does not start" in found["other GPUs"].memory.words


def test_growth_by_the_environment_goes_together_with_a_limit() -> None:
    memory = devices(
        """
        os.environ["TF_FORCE_GPU_ALLOW_GROWTH"] = "true"
        gpu = tf.config.list_physical_devices("GPU")[0]
        tf.config.set_logical_device_configuration(gpu, [tf.config.LogicalDeviceConfiguration(memory_limit=512)])
        """
    )["GPU 0"].memory
    assert (memory.kind, memory.growth, memory.mib) == ("limit", True, (512,))
    assert memory.rows == (5, 3)


def test_a_function_does_not_know_what_came_before() -> None:
    found = entry(
        "def setup():\n    tf.config.set_visible_devices([], 'CPU')\n" + "    " + GROWTH.replace("\n", "\n    "),
        "setup",
    )
    assert found.assumes == "nothing has started the runtime before"
    assert found.row == 3


def test_what_the_module_starts_is_known_in_its_functions() -> None:
    code = "x = tf.constant(1)\n\ndef setup():\n    " + GROWTH.replace("\n", "\n    ").rstrip() + "\n"
    found = entry(code, "setup")
    assert found.start is not None
    assert (found.start.place.span.row, found.start.before) == (3, True)
    assert found.assumes == ""


def test_the_way_to_the_start() -> None:
    found = entry("def main():\n    return tf.zeros(1)\n\nmain()\n" + GROWTH)
    assert found.start is not None
    assert found.start.place.frames == ((6, "calls main()"),)


def test_a_module_that_ends_in_an_exit_keeps_its_own() -> None:
    code = """
    import sys

    def other():
        tf.config.set_visible_devices([], "GPU")

    for gpu in tf.config.list_physical_devices("GPU"):
        tf.config.experimental.set_memory_growth(gpu, True)
    sys.exit(0)
    """
    found = plan(code).entries
    assert [(one.name, [each.place.span.row for each in one.intents]) for one in found] == [
        ("module", [9]),
        ("other", [6]),
    ]


def test_methods_are_called_by_their_classes() -> None:
    found = plan("class Trainer:\n    def setup(self):\n        tf.config.set_visible_devices([], 'GPU')\n").entries
    assert [(one.name, one.row) for one in found] == [("Trainer.setup", 4)]


def test_limits_that_tensorflow_refuses_are_not_in_force() -> None:
    code = """
    gpu = tf.config.list_physical_devices("GPU")[0]
    try:
        tf.config.set_logical_device_configuration(gpu, [1024])
    except AttributeError:
        pass
    """
    assert {device.memory.kind for device in devices(code, gpus=2).values()} == {"all"}


def test_sessions_of_one_kind_on_all_ways_decide_together() -> None:
    code = """
    config = tf.compat.v1.ConfigProto()
    config.gpu_options.allow_growth = True
    if os.environ.get("SERVER"):
        session = tf.compat.v1.Session(os.environ["SERVER"], config=config)
    else:
        session = tf.compat.v1.Session(config=config)
    """
    assert devices(code)["each GPU"].memory.kind == "growth"
    other = code.replace("tf.compat.v1.Session(config=config)", "tf.zeros(1)")
    assert devices(other)["each GPU"].memory.kind == "unknown"
