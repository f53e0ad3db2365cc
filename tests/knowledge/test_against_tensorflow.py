"""The tables against the installed TensorFlow."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from typing import Any

import pytest

from tfmemlint.knowledge import names
from tfmemlint.knowledge.effects import Effect, effect
from tfmemlint.knowledge.releases import Target

pytestmark = [pytest.mark.tensorflow, pytest.mark.slow]

PAIRS = """
import json, sys
import tensorflow as tf

def find(name):
    thing = tf
    for part in name.split(".")[1:]:
        thing = getattr(thing, part)
    return thing

print(json.dumps([pair for pair in json.load(sys.stdin) if find(pair[0]) is not find(pair[1])]))
"""

EFFECTS = """
import json, os, sys
import tensorflow as tf
from tensorflow.python.eager import context

results = {}
for call in json.load(sys.stdin):
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        eval(call)
        there = context.context_safe()
        os.write(writer, b"1" if there is not None and there._context_handle is not None else b"0")
        os._exit(0)
    os.close(writer)
    results[call] = os.read(reader, 1).decode()
    os.close(reader)
    os.waitpid(child, 0)
print(json.dumps(results))
"""

CALLS = (
    "tf.constant(1)",
    "tf.zeros((2, 2))",
    "tf.Variable(1.0)",
    "tf.math.add_n([[1.0]])",
    "tf.linalg.inv([[1.0]])",
    "tf.data.Dataset.range(3)",
    "tf.device('/CPU:0')",
    "tf.config.list_logical_devices()",
    "tf.config.list_physical_devices()",
    "tf.config.set_soft_device_placement(True)",
    "tf.random.set_seed(1)",
    "tf.keras.layers.Dense(2)",
    "tf.keras.layers.Dropout(0.5)",
    "tf.keras.layers.LSTM(2)",
    "tf.keras.optimizers.Adam()",
    "tf.keras.metrics.Mean()",
    "tf.keras.losses.MeanSquaredError()",
    "tf.keras.Input((4,))",
    "tf.distribute.OneDeviceStrategy('/cpu:0')",
    "tf.distribute.get_strategy()",
    "tf.train.Checkpoint()",
    "tf.function(lambda: 1)",
    "tf.io.gfile.exists('.')",
    "tf.compat.v1.ConfigProto()",
)


def run(code: str, given: object) -> Any:
    """What a fresh process with TensorFlow makes of ``given``."""
    quiet = {**os.environ, "TF_CPP_MIN_LOG_LEVEL": "3", "CUDA_VISIBLE_DEVICES": "-1"}
    done = subprocess.run(
        [sys.executable, "-c", code], input=json.dumps(given), capture_output=True, text=True, env=quiet, timeout=300
    )
    assert done.returncode == 0, done.stderr[-2000:]
    return json.loads(done.stdout.splitlines()[-1])


@pytest.fixture(scope="module")
def installed() -> Target:
    from importlib.metadata import version

    return Target.parse(version("tensorflow"))


LACKED = """
import json, sys
import tensorflow as tf

lacked = []
for place, listed in json.load(sys.stdin).items():
    thing = tf
    try:
        for part in place.split(".")[1:]:
            thing = getattr(thing, part)
        lacked += [f"{place}.{name}" for name in dir(thing) if name[0] != "_" and name not in listed]
    except (AttributeError, ImportError):
        pass
print(json.dumps(lacked))
"""


def test_no_public_name_of_the_installed_release_is_called_missing(installed: Target) -> None:
    places = [place for place in names.places() if names.is_namespace(place, installed)]
    assert len(places) > 100
    lacked = run(LACKED, {place: names.members(place, installed) for place in places})
    assert [name for name in lacked if not names.exists(name, installed)] == []


ABSENT = """
import json, sys
import tensorflow as tf

absent = []
for place, listed in json.load(sys.stdin).items():
    thing = tf
    try:
        for part in place.split(".")[1:]:
            thing = getattr(thing, part)
    except (AttributeError, ImportError):
        absent.append(place)
        continue
    for name in listed:
        try:
            getattr(thing, name)
        except (AttributeError, ImportError):
            absent.append(f"{place}.{name}")
print(json.dumps(absent))
"""


def test_every_name_that_the_table_has_for_the_installed_release_is_there(installed: Target) -> None:
    listed = {place: names.members(place, installed) for place in names.places() if names.exists(place, installed)}
    listed = {place: children for place, children in listed.items() if children}
    assert sum(map(len, listed.values())) > 8000
    # Modules that have to be imported by their own names are no attributes of what they are in.
    unimported = {name for name in run(ABSENT, listed) if not names.is_module(name)}
    assert {name for name in unimported if name.rpartition(".")[0] not in _LAZY} == set()


_LAZY = frozenset({"tf.compat.v1.layers", "tf.compat.v1.nn.rnn_cell"})
"""What raises at every attribute with Keras 3, whatever the table says of gaps."""


def test_the_names_in_the_tables_of_moved_and_stable_names_are_the_same_objects(installed: Target) -> None:
    pairs = [*names.deprecated_aliases(installed).items(), *names.moved(installed).items()]
    assert len(pairs) > 100
    assert run(PAIRS, pairs) == []


def test_calls_start_the_runtime_exactly_when_the_table_says_so(installed: Target) -> None:
    started = run(EFFECTS, CALLS)
    said = {call: effect(call.partition("(")[0], installed) for call in CALLS}
    assert {call for call, found in said.items() if found is Effect.STARTS} == {
        call for call, result in started.items() if result == "1"
    }
