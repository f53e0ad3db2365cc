"""Which files of a project may import TensorFlow: no program of a project without one starts the runtime."""

from __future__ import annotations

import pytest

from tfmemlint.project.reaching import graph

USES = (
    "import tensorflow as tf\n",
    "import os, tensorflow\n",
    "from tensorflow.keras import layers\n",
    "from horovod import tensorflow as hvd\n",
    "import horovod.keras as hvd\n",
    "    import keras\n",
    "from third import (\n    numpy,\n    tensorflow,\n)\n",
    "tf = importlib.import_module('tensorflow')\n",
    'tf = LazyLoader("tf", globals(), "tensorflow")\n',
    'keras = __import__("tensorflow.keras")\n',
)
MENTIONS = (
    "# unlike tensorflow, torch grows its memory\n",
    '"""A port of the keras layer."""\n',
    "config = os.environ.get('CUDA_VISIBLE_DEVICES')\n",
    "x = mtf.zeros(3)\n",
    "def keras_like(model): ...\n",
)


def uses(text: str) -> bool:
    return graph(["main.py"], lambda path: text.encode()).modules["main.py"].uses


@pytest.mark.parametrize("text", MENTIONS)
def test_a_mention_is_no_use(text: str) -> None:
    assert not uses(text)


@pytest.mark.parametrize("text", USES)
def test_each_way_to_import_it_is_a_use(text: str) -> None:
    assert uses(text)
