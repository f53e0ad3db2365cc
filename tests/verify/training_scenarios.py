"""Trainings with Keras on the simulated driver: they run to their end, and their memory is counted."""

from __future__ import annotations

from tests.verify.scenarios import Outcome, Scenario

FIT = """
import numpy as np
keras, layers, random = tf.keras, tf.keras.layers, np.random.rand
grow()
def fit(model, x, y, optimizer="adam", loss="mse", **options):
    global value
    model.compile(optimizer, loss, **options)
    model.fit(x, y, verbose=0, epochs=1, batch_size=8)
    value = [config.experimental.get_memory_info("GPU:0")["peak"], sum(w.nbytes for w in model.get_weights())]
"""


def trained(out: Outcome) -> bool:
    """It ran to its end; weights, their gradients and more were on the GPU."""
    return not out.error and out.value[0] >= 2 * out.value[1] and out.usage.gpus[0].peak >= out.value[0]


TRAININGS: dict[str, Scenario] = {
    "dense": Scenario(
        FIT + "fit(keras.Sequential([keras.Input((32,)), layers.Dense(256, 'relu'), layers.Dropout(0.5), "
        "layers.Dense(1)]), random(16, 32), random(16, 1), jit_compile=False)",
        trained,
    ),
    "dense_xla": Scenario(
        FIT + "fit(keras.Sequential([keras.Input((32,)), layers.Dense(256, 'relu'), layers.Dense(1)]), "
        "random(16, 32), random(16, 1), jit_compile=True)",
        trained,
    ),
    "convolution": Scenario(
        FIT + "fit(keras.Sequential([keras.Input((16, 16, 3)), layers.Conv2D(8, 3), layers.BatchNormalization(), "
        "layers.MaxPooling2D(), layers.Flatten(), layers.Dense(10, 'softmax')]), random(16, 16, 16, 3), "
        "np.zeros((16,), 'int32'), 'sgd', 'sparse_categorical_crossentropy', jit_compile=False)",
        trained,
    ),
    "recurrent": Scenario(
        FIT + "fit(keras.Sequential([keras.Input((10,)), layers.Embedding(100, 16), layers.LSTM(32), "
        "layers.Dense(1)]), np.zeros((16, 10), 'int32'), random(16, 1))",
        trained,
    ),
    "attention": Scenario(
        FIT + "i = keras.Input((12, 16)); x = layers.LayerNormalization()(layers.MultiHeadAttention(2, 8)(i, i) + i)\n"
        "fit(keras.Model(i, layers.Dense(1)(layers.GlobalAveragePooling1D()(x))), random(16, 12, 16), random(16, 1), "
        "'sgd', jit_compile=False)",
        trained,
    ),
    # The branch that the scaling of the loss takes is decided by a boolean that a kernel computes.
    "mixed_precision": Scenario(
        FIT + "keras.mixed_precision.set_global_policy('mixed_float16')\n"
        "fit(keras.Sequential([keras.Input((32,)), layers.Dense(256, 'relu'), layers.Dense(1, dtype='float32')]), "
        "random(16, 32), random(16, 1), jit_compile=False)",
        trained,
    ),
    "mirrored": Scenario(
        FIT + "with tf.distribute.MirroredStrategy().scope():\n"
        "    model = keras.Sequential([keras.Input((32,)), layers.Dense(256), layers.Dense(1)])\n"
        "fit(model, random(16, 32), random(16, 1), 'sgd', jit_compile=False)",
        # Before 2.21 TensorFlow brings its own NCCL, which finds no GPU that it could use.
        lambda out: out.minor < 21 or (trained(out) and out.usage.gpus[1].peak > 0),
        machine={"gpus": 2},
    ),
    # Shapes in the gradient of a broadcast, and values that steer a program, come out of integer kernels.
    "integers": Scenario(
        """
with tf.device("/GPU:0"):
    x = tf.constant([1, 2, 3], tf.int64)
    stitched = tf.dynamic_stitch([[0, 2], [1]], [tf.constant([5, 7]), tf.constant([6])])
    value = [(x + x).numpy().tolist(), (x - 1).numpy().tolist(), tf.cast(x, tf.int32).numpy().tolist(),
             tf.cast(x > 1, tf.float32).numpy().tolist(), bool(tf.reduce_all(x < 4)), bool(tf.reduce_any(x == 9)),
             stitched.numpy().tolist()]
""",
        lambda out: out.value == [[2, 4, 6], [0, 1, 2], [1, 2, 3], [0.0, 1.0, 1.0], True, False, [5, 6, 7]],
    ),
}
