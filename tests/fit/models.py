"""Small models of which the memory can be worked out by hand.

Each takes its gradients in a `tf.function` and applies them outside of it, so that all gradients are there when the
weights are updated; operations come one after the other. XLA is left out: what it keeps is its own affair. Batches are
small, weights or activations large enough for the allocator's rounding not to matter.
"""

from __future__ import annotations

from dataclasses import dataclass

MIB = 1024 * 1024
START = """
import numpy as np
import tensorflow as tf
from tensorflow import keras
from tensorflow.keras import layers

tf.config.threading.set_inter_op_parallelism_threads(1)

def train(model, optimizer, *shape):
    x = tf.constant(np.zeros(shape, "float32"))

    @tf.function
    def gradients(x):
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum(model(x, training=True))
            scaled = optimizer.scale_loss(loss) if hasattr(optimizer, "scale_loss") else loss
        return tape.gradient(scaled, model.trainable_variables)

    for step in range(4):
        found = gradients(x)
        optimizer.apply_gradients(zip(found, model.trainable_variables))
        del found
"""


def floats(*sizes: int) -> float:
    """MiB of a tensor of 32-bit numbers."""
    number = 1
    for size in sizes:
        number *= size
    return number * 4 / MIB


@dataclass(frozen=True)
class Model:
    """A model, and its memory at the peak in MiB, worked out by hand.

    Attributes:
        code: the script, after `START`. parameters: the weights. slots: the optimizer's for them.
        gradients: those of the weights that are there at the peak. activations: what the backward pass needs of the
            forward pass, and is there at the peak. inputs: the batch, on the GPU.
        passing: what the operations at the peak hold for a moment. why: when the peak is, and what that is.
    """

    code: str
    parameters: float
    slots: float
    gradients: float
    activations: float
    inputs: float
    passing: float
    why: str

    @property
    def expected(self) -> float:
        """The peak in MiB."""
        return self.parameters + self.slots + self.gradients + self.activations + self.inputs + self.passing


LAYERS = 10
_DENSE = f"""
model = keras.Sequential([keras.Input((1536,)), *[layers.Dense(1536, "relu") for _ in range({LAYERS})]])
train(model, {{optimizer}}, 64, 1536)
"""
_WEIGHTS = LAYERS * (floats(1536, 1536) + floats(1536))
_ONE = floats(1536, 1536)
_BATCH = floats(64, 1536)
_LSTM = floats(768 + 768 + 1, 4 * 768)
_STEPS = floats(16, 16, 768)
_IMAGE = floats(16, 64, 64, 64)
_PAIRS = floats(16, 8, 384, 384)
_TOKENS = floats(16, 384, 256)

MODELS = {
    "dense, SGD": Model(
        _DENSE.format(optimizer="keras.optimizers.SGD(0.01)"),
        parameters=_WEIGHTS,
        slots=0,
        gradients=_WEIGHTS,
        activations=0,
        inputs=_BATCH,
        passing=_ONE,
        why="update of a weight: its gradient times the rate",
    ),
    "dense, SGD with momentum": Model(
        _DENSE.format(optimizer="keras.optimizers.SGD(0.01, momentum=0.9)"),
        parameters=_WEIGHTS,
        slots=_WEIGHTS,
        gradients=_WEIGHTS,
        activations=0,
        inputs=_BATCH,
        passing=3 * _ONE,
        why="update of a weight: two products, and their difference",
    ),
    "dense, Adam": Model(
        _DENSE.format(optimizer="keras.optimizers.Adam()"),
        parameters=_WEIGHTS,
        slots=2 * _WEIGHTS,
        gradients=_WEIGHTS,
        activations=0,
        inputs=_BATCH,
        passing=3 * _ONE,
        why="update of a weight: the product above the fraction, the root below it, the sum of that and epsilon",
    ),
    "dense, mixed precision, Adam": Model(
        'keras.mixed_precision.set_global_policy("mixed_float16")\n'
        + _DENSE.format(optimizer="keras.mixed_precision.LossScaleOptimizer(keras.optimizers.Adam())"),
        parameters=_WEIGHTS,
        slots=2 * _WEIGHTS,
        gradients=2 * _WEIGHTS,
        activations=0,
        inputs=_BATCH,
        passing=3 * _ONE,
        why="update of a weight, as before; gradients are of 32 bits again, and there twice: scaled and unscaled",
    ),
    "convolution, SGD": Model(
        """
model = keras.Sequential([keras.Input((64, 64, 64)), *[layers.Conv2D(64, 3, padding="same", activation="relu")
    for _ in range(20)], layers.GlobalAveragePooling2D()])
train(model, keras.optimizers.SGD(0.01), 16, 64, 64, 64)
""",
        parameters=20 * (floats(9 * 64 * 64) + floats(64)),
        slots=0,
        gradients=0,
        activations=19 * _IMAGE,
        inputs=2 * _IMAGE,
        passing=4 * _IMAGE + 32,
        why="gradient of the last layer: one comes in, one goes out, in cuDNN's layout and in TensorFlow's, and while"
        " algorithms are tried a copy, with 32 MiB of guard zones; the input is there in both layouts",
    ),
    "LSTM, Adam": Model(
        """
model = keras.Sequential([keras.Input((16, 768)), *[layers.LSTM(768, return_sequences=True,
    recurrent_initializer="zeros") for _ in range(4)]])
train(model, keras.optimizers.Adam(), 16, 16, 768)
""",
        parameters=4 * _LSTM,
        slots=2 * 4 * _LSTM,
        gradients=_LSTM,
        # The weights in cuDNN's order; its reserve, by the estimate of the simulated driver; what each layer gives.
        activations=4 * _LSTM + 4 * 6 * _STEPS + 4 * _STEPS,
        inputs=_STEPS,
        passing=4 * _STEPS,
        why="gradient of the last layer; cuDNN has a copy of all weights in its own order, and its reserve (estimated)",
    ),
    "attention, SGD": Model(
        """
tf.config.optimizer.set_experimental_options({"constant_folding": False, "arithmetic_optimization": False})
i = o = keras.Input((384, 256))
for _ in range(6):
    o = layers.MultiHeadAttention(8, 32)(o, o)
train(keras.Model(i, o), keras.optimizers.SGD(0.01), 16, 384, 256)
""",
        parameters=6 * 4 * (floats(256, 256) + floats(256)),
        slots=0,
        gradients=0,
        # What the softmax gives; queries, keys, values, and what the heads give; what each layer but the last gives.
        activations=6 * (_PAIRS + 4 * _TOKENS) + 5 * _TOKENS,
        inputs=_TOKENS,
        passing=3 * _PAIRS + _TOKENS,
        why="the last softmax, which takes its size twice for a moment, while the gradient that goes into it is there"
        " already (TensorFlow's optimizers of arithmetic are off: they keep a scaled copy of each softmax as well)",
    ),
}
