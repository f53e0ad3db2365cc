"""What is left out to be quick, what is seen of a run's course, and what would help: on TensorFlow."""

from __future__ import annotations

from pathlib import Path

import pytest

from tfmemlint.fit.measure import FitOutcome, FitResult, measure
from tfmemlint.fit.observation import MIB
from tfmemlint.fit.runner import FitOptions
from tfmemlint.verify.driver.build import minor_of
from tfmemlint.verify.ground import Ground

pytestmark = pytest.mark.slow

MODEL = """
import numpy as np
import tensorflow as tf
from tensorflow.keras import layers

class Traced(tf.keras.Model):
    def train_step(self, data):
        print("traced")
        return super().train_step(data)

inputs = x = tf.keras.Input((1024,))
for _ in range(9):
    x = layers.Dense(1024, "relu")(x)
model = Traced(inputs, layers.Dense(2)(x))
loss = tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True)
model.compile("adam", loss, metrics=["accuracy"], jit_compile=False)
model.fit(np.zeros((8192, 1024), "float32"), np.zeros(8192, "int32"), batch_size=2048, verbose=0)
"""
WEIGHTS = (9 * 1025 * 1024 + 1025 * 2) * 4 / MIB


def fit(code: str, ground: Ground, **conditions: object) -> FitResult:
    options = FitOptions(timeout=200.0, **conditions)  # type: ignore[arg-type]
    return measure(Path("script.py").resolve(), code, ground, options, lambda words: None)


@pytest.fixture(scope="module")
def found(ground: Ground) -> FitResult:
    """The model, trained for three steps."""
    return fit(MODEL, ground)


def test_the_graph_of_a_step_is_built_once(found: FitResult) -> None:
    assert found.outcome is FitOutcome.FITS, found.problem
    assert found.asked.result.stdout.count("traced") == 1


def test_all_variables_are_there(found: FitResult) -> None:
    (device,) = found.asked.devices
    assert device.held is not None
    assert device.held["roles"]["trained variables"] / MIB == pytest.approx(WEIGHTS, rel=0.1)
    assert device.held["roles"]["variables of optimizers"] / MIB == pytest.approx(2 * WEIGHTS, rel=0.1)


def test_the_course_of_memory_has_the_steps(found: FitResult) -> None:
    (device,) = found.asked.devices
    assert device.held is not None
    course = device.held["over_time"]
    assert max(course["held"]) == device.held["peak"]
    assert len(course["steps"]) == 3
    assert 0 < course["steps"][0] < course["steps"][1] < course["steps"][2] <= 1


def test_what_helps_is_measured(ground: Ground) -> None:
    found = fit(MODEL, ground, what_helps=True)
    assert found.helps is not None
    runs = {run.change: run for run in found.helps}
    (device,) = found.asked.devices
    assert device.peak is not None
    keras_3 = (minor_of(ground.version) or (2, 16)) >= (2, 16)
    if not keras_3:
        assert "nothing in the script" in runs["gradient checkpointing"].problem
        return
    # The script compiles nothing.
    assert "nothing in the script" in runs.pop("no XLA").problem
    assert {run.problem for run in runs.values()} == {""}
    assert all(run.fits for run in runs.values())
    peaks = {name: (run.peak or 0) / MIB for name, run in runs.items()}
    before = device.peak / MIB
    # Adam's two slots for each weight are not there.
    assert peaks["SGD"] < before - 1.5 * WEIGHTS
    # A layer's result is 8 MiB; of nine, those inside of segments are not kept.
    assert peaks["gradient checkpointing"] < before - 16
    assert peaks["growth"] == pytest.approx(before, rel=0.3)


def test_a_change_that_finds_nothing_to_act_on_says_so(ground: Ground) -> None:
    code = """
import tensorflow as tf
weights = tf.Variable(tf.zeros((1024, 1024)))
for _ in range(2):
    with tf.GradientTape() as tape:
        loss = tf.reduce_sum(weights)
    tape.gradient(loss, weights)
"""
    found = fit(code, ground, change="SGD")
    assert found.outcome is FitOutcome.FITS
    assert not found.asked.changed


def test_mixed_precision_is_no_change_where_the_script_sets_a_policy(ground: Ground) -> None:
    code = """
import numpy as np
import tensorflow as tf
tf.keras.mixed_precision.set_global_policy("mixed_float16")
model = tf.keras.Sequential([tf.keras.Input((64,)), tf.keras.layers.Dense(8)])
model.compile("sgd", "mse")
model.fit(np.zeros((8, 64), "float32"), np.zeros((8, 8), "float32"), verbose=0)
"""
    found = fit(code, ground, change="mixed precision")
    assert found.outcome is FitOutcome.FITS
    assert not found.asked.changed


COMPILED = """
import tensorflow as tf

@tf.function(jit_compile=True)
def step(x):
    # Two kernels, one of them with a function of CUDA's mathematics.
    with tf.GradientTape() as tape:
        tape.watch(x)
        loss = tf.reduce_sum(tf.tanh(tf.matmul(x, x)))
    return tape.gradient(loss, x)

step(tf.zeros((256, 256)))
"""


def test_no_toolkit_of_cuda_is_needed(ground: Ground, tmp_path: Path) -> None:
    for name in ("ptxas", "nvlink"):
        program = tmp_path / name
        # A toolkit on this machine that can't be used.
        program.write_text('#!/bin/sh\n[ "$1" = --version ] && echo "release 12.9, V12.9.86" || exit 1\n')
        program.chmod(0o755)
    found = fit(COMPILED, ground, env={"PATH": f"{tmp_path}:/usr/bin:/bin"})
    assert found.outcome is FitOutcome.FITS, found.problem
    (device,) = found.asked.devices
    assert device.peak is not None
    assert device.peak >= 2 * 256 * 256 * 4


def test_an_error_in_a_graph_says_what_it_is(ground: Ground) -> None:
    code = """
import tensorflow as tf

def refuse(x):
    raise ValueError("stop here")

@tf.function
def step(x):
    return tf.numpy_function(refuse, [x], tf.float32)

step(tf.zeros((3, 3)))
"""
    found = fit(code, ground)
    assert found.outcome is FitOutcome.UNKNOWN
    assert "stop here" in found.problem
