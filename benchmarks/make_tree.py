#!/usr/bin/env python3
"""Make a tree of Python files as a large TensorFlow project has them; the same tree on every machine.

Every file imports TensorFlow. About one in twenty-five configures GPU memory, rightly or wrongly; about one in a
hundred uses ``tf.config`` for something else. Lengths are spread as in public TensorFlow repositories: most files are
short, some are very long, the mean is 300 lines.

    python benchmarks/make_tree.py DIRECTORY [--files 1700]
"""

from __future__ import annotations

import argparse
import math
import random
import textwrap
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

FILES = 1700
MEAN_LINES = 300
SPREAD = 1.0
"""Of the logarithm of the lengths: a tenth of the files has fewer than 60 lines, a tenth more than 650."""
CONFIGURING, NEARLY = 0.04, 0.01
"""Shares of the files that configure GPU memory, and that use ``tf.config`` for something else."""

WORDS = """\
attention audio batch block caption channel context conv crop decoder dense depth detection dilated embedding
encoder feature flow fusion gate graph head image joint kernel label latent layer lidar mask mesh mixture
motion noise norm patch point policy pose prior projection pyramid query ranking residual reward sampler scene
score segment sequence signal source speech spatial state style table target temporal text token track vector
video voxel wave window
""".split()  # noqa: SIM905
FOLDERS = ("models", "layers", "losses", "data", "training", "metrics", "utils", "experiments", "serving", "tests")


@dataclass(frozen=True)
class Counts:
    """The contents of a tree."""

    files: int
    lines: int
    configuring: int


def make_tree(folder: Path, files: int = FILES, seed: int = 7) -> Counts:
    """Write the tree into ``folder``, which must be empty or missing."""
    folder.mkdir(parents=True, exist_ok=True)
    if any(folder.iterdir()):
        raise ValueError(f"{folder} is not empty")
    rng = random.Random(seed)
    numbers = list(range(files))
    rng.shuffle(numbers)
    configuring = set(numbers[: round(files * CONFIGURING)])
    nearly = set(numbers[len(configuring) : len(configuring) + round(files * NEARLY)])
    lines = kind = 0
    for number in range(files):
        start = ""
        if number in configuring:
            start = CONFIGURATIONS[kind % len(CONFIGURATIONS)]
            kind += 1
        elif number in nearly:
            start = rng.choice(OTHER_USES)
        text = _module(rng, start, _length(rng))
        parent = folder / rng.choice(FOLDERS) / f"{rng.choice(WORDS)}_{number // 60}"
        parent.mkdir(parents=True, exist_ok=True)
        (parent / f"{rng.choice(WORDS)}_{rng.choice(WORDS)}_{number}.py").write_text(
            text, encoding="utf-8", newline="\n"
        )
        lines += text.count("\n")
    return Counts(files, lines, len(configuring))


def _length(rng: random.Random) -> int:
    """Lines of a file: log-normal, with `MEAN_LINES` as its mean."""
    return min(4000, max(12, round(rng.lognormvariate(math.log(MEAN_LINES) - SPREAD**2 / 2, SPREAD))))


def _module(rng: random.Random, start: str, length: int) -> str:
    name = f"{rng.choice(WORDS)} {rng.choice(WORDS)}"
    imports = ["import numpy as np", "import tensorflow as tf"]
    if "clear_session" in start:
        imports.append("from tensorflow.keras.backend import clear_session")
    if "device_lib" in start:
        imports.append("from tensorflow.python.client import device_lib")
    if "os.environ" in start:
        imports[:0] = ["import os", ""]
    head = [
        f'"""{name.capitalize()}: part of a larger model."""',
        "",
        "from __future__ import annotations",
        "",
        *imports,
    ]
    parts = ["\n".join(head)]
    parts[0] += (
        f"\n\nEPSILON = 1e-{rng.randint(4, 9)}\nSHAPE = np.array([{rng.randint(2, 9)}, {rng.randint(16, 512)}])\n"
    )
    if start:
        parts.append(start)
    count = sum(part.count("\n") + 2 for part in parts)
    while count < length:
        part = rng.choice(PARTS)(rng)
        parts.append(part)
        count += part.count("\n") + 2
    return "\n\n".join(parts)


def _title(rng: random.Random, words: int = 2) -> str:
    return "".join(rng.choice(WORDS).capitalize() for _ in range(words)) + str(rng.randint(1, 99))


def _name(rng: random.Random) -> str:
    return f"{rng.choice(WORDS)}_{rng.choice(WORDS)}_{rng.randint(1, 999)}"


def _layer(rng: random.Random) -> str:
    title, units, rate = _title(rng), rng.choice((32, 64, 128, 256, 512)), rng.choice((0.1, 0.2, 0.3))
    count = rng.randint(2, 7)
    fields = [rng.choice(WORDS) + str(index) for index in range(count)]
    built = "\n".join(
        f'        self.{field} = tf.keras.layers.Dense(units, activation="{rng.choice(("relu", "gelu", "tanh"))}")'
        for field in fields
    )
    called = "\n".join(f"        x = self.norm(x + self.{field}(x))" for field in fields)
    return f'''\
class {title}(tf.keras.layers.Layer):
    """Mixes {rng.choice(WORDS)}s with {rng.choice(WORDS)}s.

    Args:
        units: the width of every dense layer.
        rate: the share of units that dropout leaves out.
    """

    def __init__(self, units: int = {units}, rate: float = {rate}, **kwargs: object) -> None:
        super().__init__(**kwargs)
        self.units = units
{built}
        self.norm = tf.keras.layers.LayerNormalization(epsilon=EPSILON)
        self.dropout = tf.keras.layers.Dropout(rate)

    def call(self, inputs: tf.Tensor, training: bool = False) -> tf.Tensor:
        x = tf.cast(inputs, tf.float32)
{called}
        # Dropout comes last, as in the paper.
        return self.dropout(x, training=training)

    def get_config(self) -> dict[str, object]:
        config = super().get_config()
        config.update({{"units": self.units, "rate": self.dropout.rate}})
        return config
'''


def _model(rng: random.Random) -> str:
    name, classes = _name(rng), rng.choice((2, 10, 100, 1000))
    blocks = "\n".join(
        f"    x = tf.keras.layers.Conv2D({filters}, 3, padding='same', name='{rng.choice(WORDS)}_{index}')(x)\n"
        f"    x = tf.keras.layers.BatchNormalization()(x)\n    x = tf.keras.layers.Activation('relu')(x)"
        for index, filters in enumerate(rng.choices((32, 64, 128, 256), k=rng.randint(2, 9)))
    )
    return f'''\
def build_{name}(height: int = {rng.choice((96, 128, 224))}, classes: int = {classes}) -> tf.keras.Model:
    """Build the {name.replace("_", " ")} network."""
    inputs = tf.keras.Input(shape=(height, height, 3))
    x = inputs
{blocks}
    x = tf.keras.layers.GlobalAveragePooling2D()(x)
    if classes > 2:
        outputs = tf.keras.layers.Dense(classes, activation="softmax")(x)
    else:
        outputs = tf.keras.layers.Dense(1, activation="sigmoid")(x)
    return tf.keras.Model(inputs=inputs, outputs=outputs, name="{name}")
'''


def _data(rng: random.Random) -> str:
    name = _name(rng)
    return f'''\
def {name}_dataset(pattern: str, batch_size: int = {rng.choice((16, 32, 64))}, shuffle: bool = True) -> tf.data.Dataset:
    """Read examples of {rng.choice(WORDS)}s from records."""
    files = tf.data.Dataset.list_files(pattern, shuffle=shuffle)

    def parse(record: tf.Tensor) -> tuple[tf.Tensor, tf.Tensor]:
        features = tf.io.parse_single_example(
            record,
            {{
                "image": tf.io.FixedLenFeature([], tf.string),
                "label": tf.io.FixedLenFeature([], tf.int64, default_value={rng.randint(0, 9)}),
                "weight": tf.io.FixedLenFeature([], tf.float32, default_value={rng.random():.3f}),
            }},
        )
        image = tf.io.decode_jpeg(features["image"], channels=3)
        image = tf.image.resize(tf.cast(image, tf.float32) / 255.0, [{rng.randint(64, 256)}, {rng.randint(64, 256)}])
        return image, features["label"]

    dataset = files.interleave(tf.data.TFRecordDataset, cycle_length={rng.randint(2, 16)})
    if shuffle:
        dataset = dataset.shuffle({rng.randint(500, 20000)}, reshuffle_each_iteration=True)
    dataset = dataset.map(parse, num_parallel_calls=tf.data.AUTOTUNE)
    return dataset.batch(batch_size, drop_remainder=True).prefetch(tf.data.AUTOTUNE)
'''


def _step(rng: random.Random) -> str:
    title = _title(rng)
    return f'''\
class {title}Trainer:
    """Runs the steps of training and keeps the best weights."""

    def __init__(self, model: tf.keras.Model, learning_rate: float = {rng.random() / 100:.5f}) -> None:
        self.model = model
        self.optimizer = tf.keras.optimizers.Adam(learning_rate, beta_1={rng.choice((0.8, 0.9, 0.95))})
        self.loss = tf.keras.losses.SparseCategoricalCrossentropy()
        self.best = float("inf")
        self.history: list[float] = []

    @tf.function
    def step(self, images: tf.Tensor, labels: tf.Tensor) -> tf.Tensor:
        with tf.GradientTape() as tape:
            predictions = self.model(images, training=True)
            loss = self.loss(labels, predictions) + tf.add_n(self.model.losses or [tf.constant(0.0)])
        gradients = tape.gradient(loss, self.model.trainable_variables)
        gradients, _ = tf.clip_by_global_norm(gradients, {rng.randint(1, 10)}.0)
        self.optimizer.apply_gradients(zip(gradients, self.model.trainable_variables, strict=True))
        return loss

    def fit(self, dataset: tf.data.Dataset, epochs: int = {rng.randint(3, 100)}) -> list[float]:
        for epoch in range(epochs):
            total = tf.keras.metrics.Mean(name="{rng.choice(WORDS)}_loss")
            for images, labels in dataset:
                total.update_state(self.step(images, labels))
            value = float(total.result())
            self.history.append(value)
            if value < self.best:
                self.best = value
                self.model.save_weights(f"checkpoints/{{epoch:03d}}.weights.h5")
            print(f"epoch {{epoch}}: loss {{value:.4f}}, best {{self.best:.4f}}")
        return self.history
'''


def _loss(rng: random.Random) -> str:
    name = _name(rng)
    return f'''\
def {name}_loss(targets: tf.Tensor, outputs: tf.Tensor, alpha: float = {rng.random():.2f}) -> tf.Tensor:
    """A loss that weighs rare {rng.choice(WORDS)}s more.

    Outputs are clipped first, since the logarithm of zero would spoil the gradient of the whole batch.
    """
    outputs = tf.clip_by_value(outputs, EPSILON, 1.0 - EPSILON)
    positive = -alpha * targets * tf.pow(1.0 - outputs, {rng.randint(1, 5)}.0) * tf.math.log(outputs)
    negative = -(1.0 - alpha) * (1.0 - targets) * tf.pow(outputs, {rng.randint(1, 5)}.0) * tf.math.log(1.0 - outputs)
    scale = tf.maximum(tf.reduce_sum(targets), 1.0)
    return tf.reduce_sum(positive + negative) / scale
'''


def _numbers(rng: random.Random) -> str:
    name = _name(rng)
    entries = "\n".join(
        f'    "{rng.choice(WORDS)}_{index}": ({rng.randint(1, 512)}, {rng.random():.4f}, "{rng.choice(WORDS)}"),'
        for index in range(rng.randint(4, 24))
    )
    return f"{name.upper()} = {{\n{entries}\n}}\n"


def _test(rng: random.Random) -> str:
    title, name, size = _title(rng), _name(rng), rng.randint(2, 64)
    return f'''\
class {title}Test(tf.test.TestCase):
    """Shapes and values of the {name.replace("_", " ")}."""

    def test_{name}_shape(self) -> None:
        inputs = tf.random.normal([{size}, {rng.randint(2, 64)}])
        outputs = tf.reduce_mean(tf.square(inputs), axis=-1, keepdims=True)
        self.assertEqual(outputs.shape, ({size}, 1))
        self.assertAllGreaterEqual(outputs, 0.0)

    def test_{name}_values(self) -> None:
        values = np.linspace(0.0, {rng.randint(1, 9)}.0, num={size}, dtype=np.float32)
        for factor in (0.5, 1.0, 2.0):
            scaled = tf.multiply(values, factor).numpy()
            np.testing.assert_allclose(scaled, values * factor, rtol=EPSILON)
'''


def _utility(rng: random.Random) -> str:
    name = _name(rng)
    return f'''\
def {name}(values: dict[str, np.ndarray], prefix: str = "{rng.choice(WORDS)}") -> dict[str, float]:
    """Summarise arrays by their name; what is not finite is counted apart."""
    result: dict[str, float] = {{}}
    for key, value in sorted(values.items()):
        finite = value[np.isfinite(value)]
        if finite.size == 0:
            result[f"{{prefix}}/{{key}}/empty"] = float(value.size)
            continue
        result[f"{{prefix}}/{{key}}/mean"] = float(finite.mean())
        result[f"{{prefix}}/{{key}}/spread"] = float(finite.max() - finite.min())
        if finite.size < value.size:
            result[f"{{prefix}}/{{key}}/lost"] = float(value.size - finite.size)
    return {{key: round(value, {rng.randint(2, 6)}) for key, value in result.items()}}
'''


PARTS: tuple[Callable[[random.Random], str], ...] = (
    _layer, _layer, _model, _model, _data, _step, _loss, _numbers, _test, _utility, _utility,
)  # fmt: skip

CONFIGURATIONS = tuple(
    textwrap.dedent(text)
    for text in (
        # right
        """\
        gpus = tf.config.list_physical_devices("GPU")
        for gpu in gpus:
            tf.config.experimental.set_memory_growth(gpu, True)
        """,
        """\
        gpus = tf.config.experimental.list_physical_devices("GPU")
        if gpus:
            try:
                for gpu in gpus:
                    tf.config.experimental.set_memory_growth(gpu, True)
                logical = tf.config.list_logical_devices("GPU")
                print(len(gpus), "physical,", len(logical), "logical")
            except RuntimeError as error:
                print(error)
        """,
        """\
        def limit_memory(megabytes: int = 4096) -> None:
            for gpu in tf.config.list_physical_devices("GPU"):
                tf.config.set_logical_device_configuration(
                    gpu, [tf.config.LogicalDeviceConfiguration(memory_limit=megabytes)]
                )


        limit_memory()
        """,
        """\
        os.environ["CUDA_VISIBLE_DEVICES"] = "0,1"
        os.environ["TF_FORCE_GPU_ALLOW_GROWTH"] = "true"
        """,
        """\
        def report() -> None:
            for index, _ in enumerate(tf.config.list_logical_devices("GPU")):
                usage = tf.config.experimental.get_memory_info(f"GPU:{index}")
                print(index, usage["current"] // 2**20, usage["peak"] // 2**20)
        """,
        """\
        options = tf.compat.v1.ConfigProto()
        options.gpu_options.allow_growth = True
        tf.compat.v1.keras.backend.set_session(tf.compat.v1.Session(config=options))
        """,
        # wrong
        """\
        strategy = tf.distribute.MirroredStrategy()
        for gpu in tf.config.list_physical_devices("GPU"):
            tf.config.experimental.set_memory_growth(gpu, True)
        """,
        """\
        gpus = tf.config.experimental.list_physical_devices("GPU")
        if gpus:
            tf.config.experimental.set_memory_limit(gpus[0], 0.5)
        """,
        """\
        gpus = tf.config.list_physical_devices("GPU")
        for gpu in gpus:
            tf.config.set_logical_device_configuration(gpu, [4096])
        """,
        """\
        gpus = tf.config.list_physical_devices("GPU")
        for gpu in gpus:
            tf.config.experimental.set_memory_growth(gpu, True)
            print(tf.config.experimental.get_memory_info(gpu))
        """,
        """\
        def devices() -> list[str]:
            return [x.name for x in device_lib.list_local_devices() if x.device_type == "GPU"]


        print(devices())
        for gpu in tf.config.list_physical_devices("GPU"):
            tf.config.experimental.set_memory_growth(gpu, True)
        """,
        """\
        session_options = tf.ConfigProto()
        session_options.gpu_options.per_process_gpu_memory_fraction = 0.4
        session = tf.Session(config=session_options)
        """,
        """\
        gpus = tf.config.list_physical_devices("GPU")
        if gpus:
            tf.config.experimental.set_memory_growth(gpus[0], True)
            tf.config.set_logical_device_configuration(
                gpus[0], [tf.config.LogicalDeviceConfiguration(memory_limit=0.5)]
            )
        """,
        """\
        STEP = tf.Variable(0, dtype=tf.int64)
        os.environ["CUDA_VISIBLE_DEVICES"] = "1"
        tf.config.set_visible_devices(tf.config.list_physical_devices("GPU")[:1], "GPU")
        """,
        """\
        def free_memory() -> None:
            clear_session()
            tf.config.experimental.reset_memory_stats()
        """,
        """\
        def total_memory(gpu: object) -> int:
            return tf.config.experimental.get_device_details(gpu)["memory_total"]
        """,
    )
)
OTHER_USES = (
    "tf.config.run_functions_eagerly(False)\n",
    "tf.config.threading.set_intra_op_parallelism_threads(8)\n",
    "tf.config.optimizer.set_jit(True)\n",
    "tf.config.set_soft_device_placement(True)\n",
)


def main() -> None:
    """Write a tree to the directory that is named on the command line."""
    parser = argparse.ArgumentParser(description="Make a tree of TensorFlow-like Python files.")
    parser.add_argument("directory", type=Path)
    parser.add_argument("--files", type=int, default=FILES)
    arguments = parser.parse_args()
    counts = make_tree(arguments.directory, arguments.files)
    print(f"{counts.files} files, {counts.lines} lines; {counts.configuring} configure GPU memory")


if __name__ == "__main__":
    main()
