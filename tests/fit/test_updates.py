"""A loop runs until each of its optimizers was applied and a step was taken with its variables."""

from __future__ import annotations

from pathlib import Path

import pytest

from tfmemlint.fit.measure import FitOutcome, measure
from tfmemlint.fit.observation import MIB
from tfmemlint.fit.runner import FitOptions
from tfmemlint.verify.ground import Ground

pytestmark = pytest.mark.slow

ACCUMULATED = """
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


SECOND = """
import tensorflow as tf
networks = [tf.keras.Sequential([tf.keras.Input((256,)), tf.keras.layers.Dense(2048)]) for _ in range(2)]
optimizers = [tf.keras.optimizers.SGD(0.1, momentum=0.9) for _ in range(2)]
def step(number):
    network = networks[number]
    with tf.GradientTape() as tape:
        loss = tf.reduce_sum(network(tf.zeros((8, 256))))
    gradients = tape.gradient(loss, network.trainable_variables)
    optimizers[number].apply_gradients(zip(gradients, network.trainable_variables))
critic, generator = tf.function(lambda: step(0)), tf.function(lambda: step(1))
for number in range(100):
    critic()
    if number % 5 == 4:
        generator()
"""
"""As in a GAN that trains one network five times before it trains the other one."""


@pytest.mark.parametrize(
    ("code", "steps", "mib"), [(ACCUMULATED, 6, 16), (SECOND, 6, 4)], ids=["accumulated", "second network"]
)
def test_the_variables_of_each_optimizer_are_there(code: str, steps: int, mib: int, ground: Ground) -> None:
    found = measure(Path("script.py").resolve(), code, ground, FitOptions(timeout=120.0), lambda words: None)
    assert (found.outcome, found.asked.steps) == (FitOutcome.FITS, steps), found.problem
    (device,) = found.asked.devices
    assert device.held is not None
    assert device.held["roles"]["variables of optimizers"] >= mib * MIB
