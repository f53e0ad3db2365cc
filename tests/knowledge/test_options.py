"""The options of the graph optimizer, against the installed TensorFlow."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest

from tfmemlint.knowledge.options import options, reads_option
from tfmemlint.knowledge.releases import Target

pytestmark = pytest.mark.slow

SET = """
import gc, json, sys
gc.disable()  # to look for garbage takes a quarter of the time of the import
import tensorflow as tf
from tensorflow.python.eager import context

def config():
    return str(context.context().config.graph_options)

before = config()
read = []
for key in json.load(sys.stdin):
    tf.config.optimizer.set_experimental_options({key: 3 if key == "min_graph_nodes" else True})
    after = config()
    if after != before:
        read.append(key)
    before = after
jit = {}
for value in (True, "autoclustering", "xla", "XLA", "on"):
    tf.config.optimizer.set_jit(value)
    jit[str(value)] = bool(tf.config.optimizer.get_jit())
ignored = tf.compat.v1.ConfigProto(log_device_placement=True)
tf.compat.v1.enable_eager_execution(config=ignored)
tf.constant(1)
print(json.dumps([tf.__version__, read, jit, context.context().config.log_device_placement]))
"""
UNKNOWN = ("memory_optimization", "memory_optimizer", "auto_parallel", "gpu_memory_limit", "layout_optimiser")


@pytest.mark.parametrize("key", UNKNOWN)
@pytest.mark.parametrize("release", ["2.0", "2.4", "2.9", "2.21"])
def test_an_unknown_option_is_read_by_no_release(key: str, release: str) -> None:
    assert reads_option(key, Target.parse(release)) is False


def test_of_a_release_that_was_not_looked_into_nothing_is_said() -> None:
    assert reads_option("use_plugin_optimizers", Target.parse("2.4")) is False
    assert reads_option("use_plugin_optimizers", Target.parse("2.6")) is None
    assert reads_option("use_plugin_optimizers", Target.parse("2.9")) is True
    assert reads_option("memory_optimization", Target.parse("1.15")) is None


@pytest.mark.tensorflow
def test_tensorflow_reads_the_options_that_the_table_has_and_no_others() -> None:
    keys = [*options(Target.newest()), *UNKNOWN]
    run = subprocess.run(
        [sys.executable, "-c", SET],
        input=json.dumps(keys),
        capture_output=True,
        text=True,
        env={**os.environ, "CUDA_VISIBLE_DEVICES": "-1", "TF_CPP_MIN_LOG_LEVEL": "3"},
    )
    assert run.returncode == 0, run.stderr[-2000:]
    version, read, jit, placement = json.loads(run.stdout.splitlines()[-1])
    target = Target.parse(version)
    assert read == [key for key in keys if reads_option(key, target)]
    if target >= Target.parse("2.9"):
        assert jit == {"True": True, "autoclustering": True, "xla": False, "XLA": False, "on": False}
    assert placement is False
