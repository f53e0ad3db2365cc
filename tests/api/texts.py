"""Programs for the tests of the library."""

from __future__ import annotations

import json

LATE = """\
import tensorflow as tf

x = tf.zeros([1])
for gpu in tf.config.list_physical_devices("GPU"):
    tf.config.experimental.set_memory_growth(gpu, True)
"""
CLEAN = """\
import tensorflow as tf

for gpu in tf.config.list_physical_devices("GPU"):
    tf.config.experimental.set_memory_growth(gpu, True)
x = tf.zeros([1])
"""
NUMBERS = """\
import tensorflow as tf

gpus = tf.config.list_physical_devices("GPU")
tf.config.set_logical_device_configuration(gpus[0], [4096])
"""
HELPER = """\
import tensorflow as tf


def setup():
    for gpu in tf.config.list_physical_devices("GPU"):
        tf.config.experimental.set_memory_growth(gpu, True)
"""
MAIN = """\
import tensorflow as tf

from helper import setup

x = tf.zeros([1])
setup()
"""
MAIN_IN_ORDER = """\
import tensorflow as tf

from helper import setup

setup()
x = tf.zeros([1])
"""


def notebook(*cells: str) -> str:
    """Return a notebook with these cells of code below a cell of text."""
    text = {"cell_type": "markdown", "metadata": {}, "source": ["# A notebook\n"]}
    code: list[dict[str, object]] = [
        {"cell_type": "code", "execution_count": None, "metadata": {}, "outputs": [], "source": cell.splitlines(True)}
        for cell in cells
    ]
    return json.dumps({"cells": [text, *code], "metadata": {}, "nbformat": 4, "nbformat_minor": 5}, indent=1)
