"""The simulated GPUs must not be kinder than TensorFlow: each check of its own fires, with its own words."""

from __future__ import annotations

import pytest

from tfmemlint.verify.edge import Edge, Result

START = """\
import tensorflow as tf
cpu = tf.config.list_physical_devices("CPU")[0]
gpus = tf.config.list_physical_devices("GPU")
growth = tf.config.experimental.set_memory_growth
split = tf.config.set_logical_device_configuration
LDC = tf.config.LogicalDeviceConfiguration
info = tf.config.experimental.get_memory_info
"""


def _run(edge: Edge, code: str, gpus: int = 2, **more: str) -> Result:
    return edge.run(START + code, gpus=gpus, env=more)


UNKNOWN = "ValueError: Unrecognized device: "
LATE = "Physical devices cannot be modified after being initialized"
LATE_SPLIT = "Virtual devices cannot be modified after being initialized"
REFUSED = [
    ("growth('GPU:0', True)", UNKNOWN),
    ("growth(gpus, True)", UNKNOWN),
    ("growth(tf.config.list_logical_devices('GPU')[0], True)", UNKNOWN),
    ("growth(tf.config.PhysicalDevice('/physical_device:GPU:7', 'GPU'), True)", UNKNOWN),
    ("growth(dev=gpus[0], enable=True)", "TypeError: set_memory_growth() got an unexpected keyword argument 'dev'"),
    ("growth(cpu, True)", "ValueError: Cannot set memory growth on non-GPU and non-Pluggable devices"),
    (
        "split(gpus[0], [LDC(1024)]); growth(gpus[0], False)",
        "ValueError: Cannot set memory growth on device when virtual devices configured",
    ),
    ("tf.constant(1); growth(gpus[0], True)", f"RuntimeError: {LATE}"),
    ("tf.constant(1); growth(gpus[0], False)", f"RuntimeError: {LATE}"),
    ("growth(gpus[0], 'True'); growth(gpus[1], 'True'); tf.constant(1)", "TypeError: "),
    ("tf.config.experimental.get_memory_growth(cpu)", "KeyError: "),
    ("growth(gpus[0], True); tf.constant(1)", "ValueError: Memory growth cannot differ between GPU devices"),
    (
        "growth(gpus[0], True); tf.config.get_soft_device_placement()",
        "ValueError: Memory growth cannot differ between GPU devices",
    ),
    ("growth(gpus[1], False); tf.constant(1)", "ValueError: Memory growth cannot differ between GPU devices"),
    ("split('GPU:0', [LDC(1024)])", UNKNOWN),
    (
        "split(cpu, [LDC(1024)])",
        "ValueError: Setting memory limit on CPU virtual devices is currently not supported",
    ),
    ("split(gpus[0], [LDC()])", "ValueError: Setting memory limit is required for GPU virtual devices"),
    ("split(gpus[0], None)", "TypeError: 'NoneType' object is not iterable"),
    ("split(gpus[0], [{'memory_limit': 1024}])", "AttributeError: 'dict' object has no attribute 'memory_limit'"),
    ("split(gpus[0], LDC(1024))", "AttributeError: 'int' object has no attribute 'memory_limit'"),
    ("tf.constant(1); split(gpus[0], [LDC(1024)])", f"RuntimeError: {LATE_SPLIT}"),
    ("LDC(memory_limit_mb=1024)", "TypeError: "),
    ("split(gpus[0], [LDC('1024')]); tf.constant(1)", "TypeError: must be real number, not str"),
    (
        "split(gpus[0], []); tf.constant(1)",
        "UnknownError: Not enough GPUs to create virtual devices. num_gpus_to_use: 1 #virtual_devices: 2",
    ),
    ("tf.config.set_visible_devices(gpus, 'gpu')", UNKNOWN),
    ("tf.config.set_visible_devices('GPU:0', 'GPU')", UNKNOWN),
    ("tf.config.set_visible_devices([cpu], 'GPU')", UNKNOWN),
    ("tf.config.set_visible_devices(None, 'GPU')", f"{UNKNOWN}None"),
    ("tf.config.set_visible_devices(tuple(gpus), 'GPU')", UNKNOWN),
    (
        "tf.constant(1); tf.config.set_visible_devices(gpus[::-1], 'GPU')",
        "RuntimeError: Visible devices cannot be modified after being initialized",
    ),
    (
        "tf.config.set_visible_devices(gpus[0]); tf.constant(1)",
        "NotFoundError: No CPU devices are available in this process",
    ),
    (
        "tf.config.set_visible_devices([]); tf.constant(1)",
        "NotFoundError: No CPU devices are available in this process",
    ),
    ("tf.config.experimental.get_device_details('GPU:0')", "ValueError: device must be a tf.config.PhysicalDevice"),
    (
        "tf.constant(1); tf.config.threading.set_intra_op_parallelism_threads(2)",
        "RuntimeError: Intra op parallelism cannot be modified after initialization.",
    ),
    ("info(gpus[0])", "TypeError: TFE_GetMemoryInfo(): incompatible function arguments."),
    ("info()", "TypeError: get_memory_info() missing 1 required positional argument: 'device'"),
    ("info('gpu:0')", "ValueError: No matching devices found for 'gpu:0'"),
    ("info('/device:gpu:0')", "ValueError: No matching devices found for '/device:gpu:0'"),
    ("info('GPU:2')", "ValueError: No matching devices found for 'GPU:2'"),
    ("info('/job:worker/replica:0/task:0/device:GPU:0')", "ValueError: No matching devices found for"),
    ("info('GPU')", "ValueError: Failed parsing device name: 'GPU'."),
    ("info('GPU:0x')", "ValueError: Failed parsing device name: 'GPU:0x'."),
    ("info('/physical_device:GPU:0')", "ValueError: Failed parsing device name: '/physical_device:GPU:0'."),
    ("info('/device:GPU')", "ValueError: Multiple devices match the provided string '/device:GPU'"),
    ("info('/GPU:*')", "ValueError: Multiple devices match the provided string '/GPU:*'"),
    ("info('')", "ValueError: Multiple devices match the provided string ''"),
    ("info('CPU:0'); growth(gpus[0], True)", f"RuntimeError: {LATE}"),
    (
        "tf.config.set_visible_devices(gpus[:1], 'GPU'); info('GPU:1')",
        "ValueError: No matching devices found for 'GPU:1'",
    ),
    (
        "tf.config.experimental.reset_memory_stats(gpus[0])",
        "TypeError: TFE_ResetMemoryStats(): incompatible function arguments.",
    ),
    ("tf.config.experimental.reset_memory_stats('gpu:0')", "ValueError: No matching devices found for 'gpu:0'"),
]


@pytest.mark.parametrize(("code", "error"), REFUSED, ids=[code for code, _ in REFUSED])
def test_what_tensorflow_refuses_is_refused(edge: Edge, code: str, error: str) -> None:
    result = _run(edge, code)
    assert result.error.startswith(error)
    assert not result.ok


ACCEPTED = [
    "growth(gpus[0], True); growth(gpus[1], True); tf.constant(1); growth(gpus[0], True)",
    "split(gpus[0], [LDC(1)]); tf.constant(1); split(gpus[0], [LDC(1)])",
    "tf.config.set_visible_devices(gpus[1], 'GPU'); tf.constant(1); tf.config.set_visible_devices(gpus[1], 'GPU')",
    "growth(gpus[0], True); split(gpus[0], [LDC(1)])",
    *(f"split(gpus[0], [LDC({value})])" for value in ("0", "0.5", "-100", "10**12", "True", "float('nan')")),
    "for name in 'GPU:0', '/gpu:1', '/GPU:0', '/device:GPU:1', 'CPU:0': assert info(name) == dict(current=0, peak=0)",
    "for gpu in tf.config.list_logical_devices(): assert info(gpu.name)['peak'] == 0",
    "info('/job:localhost/replica:0/task:0/device:GPU:0'); tf.config.experimental.reset_memory_stats('GPU:1')",
    "split(gpus[0], [LDC(1), LDC(1)]); info('GPU:2')",
    "assert tf.config.experimental.get_device_details(gpus[0])['compute_capability'] == (9, 0)",
    "assert tf.config.experimental.get_device_details(cpu) == {}",
    "tf.config.set_visible_devices([], 'GPU'); assert tf.config.list_logical_devices('GPU') == []",
    "tf.constant(1); tf.config.set_soft_device_placement(True)",
    "try:\n    growth(gpus[0], True); tf.constant(1)\nexcept ValueError:\n    growth(gpus[1], True)\ntf.constant(1)",
]


@pytest.mark.parametrize("code", ACCEPTED)
def test_what_tensorflow_accepts_is_accepted(edge: Edge, code: str) -> None:
    result = _run(edge, code)
    assert result.ok, result.error


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        ("pass", {"allow_growth": None, "visible": [0, 1], "limits": [[], []]}),
        ("for gpu in gpus: growth(gpu, True)", {"allow_growth": True, "visible": [0, 1], "limits": [[], []]}),
        ("for gpu in gpus: growth(gpu, False)", {"allow_growth": False}),
        # A limit anywhere, even a split CPU or a split GPU that is hidden, drops growth everywhere.
        ("growth(gpus[0], True); split(gpus[0], [LDC(512)])", {"allow_growth": None, "limits": [[512.0], []]}),
        ("growth(gpus[1], True); split(gpus[0], [LDC(512)])", {"allow_growth": None, "limits": [[512.0], []]}),
        ("growth(gpus[0], True); split(cpu, [LDC(), LDC()])", {"allow_growth": None, "limits": [[], []]}),
        (
            "growth(gpus[1], True); tf.config.set_visible_devices(gpus[1], 'GPU'); split(gpus[0], [LDC(9)])",
            {"allow_growth": None, "visible": [1], "limits": [[]]},
        ),
        ("split(gpus[1], [LDC(256.5), LDC(1)])", {"limits": [[], [256.5, 1.0]]}),
        ("tf.config.set_visible_devices(gpus[::-1], 'GPU')", {"visible": [0, 1]}),
        (
            "tf.config.set_visible_devices(gpus[1], 'GPU'); growth(gpus[1], True)",
            {"visible": [1], "allow_growth": True},
        ),
        ("tf.config.set_visible_devices([], 'GPU')", {"visible": [], "limits": []}),
    ],
)
def test_the_configuration_is_what_tensorflow_hands_to_its_runtime(
    edge: Edge, code: str, expected: dict[str, object]
) -> None:
    result = _run(edge, code)
    assert result.config is not None
    assert result.config["forced"]
    assert {name: result.config[name] for name in expected} == expected


def test_splitting_the_only_gpu_into_nothing_leaves_too_few_gpus(edge: Edge) -> None:
    message = "Not enough GPUs to create virtual devices. num_gpus_to_use: 0 #virtual_devices: 1"
    assert _run(edge, "split(gpus[0], [])", gpus=1).init_error == f"UnknownError: {message}"


def test_a_program_that_started_the_runtime_itself_is_not_forced(edge: Edge) -> None:
    config = _run(edge, "tf.constant(1)").config
    assert config is not None
    assert not config["forced"]


def test_growth_that_differs_comes_out_when_the_runtime_is_started_after_the_program(edge: Edge) -> None:
    result = _run(edge, "growth(gpus[0], True)")
    assert result.ok
    assert result.init_error == "ValueError: Memory growth cannot differ between GPU devices"
    assert result.config is None


@pytest.mark.parametrize(
    ("code", "maker"),
    [
        ("tf.test.is_gpu_available()", "tf.test.is_gpu_available()"),
        ("assert tf.test.gpu_device_name() == '/device:GPU:0'", "tf.test.gpu_device_name()"),
        (
            "from tensorflow.python.client import device_lib; assert len(device_lib.list_local_devices()) == 3",
            "device_lib.list_local_devices()",
        ),
        ("tf.compat.v1.Session()", "tf.compat.v1.Session()"),
    ],
)
def test_growth_set_after_the_first_allocator_is_accepted_but_has_no_effect(edge: Edge, code: str, maker: str) -> None:
    result = _run(edge, f"{code}\nfor gpu in gpus: growth(gpu, True)")
    assert result.ok, result.error
    assert result.allocator == maker
    assert result.config is not None
    assert result.config["allow_growth"] is True
    assert result.effective is not None
    assert result.effective["allow_growth"] is None


@pytest.mark.parametrize(("value", "growth"), [("true", True), ("false", False), ("True", None), ("1", None)])
def test_the_environment_beats_the_configuration_only_where_it_can_be_parsed(
    edge: Edge, value: str, growth: bool | None
) -> None:
    result = _run(edge, "tf.constant(1)", TF_FORCE_GPU_ALLOW_GROWTH=value)
    assert result.effective is not None
    assert result.effective["allow_growth"] is growth


def test_session_configurations_are_recorded_and_a_session_without_one_takes_the_eager_one(edge: Edge) -> None:
    code = """
for gpu in gpus: growth(gpu, True)
v1 = tf.compat.v1
v1.Session()
v1.Session(config=v1.ConfigProto(gpu_options=v1.GPUOptions(per_process_gpu_memory_fraction=0.25)))
v1.Session(config=v1.ConfigProto(gpu_options=v1.GPUOptions(visible_device_list="0")))
v1.Session(config=v1.ConfigProto(device_count={"GPU": 0}))
v1.InteractiveSession()
"""
    sessions = _run(edge, code).sessions
    assert [session["allow_growth"] for session in sessions] == [True, None, None, None, True]
    assert [session["per_process_gpu_memory_fraction"] for session in sessions] == [0, 0.25, 0, 0, 0]
    assert [session["visible"] for session in sessions] == [[0, 1], [0, 1], [0], [], [0, 1]]


@pytest.mark.parametrize("first", ["v1.Session()", "tf.constant(1)"])
def test_a_number_that_means_one_gpu_can_mean_no_other(edge: Edge, first: str) -> None:
    second = 'v1.Session(config=v1.ConfigProto(gpu_options=v1.GPUOptions(visible_device_list="1")))'
    error = _run(edge, f"v1 = tf.compat.v1\n{first}\n{second}\n").error
    assert error.startswith("AlreadyExistsError: TensorFlow device (GPU:0) is being mapped to multiple devices")


@pytest.mark.parametrize(
    ("options", "error"),
    [
        (
            "visible_device_list='7'",
            "'visible_device_list' listed an invalid Device id '7' but visible device count is 2",
        ),
        ("visible_device_list='GPU:0'", "Could not parse entry in 'visible_device_list': 'GPU:0'."),
        ("visible_device_list='0,0'", "visible_device_list contained a duplicate entry: 0,0"),
        (
            "per_process_gpu_memory_fraction=0.5, experimental=E(virtual_devices=[E.VirtualDevices()])",
            "It's invalid to set per_process_gpu_memory_fraction when virtual_devices is set.",
        ),
    ],
)
def test_a_session_is_refused_what_the_device_factory_refuses(edge: Edge, options: str, error: str) -> None:
    code = f"v1 = tf.compat.v1\nE = v1.GPUOptions.Experimental\no = v1.GPUOptions({options})\n"
    result = _run(edge, code + "v1.Session(config=v1.ConfigProto(gpu_options=o))")
    assert result.error.startswith(f"InvalidArgumentError: {error}")


@pytest.mark.parametrize(
    ("variable", "shown"),
    [
        ("0", "[0]"),
        ("1,0", "[1, 0]"),
        ("", "[]"),
        ("-1", "[]"),
        ("1,-1,0", "[1]"),
        ("0,9,1", "[0]"),
        ("0,0", "[]"),
        ("all", "[]"),
    ],
)
def test_cuda_visible_devices_chooses_and_orders_the_cards(edge: Edge, variable: str, shown: str) -> None:
    code = "print([int(tf.config.experimental.get_device_details(g)['device_name'][-1]) for g in gpus])"
    assert _run(edge, code, CUDA_VISIBLE_DEVICES=variable).stdout.strip() == shown


def test_cuda_visible_devices_is_read_at_the_first_listing_and_never_again(edge: Edge) -> None:
    code = """\
import os
import tensorflow as tf
os.environ["CUDA_VISIBLE_DEVICES"] = "1"
print(len(tf.config.list_physical_devices("GPU")))
os.environ["CUDA_VISIBLE_DEVICES"] = "0,1"
print(len(tf.config.list_physical_devices("GPU")), len(tf.config.list_logical_devices("GPU")))
"""
    assert edge.run(code, gpus=2).stdout == "1\n1 1\n"


def test_cards_are_in_the_order_of_the_bus_only_if_cuda_is_told_so(edge: Edge) -> None:
    code = f"{START}print(tf.config.experimental.get_device_details(gpus[0])['device_name'])"
    assert edge.run(code, gpus=2, cuda_order=(1, 0)).stdout == "Simulated GPU 1\n"
    by_bus = edge.run(code, gpus=2, cuda_order=(1, 0), env={"CUDA_DEVICE_ORDER": "PCI_BUS_ID"})
    assert by_bus.stdout == "Simulated GPU 0\n"
