"""Names of TensorFlow's that a look at the text finds to exist: never where an analysis would say otherwise."""

from __future__ import annotations

import pytest

from tfmemlint.engine.plain_names import all_names_exist
from tfmemlint.knowledge.releases import Target

TARGET = Target.parse("2.15")


@pytest.mark.parametrize(
    "text",
    [
        "import numpy as np\n",
        "import tensorflow as tf\n\nx = tf.constant(1)\ny = tf.keras.layers.Dense(1)(x).numpy()\n",
        "import tensorflow as tf  # it\nfrom tensorflow import keras as k, nn\nk.layers.Dense(1)\nnn.relu(0)\n",
        "import tensorflow.keras.backend as K\n\nK.clear_session()\n",
        "import tensorflow_datasets as tfds\nfrom keras import layers\n",
    ],
)
def test_names_that_exist_are_seen_to(text: str) -> None:
    assert all_names_exist(text, TARGET)


@pytest.mark.parametrize(
    "text",
    [
        "import tensorflow as tf\n\ntf.random_normal([4])\n",
        "import tensorflow as t\n\nt.random_normal([4])\n",
        "import tensorflow as tf\n\nrandom = tf.random\nrandom.truncated_uniform()\n",
        "import tensorflow as tf\n\nf(tf).random_normal()\n",
        "import tensorflow as tf\n\ngetattr(tf.random, name)()\n",
        "import tensorflow as tf\n\ntf \\\n.random_normal([4])\n",
        "import tensorflow as tf\n\n(tf\n .random_normal([4]))\n",
        "from tensorflow import placeholder\n",
        "from tensorflow.python.framework import (\n    ops)\n",
        "from tensorflow import *\n",
        "import os, tensorflow as t\n",
        "if x: import tensorflow as t\n",
        "import tensorflow.contrib.slim as slim\n",
        "try:\n    import tensorflow.compat.v1 as tf\nexcept ImportError:\n    import tensorflow as tf\n",
        "try: import tensorflow.compat.v1 as tf\nexcept ImportError: import tensorflow as tf\n",
    ],
)
def test_what_is_in_doubt_is_left_to_the_analysis(text: str) -> None:
    assert not all_names_exist(text, TARGET)
