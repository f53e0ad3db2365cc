"""Scripts that fit, that don't, and that say nothing."""

from __future__ import annotations

import io
import re
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import pytest

from tfmemlint.fit.held import XLA, named_share
from tfmemlint.fit.limit_search import LimitSearch
from tfmemlint.fit.measure import FitOutcome, FitResult, measure
from tfmemlint.fit.observation import MIB
from tfmemlint.fit.report import as_data, exit_code, show
from tfmemlint.fit.runner import FitOptions
from tfmemlint.verify.ground import Ground

pytestmark = pytest.mark.slow

TF = "import tensorflow as tf\n"
LOOP = """
weights = tf.Variable(tf.zeros((1024, 1024)), name="weights")
def step(x):
    with tf.GradientTape() as tape:
        loss = tf.reduce_sum(tf.matmul(x, weights))
    return tape.gradient(loss, weights)
"""


def fit(code: str, ground: Ground, **conditions: object) -> FitResult:
    chosen = {"timeout": 60.0, **conditions}
    return measure(Path("script.py").resolve(), TF + code, ground, FitOptions(**chosen), lambda words: None)  # type: ignore[arg-type]


def test_what_is_held_is_known_by_its_name(ground: Ground) -> None:
    found = fit(LOOP + "big = tf.ones((4096, 4096))\nstep(big[:2, :1024])\nprint('done')", ground)
    (device,) = found.asked.devices
    assert (found.outcome, found.asked.steps) == (FitOutcome.FITS, 1)
    assert device.room == (14284 if ground.version[:4] != "2.12" else 14548) * MIB
    assert device.peak is not None
    assert device.peak >= 68 * MIB
    assert device.held is not None
    largest = {one["what"]: one for one in device.held["largest"]}
    assert largest["Fill"]["bytes"] >= 64 * MIB
    assert largest["Fill"]["shape"] == "[4096,4096]"
    assert largest["weights"]["role"] == "trained variables"
    assert largest["weights"]["shape"] == "[1024,1024]"


@pytest.mark.parametrize(
    "steps",
    [
        "for _ in range(100): step(tf.ones((2, 1024)))",
        "step = tf.function(step)\nfor _ in range(100): step(tf.ones((2, 1024)))",
        # A function that is called by another one.
        "inner = tf.function(step)\nouter = tf.function(lambda x: inner(x) * 2)\n"
        "for _ in range(100): outer(tf.ones((2, 1024)))",
        # Of a GAN.
        "for _ in range(100):\n    step(tf.ones((2, 1024)))\n    step(tf.ones((2, 1024)))",
    ],
    ids=["eager", "function", "nested", "twice"],
)
def test_it_ends_after_so_many_steps(steps: str, ground: Ground) -> None:
    found = fit(LOOP + steps + "\nraise SystemExit(9)", ground, steps=2)
    assert (found.outcome, found.asked.steps) == (FitOutcome.FITS, 2)


KERAS = """
import numpy as np
model = tf.keras.Sequential(
    [tf.keras.Input((32, 32, 3))]
    + [tf.keras.layers.Conv2D(64, 3, padding="same", activation="relu") for _ in range(4)]
    + [tf.keras.layers.Flatten(), tf.keras.layers.Dense(10)]
)
loss = tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True)
model.compile("adam", loss)
model.fit(np.zeros((256, 32, 32, 3), "float32"), np.zeros(256, "int32"), batch_size=128, verbose=0)
"""


def test_the_temporaries_of_xla_have_the_names_of_layers(ground: Ground) -> None:
    if ground.version < "2.16":
        pytest.skip("Keras 2 compiles nothing of this by default")
    (device,) = fit(KERAS, ground).asked.devices
    assert device.held is not None
    assert named_share(device.held) >= 0.95
    names = [group["what"] for group in device.held["groups"] if group["role"] == XLA]
    assert any("conv2d" in name for name in names)
    assert device.asked_peak is not None
    assert sum(group["bytes"] for group in device.held["groups"]) == sum(device.held["roles"].values())
    assert device.held["roles"]["variables of optimizers"] >= 2 * 4 * 3 * 64 * 64 * 9
    assert device.held["roles"]["trained variables"] >= 4 * 3 * 64 * 64 * 9


def test_the_variables_of_every_replica_have_their_names(ground: Ground) -> None:
    if ground.version < "2.16":
        pytest.skip("Keras 2 has other classes of distributed variables")
    code = """
import numpy as np
with tf.distribute.MirroredStrategy().scope():
    model = tf.keras.Sequential([tf.keras.Input((512,)), tf.keras.layers.Dense(2048), tf.keras.layers.Dense(10)])
    model.compile("adam", "mse")
data = tf.data.Dataset.from_tensor_slices((np.zeros((512, 512), "float32"), np.zeros((512, 10), "float32")))
model.fit(data.batch(128), verbose=0)
"""
    devices = fit(code, ground, gpus=2).asked.devices
    assert [device.name for device in devices] == ["GPU:0", "GPU:1"]
    for device in devices:
        assert device.held is not None
        assert device.held["roles"]["trained variables"] >= 4 * 512 * 2048
        assert device.held["roles"]["variables of optimizers"] >= 2 * 4 * 512 * 2048
        assert named_share(device.held) >= 0.95


def test_without_xla_each_operation_asks_by_itself(ground: Ground) -> None:
    (device,) = fit(KERAS, ground, jit=False).asked.devices
    assert device.held is not None
    assert XLA not in device.held["roles"]
    assert named_share(device.held) >= 0.95


def test_a_busy_machine_does_not_change_what_was_requested(ground: Ground) -> None:
    """A script that takes longer than any limit of wall time is watched to its last step."""
    code = (
        LOOP
        + "import time\nstep(tf.ones((2, 1024)))\ntime.sleep(5)\nbig = tf.ones((2048, 4096))\nstep(tf.ones((2, 1024)))"
    )
    (device,) = fit(code, ground).asked.devices
    assert device.asked_peak is not None
    assert device.asked_peak >= 32 * MIB


def test_the_progress_says_what_is_done_and_how_many_steps(ground: Ground) -> None:
    said: list[str] = []
    code = TF + LOOP + "import time\nfor _ in range(3):\n    step(tf.ones((2, 1024)))\n    time.sleep(1)\n"
    measure(Path("script.py").resolve(), code, ground, FitOptions(timeout=60.0), said.append)
    assert said[0] == "running script.py on 1 simulated GPU of 16 GiB"
    assert any(words.endswith(("1 training step", "2 training steps")) for words in said)


def test_sessions_of_tensorflow_1_are_counted(ground: Ground) -> None:
    code = """
v1 = tf.compat.v1
v1.disable_v2_behavior()
weights = v1.get_variable("weights", [256, 256])
loss = tf.reduce_sum(tf.matmul(tf.ones((2, 256)), weights))
train = v1.train.AdamOptimizer(0.01).minimize(loss)
with v1.Session() as session:
    session.run(v1.global_variables_initializer())
    for _ in range(100):
        session.run(loss)
        session.run({"train": train, "loss": loss})
"""
    found = fit(code, ground)
    assert (found.outcome, found.asked.steps) == (FitOutcome.FITS, 3)
    assert roles_of_variables(found) == {"trained variables": ["weights"], "variables of optimizers": SLOTS}


def test_steps_are_counted_where_a_session_makes_a_function_of_them(ground: Ground) -> None:
    code = """
from tensorflow.core.protobuf import config_pb2
v1 = tf.compat.v1
v1.disable_v2_behavior()
weights = v1.get_variable("weights", [256, 256])
with v1.variable_scope("training/RMSprop"):
    kept = v1.get_variable("weights/rms", [256, 256], trainable=False, initializer=v1.zeros_initializer())
loss = tf.reduce_sum(tf.matmul(tf.ones((2, 256)), weights))
gradient, = tf.gradients(loss, [weights])
with tf.control_dependencies([kept.assign(0.9 * kept + gradient * gradient)]):
    train = weights.assign_sub(gradient)
options = config_pb2.CallableOptions(fetch=[loss.name], target=[train.op.name])
with v1.Session() as session:
    session.run(v1.global_variables_initializer())
    step = session._make_callable_from_options(options)  # as Keras does
    for _ in range(100):
        step()
"""
    found = fit(code, ground)
    assert (found.outcome, found.asked.steps) == (FitOutcome.FITS, 3), found.problem
    slots = ["training/RMSprop/weights/rms"]
    assert roles_of_variables(found) == {"trained variables": ["weights"], "variables of optimizers": slots}


SLOTS = ["weights/Adam", "weights/Adam_1"]
MONITORED = """
v1 = tf.compat.v1
v1.disable_v2_behavior()
weights = v1.get_variable("weights", [256, 256])
kept = v1.get_variable("kept", [128, 256], trainable=False, use_resource=True)
loss = tf.reduce_sum(tf.matmul(tf.ones((2, 256)), weights))
count = v1.train.get_or_create_global_step()
train = v1.train.AdamOptimizer(0.01).minimize(loss, global_step=count)
def main():
    with v1.train.MonitoredTrainingSession(hooks=[v1.train.StopAtStepHook(last_step=2)]) as session:
        while not session.should_stop():
            session.run(train)
main()
"""


def test_the_variables_of_a_session_are_known_after_it_was_closed(ground: Ground) -> None:
    found = fit(MONITORED, ground)
    assert roles_of_variables(found) == {
        "trained variables": ["weights"],
        "variables of optimizers": SLOTS,
        "other variables": ["kept"],
    }


def test_the_variables_of_a_function_that_trains_are_known_after_it(ground: Ground) -> None:
    code = """
def main():
    weights = tf.Variable(tf.zeros((1024, 1024)), name="weights")
    for _ in range(2):
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum(tf.matmul(tf.ones((2, 1024)), weights))
        tape.gradient(loss, weights)
main()
"""
    assert roles_of_variables(fit(code, ground)) == {"trained variables": ["weights"]}


def roles_of_variables(found: FitResult) -> dict[str, list[str]]:
    """Return the names of the variables that were held at the peak, by their roles."""
    (device,) = found.asked.devices
    assert device.held is not None
    names: dict[str, list[str]] = {}
    for group in device.held["groups"]:
        if group["role"].endswith(("variables", "of optimizers")) and group["shape"] != "[]":
            names.setdefault(group["role"], []).append(group["what"])
    return {role: sorted(listed) for role, listed in names.items()}


LIMIT = """
gpu = tf.config.list_physical_devices("GPU")[0]
tf.config.set_logical_device_configuration(gpu, [tf.config.LogicalDeviceConfiguration(memory_limit=64)])
kept = tf.ones((4096, 8192))
"""
CAUGHT = """
try:
    tf.ones((8192, 8192))
except tf.errors.ResourceExhaustedError:
    tf.ones((1024, 1024))
"""
TOO_BIG: dict[str, tuple[str, dict[str, object]]] = {
    "card": (LOOP + "kept = [tf.ones((8192, 4096)) for _ in range(6)]", {"memory_mib": 1024}),
    "limit": (LIMIT, {"check_limit": True}),
    "caught": (CAUGHT, {"memory_mib": 512, "in_use_mib": 100.0}),
}


@pytest.fixture(scope="module")
def exhausted(ground: Ground) -> dict[str, FitResult]:
    """Run at the same time: TensorFlow waits for ten seconds before it gives up."""
    with ThreadPoolExecutor() as pool:
        running = {name: pool.submit(fit, code, ground, **how) for name, (code, how) in TOO_BIG.items()}
        return {name: one.result() for name, one in running.items()}


def test_what_does_not_fit_is_measured_all_the_same(exhausted: dict[str, FitResult]) -> None:
    found = exhausted["card"]
    assert (found.outcome, exit_code(found)) == (FitOutcome.TOO_BIG, 1)
    assert found.roomy is not None
    (device,) = found.roomy.devices
    assert device.peak is not None
    assert 6 * 128 * MIB <= device.peak < 7 * 128 * MIB


def test_a_gpu_is_enough_only_where_its_limit_was_run(exhausted: dict[str, FitResult]) -> None:
    found = exhausted["card"]
    page = io.StringIO()
    show("script.py", found, page)
    assert "by a replay of its requests it needs a GPU of" in page.getvalue()
    assert "would be enough" not in page.getvalue()
    page = io.StringIO()
    show("script.py", replace(found, limit=LimitSearch(works=2048, fails=2000)), page)
    # Besides the limit: 300 MiB of others, and what TensorFlow leaves free.
    size = re.search(r"a GPU of ([\d.]+) GiB would be enough", page.getvalue())
    assert size is not None
    assert 2.3 <= float(size[1]) <= 3


def test_the_scripts_own_limit_counts(exhausted: dict[str, FitResult]) -> None:
    found = exhausted["limit"]
    assert found.outcome is FitOutcome.TOO_BIG
    (asked,) = found.asked.devices
    assert (asked.room, asked.limited) == (64 * MIB, True)
    assert found.limit is not None
    assert found.limit.works is not None
    assert 128 <= found.limit.works <= 140


def test_an_error_that_is_caught_is_told(exhausted: dict[str, FitResult]) -> None:
    found = exhausted["caught"]
    assert found.outcome is FitOutcome.FITS
    assert found.asked.times_exhausted == 1
    data = as_data("script.py", found)
    assert data["times_refused"] == 1
    assert "failed to allocate" in data["refused"][0] or "OOM" in data["refused"][0]


def test_memory_that_cudnn_lacks_is_memory(ground: Ground) -> None:
    # TensorFlow raises an InternalError for it.
    code = """
gpu = tf.config.list_physical_devices("GPU")[0]
tf.config.set_logical_device_configuration(gpu, [tf.config.LogicalDeviceConfiguration(memory_limit=100)])
layer = tf.keras.layers.LSTM(256, return_sequences=True)
with tf.GradientTape() as tape:
    loss = tf.reduce_sum(layer(tf.zeros((64, 200, 256))))
tape.gradient(loss, layer.trainable_variables)
"""
    found = fit(code, ground)
    assert found.outcome is FitOutcome.TOO_BIG, found.problem
    assert "OOM when allocating" in found.asked.exhausted[0]
    (device,) = found.measured.devices
    assert device.peak is not None
    assert device.peak > 100 * MIB


def test_each_gpu_is_measured(ground: Ground) -> None:
    code = "with tf.device('/GPU:1'): kept = tf.ones((1024, 1024))\nwith tf.device('/GPU:0'): tf.ones((2, 2))"
    found = fit(code, ground, gpus=2)
    peaks = {device.name: device.peak or 0 for device in found.asked.devices}
    assert peaks["GPU:0"] < MIB
    assert peaks["GPU:1"] >= 4 * MIB


def test_the_profiler_stays_usable(ground: Ground) -> None:
    code = "tf.profiler.experimental.start('logs')\ntf.ones((2, 2))\ntf.profiler.experimental.stop()"
    assert fit(code, ground).outcome is FitOutcome.FITS


@pytest.mark.parametrize(
    ("code", "words"),
    [
        ("print(1)", "never used a GPU"),
        ("import os\nos.environ['CUDA_VISIBLE_DEVICES'] = '-1'\ntf.ones(1)", "never used a GPU"),
        ("raise SystemExit(3)", "exit code 3"),
        ("assert tf.reduce_sum(tf.ones(10)) == -1", "line 2: AssertionError"),
        ("tf.ones(1)\nwhile True: pass", "had not ended after 2 s"),
        ("import os\nos.kill(os.getpid(), 11)", "SIGSEGV"),
    ],
    ids=["no-gpu", "hidden", "exit", "values", "hangs", "crash"],
)
def test_what_says_nothing_says_why(code: str, words: str, ground: Ground) -> None:
    found = fit(code, ground, timeout=2.0 if "while" in code else 60.0)
    assert (found.outcome, exit_code(found)) == (FitOutcome.UNKNOWN, 2)
    assert words in found.problem


def test_too_much_of_this_machines_memory(ground: Ground) -> None:
    found = fit("import numpy as np\nx = [np.ones((1000, 1000)) for _ in range(300)]", ground, host_mib=1024.0)
    assert found.outcome is FitOutcome.UNKNOWN
    assert "--host-memory" in found.problem
