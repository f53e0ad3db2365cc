"""A loop that accumulates gradients runs until its optimizer was applied and a step was taken with its variables."""

from __future__ import annotations

from pathlib import Path

import pytest

from tfmemlint.fit.measure import FitOutcome, measure
from tfmemlint.fit.observation import MIB
from tfmemlint.fit.runner import FitOptions
from tfmemlint.verify.ground import Ground

pytestmark = pytest.mark.slow

CODE = """
import tensorflow as tf
weights = tf.keras.layers.Dense(2048, use_bias=False)
weights.build((None, 2048))
optimizer = tf.keras.optimizers.SGD(0.1, momentum=0.9)
variables = weights.trainable_variables
sums = [tf.Variable(tf.zeros_like(variable)) for variable in variables]
for step in range(100):
    with tf.GradientTape() as tape:
        loss = tf.reduce_sum(weights(tf.zeros((8, 2048))))
    for total, gradient in zip(sums, tape.gradient(loss, variables)):
        total.assign_add(gradient)
    if step % 5 == 4:
        optimizer.apply_gradients(zip(sums, variables))
"""


def test_the_variables_of_the_optimizer_are_there(ground: Ground) -> None:
    if ground.version < "2.16":
        pytest.skip("Keras 2 is not watched")
    found = measure(Path("script.py").resolve(), CODE, ground, FitOptions(timeout=120.0), lambda words: None)
    assert (found.outcome, found.asked.steps) == (FitOutcome.FITS, 6), found.problem
    (device,) = found.asked.devices
    assert device.held is not None
    assert device.held["roles"]["variables of optimizers"] >= 16 * MIB
